package fleet_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/web/fleet"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// now is in the middle of a minute.
var now = time.Now().Truncate(time.Minute).Add(-30 * time.Second).UTC()

func open(t testing.TB) *store.Store {
	t.Helper()
	return openAt(t, "sqlite:"+t.TempDir()+"/keyheat.db")
}

func openAt(t testing.TB, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func judge(t testing.TB, s *store.Store, j store.Judgement) {
	t.Helper()
	l, ok, err := s.AcquireLease(t.Context(), "judge", t.Name(), time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, j))
	must(t, s.ReleaseLease(t.Context(), l))
}

// newRollup is of keys with so many write units in their highest second.
func newRollup(t testing.TB, table string, level rollup.Level, at time.Time, loads map[string]int) store.Rollup {
	t.Helper()
	w := &sketch.Window{Target: sample.Target{Table: table}, Unseen: sketch.Load{Write: 5_000}}
	for key, wcu := range loads {
		w.Keys = append(w.Keys, sketch.KeyLoad{
			Hash: sketch.Hash(w.Target, sample.KeyString(key), 7), Key: sample.KeyString(key), Low: sketch.Load{Write: sample.Milli(wcu) * 1000},
		})
	}
	slices.SortFunc(w.Keys, func(a, b sketch.KeyLoad) int {
		if a.Hash < b.Hash {
			return -1
		}
		return 1
	})
	body, err := rollup.OfSecond(w, true).MarshalBinary()
	must(t, err)
	return store.Rollup{Target: w.Target, Level: int64(level), Begins: at, Body: body}
}

// seen are all seconds of some minutes up to now's.
func seen(minutes int) (all []store.SeenMinute) {
	for i := range minutes {
		all = append(all, store.SeenMinute{Minute: now.Truncate(time.Minute).Add(-time.Duration(i) * time.Minute), Seconds: 1<<60 - 1})
	}
	return all
}

func load(t *testing.T, st *store.Store, address string) *fleet.Page {
	t.Helper()
	values, err := url.ParseQuery(strings.TrimPrefix(strings.TrimPrefix(address, "/tables"), "?"))
	must(t, err)
	q, err := fleet.ParseQuery(values, now)
	must(t, err)
	p, err := fleet.Load(t.Context(), st, q, now)
	must(t, err)
	return p
}

func names(p *fleet.Page) (all []string) {
	for _, r := range p.Rows {
		all = append(all, r.Table)
	}
	return all
}

