package web_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/cputime"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

var (
	monthTables   = flag.Int("month.tables", 2, "how many tables the history has")
	monthDays     = flag.Int("month.days", 1, "how many days the history has")
	monthRequests = flag.Int("month.requests", 3, "how many requests each page is asked")
	monthSQLite   = flag.Bool("month.sqlite", true, "measure on SQLite")
	monthPostgres = flag.Bool("month.postgres", true, "measure on Postgres")
	monthFolder   = flag.String("month.folder", "", "a folder that keeps SQLite's database, to be measured again with what has passed since")
)

// TestMonth stores what a judge keeps of a month of tables with 200 warm keys each, as
// long as each part is kept by default, and says how long pages take and how large the
// database is. make month is the whole of it; without flags it is a day.
func TestMonth(t *testing.T) {
	if testing.Short() {
		t.Skip("make test-full measures a day, and make month a month")
	}
	if *monthSQLite {
		t.Run("SQLite", func(t *testing.T) {
			folder := *monthFolder
			if folder == "" {
				folder = t.TempDir()
			}
			path := filepath.Join(folder, "month.db")
			month(t, "sqlite:"+path, func() (size int64) {
				for _, suffix := range []string{"", "-wal"} {
					if info, err := os.Stat(path + suffix); err == nil {
						size += info.Size()
					}
				}
				return size
			})
		})
	}
	if *monthPostgres {
		t.Run("Postgres", func(t *testing.T) {
			url := pgtest.Database(t)
			month(t, url, func() int64 { return pgtest.Size(t, url) })
			for _, part := range pgtest.Largest(t, url, 8) {
				t.Logf("%-18s %9d rows, %4.0f bytes a row with its indexes", part.Name, part.Rows, float64(part.Bytes)/float64(part.Rows))
			}
		})
	}
}

// month fills a store, asks for pages, and says what that took.
func month(t *testing.T, url string, size func() int64) {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must(t, err)
	defer s.Close()
	began := time.Now()
	end, length := began.Truncate(time.Second), time.Duration(*monthDays)*24*time.Hour
	last, written, err := s.LastSeenMinute(t.Context())
	must(t, err)
	if written { // what has passed since is added
		length = end.Sub(last.Minute)
	}
	newWriter(t, s).history(end, length)
	t.Logf("%d tables of %d keys, %d days: %.2f GB, written in %s", *monthTables, monthKeys, *monthDays, float64(size())/1e9, time.Since(began).Round(time.Second))

	address := serve(t, s)
	random := rand.New(rand.NewPCG(7, 7))
	for _, page := range []string{
		"/", "/?q=table-1", "/tables", "/table?table=%s", "/findings/%f", "/api/v1/findings", "/api/v1/incidents", "/api/v1/tables",
		"/heat?table=%s&span=10m", "/heat?table=%s&span=1h", "/heat?table=%s&span=6h", "/heat?table=%s&span=48h", "/heat?table=%s&span=336h",
		"/api/v1/heat?table=%s&span=1h", "/api/v1/heat?table=%s&span=336h",
	} {
		var took []time.Duration
		var cost cputime.Rounds
		for range *monthRequests {
			table := tableName(random.IntN(*monthTables))
			newest := detect.NewFinding(detect.KeyWrites, sample.Target{Table: table}, monthKey(0))
			link := strings.NewReplacer("%s", table, "%f", newest.Fingerprint).Replace(page)
			asked := time.Now()
			cost.Take(func() {
				r, err := http.Get(address + link)
				must(t, err)
				n, err := io.Copy(io.Discard, r.Body)
				must(t, err)
				must(t, r.Body.Close())
				if r.StatusCode != http.StatusOK || n < 1000 {
					t.Fatalf("%s answers %s with %d bytes", link, r.Status, n)
				}
			})
			took = append(took, time.Since(asked))
		}
		slices.Sort(took)
		slices.Sort(cost)
		// Processor time tells nearly the same on a busy machine; that of a Postgres is not in it.
		t.Logf("%-34s median %4d ms, 95%% %4d ms, at most %4d ms; of this process's processor %4d ms, 95%% %4d ms", page, took[len(took)/2].Milliseconds(),
			took[len(took)*95/100].Milliseconds(), took[len(took)-1].Milliseconds(), cost.Median().Milliseconds(), cost[len(cost)*95/100].Milliseconds())
	}
}

const monthKeys = 200

func tableName(n int) string { return fmt.Sprintf("table-%03d", n) }

// writer writes judgements of a month.
type writer struct {
	t      *testing.T
	s      *store.Store
	lease  store.Lease
	j      store.Judgement
	rows   int
	random *rand.Rand
}

func newWriter(t *testing.T, s *store.Store) *writer {
	t.Helper()
	lease, ok, err := s.AcquireLease(t.Context(), "judge", "month", 100*time.Hour)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	return &writer{t: t, s: s, lease: lease, random: rand.New(rand.NewPCG(30, 1))}
}

