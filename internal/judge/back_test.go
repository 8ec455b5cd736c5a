package judge_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// sound is what a judge leaves that the way to it must not change: how the seconds
// and findings came about is not compared.
type sound struct {
	Totals   []store.Total
	Windows  []string
	Notified []string
	Heat     map[rollup.Level][]string
}

func soundly(t *testing.T, s *store.Store) sound {
	t.Helper()
	o := left(t, s)
	for i, w := range o.Windows {
		second, rest, _ := strings.Cut(w, " ")
		_, rest, _ = strings.Cut(rest, "] ") // without the vector: numbers of commits differ
		o.Windows[i] = second + " " + rest
	}
	return sound{o.Totals, o.Windows, notificationIDs(t, s), heatOf(t, s)}
}

// notificationIDs returns what a receiver tells notifications apart by.
func notificationIDs(t *testing.T, s *store.Store) (ids []string) {
	t.Helper()
	findings, err := s.Findings(t.Context(), store.FindingQuery{})
	must(t, err)
	for _, f := range findings {
		notified, err := s.Notifications(t.Context(), f.Fingerprint)
		must(t, err)
		for _, n := range notified {
			ids = append(ids, n.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// The chapters of a story whose middle a database loses.
func before(c *collector) { c.commit(4, hot("cold", 5, 0, 5)...) }
func lost(c *collector)   { c.commit(12, append(hot("hot", 1200, 5, 9), hot("cold", 5, 9, 13)...)...) }
func after(c *collector) {
	c.commit(120, append(hot("hot", 1300, 13, 15), hot("cold", 5, 15, 100)...)...)
}

// uneventful tells the story on a database that stays as it is.
func uneventful(t *testing.T, start time.Time) sound {
	t.Helper()
	s := open(t, database(t))
	j := run(t, quick(), &probe{Store: s})
	c := collect(t, s, "a", 0, start)
	for _, chapter := range []func(*collector){before, lost, after} {
		chapter(c)
		j.quiet(t)
	}
	j.stop()
	return soundly(t, s)
}

// TestAPostgresThatWentBack is set back under a running judge to a copy of its data
// that is behind, as by a failover to a standby. The collector reads again what the
// database lost, before the judge looks or after. Totals, seconds and notifications
// end up as if nothing had been, and a gap tells of it.
func TestAPostgresThatWentBack(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"the judge looks first": false, "the collector writes first": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			setBack(t, late)
		})
	}
}

func setBack(t *testing.T, late bool) {
	start := begin()
	want := uneventful(t, start)
	server := pgtest.Run(t)
	s := open(t, server.URL("postgres"))
	p := &probe{Store: s}
	j := run(t, quick(), p)
	c := collect(t, s, "a", 0, start)
	before(c)
	j.quiet(t)
	must(t, server.Save(t.Context()))
	saved := time.Now()
	c.store = open(t, server.URL("postgres")) // its own connections are gone
	j.quiet(t)
	lost(c)
	j.quiet(t)
	told := notificationIDs(t, c.store)
	if len(told) == 0 {
		t.Fatal("nothing was told of what will be lost")
	}
	p.hold.Lock()
	// Whoever renews the lease while its connection ends takes it anew as soon as the
	// database is there, and waits for what is held then.
	acquired := p.acquired.Load()
	must(t, server.Restore(t.Context()))
	s = open(t, server.URL("postgres"))
	c.store = s
	if !late {
		p.hold.Unlock()
		await(t, func() bool { return p.acquired.Load() > acquired })
	}
	lost(c)
	if late {
		p.hold.Unlock()
	}
	j.quiet(t)
	if ids := notificationIDs(t, s); !slices.Equal(ids, told) {
		t.Errorf("it is told as %v, and was as %v: that is a second page", ids, told)
	}
	after(c)
	j.quiet(t)
	j.stop()
	got := soundly(t, s)
	equal(t, "totals", got.Totals, want.Totals)
	equal(t, "windows", got.Windows, want.Windows)
	equal(t, "heat", got.Heat, want.Heat)
	equal(t, "notifications", len(got.Notified), len(want.Notified))
	gaps, err := s.Gaps(t.Context(), store.GapQuery{Source: "store"})
	must(t, err)
	if len(gaps) != 1 || !strings.Contains(gaps[0].Reason, "set back") || gaps[0].Since.IsZero() || gaps[0].Since.After(saved) || gaps[0].Until.Before(saved) {
		t.Errorf("the gaps are %+v, want one over what the database lost since %s", gaps, saved)
	}
}

// TestASQLiteFileThatWentBack is copied back while nothing runs.
func TestASQLiteFileThatWentBack(t *testing.T) {
	t.Parallel()
	start := begin()
	want := uneventful(t, start)
	path := filepath.Join(t.TempDir(), "keyheat.db")
	tell := func(chapters ...func(*collector)) *store.Store {
		s := open(t, "sqlite:"+path)
		c := collect(t, s, "a", 0, start)
		j := run(t, quick(), &probe{Store: s})
		all, err := s.Writers(t.Context())
		must(t, err)
		for _, w := range all {
			c.seq = w.LastSeq
		}
		for _, chapter := range chapters {
			chapter(c)
			j.quiet(t)
		}
		j.stop()
		return s
	}
	// What a judge's end cancels is rolled back behind it: the last connection closes, and
	// takes the write-ahead log with it, perhaps after Close.
	end := func(s *store.Store) {
		must(t, s.Close())
		await(t, func() bool {
			_, err := os.Stat(path + "-wal")
			return errors.Is(err, fs.ErrNotExist)
		})
	}
	end(tell(before))
	saved, err := os.ReadFile(path)
	must(t, err)
	s := tell(lost)
	told := notificationIDs(t, s)
	end(s)
	must(t, os.WriteFile(path, saved, 0o600))
	s = tell(lost)
	equal(t, "told again", notificationIDs(t, s), told)
	must(t, s.Close())
	got := soundly(t, tell(after))
	equal(t, "totals", got.Totals, want.Totals)
	equal(t, "windows", got.Windows, want.Windows)
	equal(t, "heat", got.Heat, want.Heat)
	equal(t, "notifications", len(got.Notified), len(want.Notified))
}

// TestAnErrorBehindTheReadingIsNoSetback: deltas that were read, and not folded because the
// store failed then, are read again, and nobody is told of a database that went back.
func TestAnErrorBehindTheReadingIsNoSetback(t *testing.T) {
	t.Parallel()
	start := begin()
	want := uneventful(t, start)
	s := open(t, database(t))
	p := &probe{Store: s}
	j := run(t, quick(), p)
	c := collect(t, s, "a", 0, start)
	j.quiet(t) // it began, which looks for stored seconds too
	for _, chapter := range []func(*collector){before, lost, after} {
		p.windowsAway.Store(1)
		chapter(c)
		j.quiet(t)
		equal(t, "a look failed", p.windowsAway.Load() < 0, true)
	}
	j.stop()
	equal(t, "what is left", soundly(t, s), want)
	gaps, err := s.Gaps(t.Context(), store.GapQuery{Source: "store"})
	must(t, err)
	equal(t, "gaps", gaps, nil)
}

// TestADeltaThatIsNotTheNextOneShowsASetback: the database loses a delta that was read and had
// no effect yet, and the collector writes another one before the judge looks again. Only the
// number of the delta before it shows that.
func TestADeltaThatIsNotTheNextOneShowsASetback(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyheat.db")
	s := open(t, "sqlite:"+path)
	p := &probe{Store: s}
	j := run(t, quick(), p)
	c := collect(t, s, "a", 0, begin())
	c.commit(0, load{1, "k", 100})
	j.quiet(t)
	p.hold.Lock()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	must(t, err)
	defer db.Close()
	for _, statement := range []string{`DELETE FROM deltas`, `UPDATE writers SET last_seq = 0, last_delta = 0`} {
		_, err = db.ExecContext(t.Context(), statement)
		must(t, err)
	}
	c.commit(20, load{1, "k", 100})
	p.hold.Unlock()
	await(t, func() bool {
		gaps, err := s.Gaps(t.Context(), store.GapQuery{Source: "store"})
		must(t, err)
		return len(gaps) == 1
	})
	j.quiet(t)
	j.stop()
	equal(t, "written", written(t, s), map[sample.Target]int64{{Table: table}: 100})
}