// TestRows has what is stored of tables, and what a row then says: what nobody counted is
// not known, and never nothing.
func TestRows(t *testing.T) {
	t.Parallel()
	s := open(t)
	tens, earlier := now.Add(-10*time.Second), now.Truncate(time.Minute).Add(-20*time.Minute)
	view := func(table string, t detect.Table) store.TargetDocument {
		t.Table = table
		document, _ := json.Marshal(t)
		return store.TargetDocument{Target: sample.Target{Table: table}, Document: document}
	}
	share := detect.Figure{Value: 0.97, Low: 0.96, High: 0.98}
	finding := store.Finding{
		Fingerprint: "f1", Case: "hot_key", Subject: "key_writes", Target: sample.Target{Table: "hot"}, Key: "user#1", State: "firing", Utilization: 1.5, FirstSeen: now, LastSeen: now, Document: []byte(`{}`),
	}
	judge(t, s, store.Judgement{
		Seen: seen(30),
		Rollups: []store.Rollup{
			newRollup(t, "hot", rollup.TenSeconds, tens.Add(-10*time.Second), map[string]int{"user#2": 400}),
			newRollup(t, "hot", rollup.TenSeconds, tens, map[string]int{"user#1": 1500, "user#2": 100}),
			newRollup(t, "was", rollup.Minute, earlier, map[string]int{"user#3": 1200}), newRollup(t, "was", rollup.TenSeconds, earlier, map[string]int{"user#3": 1200}),
			newRollup(t, "cool", rollup.TenSeconds, tens, nil),
		},
		Views: []store.TargetDocument{
			view("hot", detect.Table{CloudWatch: &detect.TableCloudWatch{Write: &share}}), view("dark", detect.Table{}),
		},
		Windows: []store.Window{
			{Target: sample.Target{Table: "hot"}, Second: now.Add(-time.Minute), Requests: 30, ThrottledRequests: 10},
			{Target: sample.Target{Table: "cool"}, Second: now.Add(-time.Minute), Requests: 30},
			{Target: sample.Target{Table: "was"}, Second: now.Add(-time.Hour), Requests: 30, ThrottledRequests: 30},
		},
		Findings: []store.Finding{finding},
		Incidents: []store.Incident{
			{ID: "a", Target: finding.Target, State: "firing", OpenedAt: now, LastSeen: now, Document: []byte(`{}`)},
			{ID: "b", Target: finding.Target, State: "pending", OpenedAt: now, LastSeen: now, Document: []byte(`{}`)},
			{ID: "pipeline", State: "firing", OpenedAt: now, LastSeen: now, Document: []byte(`{}`)},
		},
	})
	p := load(t, s, "/tables")
	of := make(map[string]fleet.Row)
	for _, r := range p.Rows {
		of[r.Table] = r
	}
	if len(of) != 4 || p.All != 4 || p.Rows[0].Table != "hot" || p.Rows[3].Table != "was" && p.Rows[3].Table != "dark" {
		t.Fatalf("the rows are %q", names(p))
	}
	hot, was, cool, dark := of["hot"], of["was"], of["cool"], of["dark"]
	if hot.Now == nil || math.Abs(hot.Now.Utilization-1.5) > 0.01 || hot.Hot.Key != "user#1" || !hot.Hot.Now || !hot.Hot.Writes || hot.Hot.Finding != "f1" {
		t.Errorf("the hot table is %+v, %+v", hot.Now, hot.Hot)
	}
	if hot.Throttled == nil || hot.Throttled.Requests != 10 || hot.Throttled.Share != 0.25 || hot.Firing != 1 || hot.Pending != 1 || hot.Coverage.Write.Value != 0.97 {
		t.Errorf("of the hot table is known %+v", hot)
	}
	if want := "Last hour: over the limit, highest in the 60 s from " + now.Format("15:04") + "; 30 min not counted"; hot.Trend.Text != want {
		t.Errorf("its trend says %q, want %q", hot.Trend.Text, want)
	}
	if unknown, bars, over := hot.Trend.Layers[0].Path, hot.Trend.Layers[1].Path, hot.Trend.Layers[2].Path; strings.Count(over, "M") != 1 || bars != "" || strings.Count(unknown, "M") != 30 {
		t.Errorf("its trend is %+v", hot.Trend)
	}
	// Its last hour is known, and that it has no load now; not what it throttled.
	if was.Now == nil || !was.Now.Quiet || was.Hot == nil || was.Hot.Now || was.Hot.Key != "user#3" || was.Hot.Finding != "" || was.Throttled != nil {
		t.Errorf("the table that was hot is %+v, %+v, %+v", was.Now, was.Hot, was.Throttled)
	}
	if cool.Now == nil || !cool.Now.Below || cool.Now.Utilization != 0.005 || cool.Hot != nil || cool.Throttled == nil || cool.Throttled.Requests != 0 {
		t.Errorf("the cool table is %+v, %+v", cool.Now, cool.Hot)
	}
	if dark.Now != nil || dark.Throttled != nil || dark.Coverage != nil || dark.View != nil {
		t.Errorf("of a table without roll-ups is known %+v", dark)
	}
	// When nothing was counted lately, nothing is known of now.
	q, err := fleet.ParseQuery(nil, now)
	must(t, err)
	later, err := fleet.Load(t.Context(), s, q, now.Add(10*time.Minute))
	must(t, err)
	for _, r := range later.Rows {
		if r.Now != nil || r.Throttled != nil {
			t.Errorf("ten minutes later %s is %+v, %+v", r.Table, r.Now, r.Throttled)
		}
	}
}