// full writes what has gathered, when that is a judgement's worth of rows.
func (w *writer) full() {
	if w.rows++; w.rows >= 2000 {
		w.flush()
	}
}

func (w *writer) flush() {
	must(w.t, w.s.Judge(w.t.Context(), w.lease, w.j))
	w.lease.Writes++
	w.j, w.rows = store.Judgement{}, 0
}

// history writes all parts of the history before a time that are as long as days.
func (w *writer) history(end time.Time, days time.Duration) {
	keep := store.DefaultRetention()
	kept := rollup.Retention()
	for n := range *monthTables {
		at := sample.Target{Table: tableName(n)}
		windows, rollups := w.bodies(at)
		for second := range int(min(days, keep.Windows) / time.Second) {
			w.j.Windows = append(w.j.Windows, store.Window{
				Target: at, Second: end.Add(-time.Duration(second+1) * time.Second), Complete: true, Requests: 20_000,
				WriteMilli: 20_000_000, Vector: map[string]int64{"a": int64(second), "b": int64(second)}, Body: windows[second%len(windows)],
			})
			w.full()
		}
		for _, level := range rollup.Levels {
			for n := range int(min(days, kept[int64(level)]) / (time.Duration(level) * time.Second)) {
				begins := level.Begin(end.Unix() - int64(n+1)*int64(level))
				w.j.Rollups = append(w.j.Rollups, store.Rollup{Target: at, Level: int64(level), Begins: time.Unix(begins, 0), Body: rollups[n%len(rollups)]})
				w.full()
			}
		}
		w.findings(at, n, end)
		w.flush()
		if n%10 == 9 {
			w.t.Logf("%d tables are written", n+1)
		}
	}
	for n := range int(days / time.Minute) {
		w.j.Seen = append(w.j.Seen, store.SeenMinute{Minute: end.Truncate(time.Minute).Add(-time.Duration(n) * time.Minute), Seconds: 1<<60 - 1})
		w.full()
	}
	w.flush()
}

func monthKey(n int) sample.Key { return sample.KeyString(fmt.Sprintf("TENANT#%04d#ORDERS", 37*n)) }

// bodies are the seconds of a table, and as many roll-ups: they come again and again,
// which the database does not see, since they are compressed.
func (w *writer) bodies(at sample.Target) (windows, rollups [][]byte) {
	for phase := range 64 {
		day := 0.6 + 0.4*math.Sin(2*math.Pi*float64(phase)/64)
		second := &sketch.Window{Target: at}
		for k := range monthKeys {
			load := sample.Milli(1000 * (30 + day*900/math.Sqrt(float64(k+1))*(0.8+0.4*w.random.Float64())))
			second.Keys = append(second.Keys, sketch.KeyLoad{Hash: sketch.Hash(at, monthKey(k), 1), Key: monthKey(k), Requests: int64(load / 1000), Low: sketch.Load{Write: load}})
			second.Total.Write += load
		}
		slices.SortFunc(second.Keys, func(a, b sketch.KeyLoad) int {
			if a.Hash < b.Hash {
				return -1
			}
			return 1
		})
		body, err := second.MarshalBinary()
		must(w.t, err)
		windows = append(windows, body)
		body, err = rollup.OfSecond(second, true).MarshalBinary()
		must(w.t, err)
		rollups = append(rollups, body)
	}
	return windows, rollups
}

// findings are ten of a table, spread over the days; in every tenth table the newest
// fires.
func (w *writer) findings(at sample.Target, table int, end time.Time) {
	var found []detect.Finding
	for n := range 10 {
		f := detect.NewFinding(detect.KeyWrites, at, monthKey(n))
		f.Severity, f.State, f.Utilization = detect.Critical, detect.Resolved, 1+w.random.Float64()
		f.LastSeen = end.Add(-time.Duration(n*(*monthDays)*24/10) * time.Hour)
		if f.FirstSeen = f.LastSeen.Add(-10 * time.Minute); n == 0 && table%10 == 0 {
			f.State = detect.Firing
		}
		found = append(found, f)
		document, err := json.Marshal(f)
		must(w.t, err)
		w.j.Findings = append(w.j.Findings, store.Finding{
			Fingerprint: f.Fingerprint, Case: string(f.Case), Subject: string(f.Subject), Target: f.Target, Key: f.Key, Severity: string(f.Severity), State: string(f.State),
			Utilization: f.Utilization, FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document,
		})
	}
	w.j.Incidents = append(w.j.Incidents, stored(w.t, found)...)
	document, err := json.Marshal(detect.Table{Target: at, Seconds: 1, Requests: 1, View: &detect.View{}})
	must(w.t, err)
	w.j.Views = append(w.j.Views, store.TargetDocument{Target: at, Document: document})
}