// TestPages: 100 tables take as many queries as two, and their pages have each once, in
// every order, though a table comes meanwhile.
func TestPages(t *testing.T) {
	t.Parallel()
	turns, through := pgtest.Turns(t, pgtest.Database(t))
	s := openAt(t, through)
	at := now.Add(-10 * time.Second)
	put := func(from, to int) {
		var j store.Judgement
		for n := from; n < to; n++ {
			table := fmt.Sprintf("table-%03d", n)
			j.Rollups = append(j.Rollups, newRollup(t, table, rollup.TenSeconds, at, map[string]int{"a": 100 + n/2}))
			j.Windows = append(j.Windows, store.Window{Target: sample.Target{Table: table}, Second: at, Requests: 100, ThrottledRequests: int64(n % 3)})
		}
		judge(t, s, j)
	}
	queries := func() int64 {
		load(t, s, "/tables") // the statements are known to the connection by now
		before := turns.Load()
		load(t, s, "/tables")
		return turns.Load() - before
	}
	put(0, 2)
	few := queries()
	put(2, 100)
	if many := queries(); many != few || few == 0 {
		t.Errorf("100 tables take %d round trips, 2 take %d", many, few)
	}
	for i, sort := range fleet.Sorts {
		var all []string
		for next := "/tables?sort=" + sort; next != ""; {
			p := load(t, s, next)
			if len(p.Rows) > fleet.PageSize || p.Begins != (len(all) == 0) {
				t.Errorf("%s: %d rows, begins %t", next, len(p.Rows), p.Begins)
			}
			if all = append(all, names(p)...); len(all) == 2*fleet.PageSize {
				put(100+i, 101+i)
			}
			next = p.Next
		}
		// Whether those that come meanwhile are behind the place or before it.
		all = slices.DeleteFunc(all, func(name string) bool { return name >= "table-100" })
		once := slices.Compact(slices.Sorted(slices.Values(all)))
		if len(all) != 100 || len(once) != 100 {
			t.Errorf("by %s there are %d rows of %d tables", sort, len(all), len(once))
		}
		first := map[string]string{fleet.Hottest: "table-098", fleet.Incidents: "table-000", fleet.Throttled: "table-002", fleet.Table: "table-000"}[sort]
		if all[0] != first {
			t.Errorf("by %s the first is %s, want %s", sort, all[0], first)
		}
	}
	if p := load(t, s, "/tables?q=E-04"); p.Of != 10 || len(p.Rows) != 10 || p.All < 100 {
		t.Errorf("the search finds %d of %d: %q", p.Of, p.All, names(p))
	}
	for _, address := range []string{"sort=heat", "after=x", "q=" + strings.Repeat("x", 3000)} {
		values, err := url.ParseQuery(address)
		must(t, err)
		if _, err := fleet.ParseQuery(values, now); err == nil {
			t.Errorf("%.20s is taken", address)
		}
	}
}

// BenchmarkLoad is a page of 100 tables, each with 150 keys in every minute of an hour.
func BenchmarkLoad(b *testing.B) {
	s := open(b)
	loads := make(map[string]int)
	for i := range rollup.Keys {
		loads[fmt.Sprintf("TENANT#%04d#ORDER#2026-%02d", 37*i, i%12)] = 100 + i
	}
	var j store.Judgement
	for n := range 100 {
		r := newRollup(b, fmt.Sprintf("table-%03d", n), rollup.Minute, now, loads)
		for i := range 60 {
			r.Begins = now.Truncate(time.Minute).Add(-time.Duration(i) * time.Minute)
			j.Rollups = append(j.Rollups, r)
		}
		for i := range 18 {
			r.Level, r.Begins = int64(rollup.TenSeconds), now.Add(-time.Duration(i+1)*10*time.Second)
			j.Rollups = append(j.Rollups, r)
		}
		for i := range 300 {
			j.Windows = append(j.Windows, store.Window{Target: r.Target, Second: now.Add(-time.Duration(i+1) * time.Second), Requests: 100})
		}
	}
	judge(b, s, j)
	q, err := fleet.ParseQuery(nil, now)
	must(b, err)
	for b.Loop() {
		_, err := fleet.Load(b.Context(), s, q, now)
		must(b, err)
	}
}
