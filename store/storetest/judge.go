package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var judging = []obligation{
	{"a window is kept with its vector", windowKept},
	{"a window is replaced whole", windowReplaced},
	{"windows are found in the order of time", windowsByTime},
	{"the newest window of a target is known", lastWindow},
	{"many windows in one judgement", manyWindows},
	{"totals add all windows", totals},
	{"cursors never go back", cursorsAdvance},
	{"a table's view is replaced whole", viewReplaced},
	{"a checkpoint is replaced whole, one of no table too", checkpointReplaced},
	{"a lost lease writes nothing", judgeFenced},
}

func checkpointReplaced(t *testing.T, s *store.Store) {
	equal(t, "of an empty store", value[[]store.Checkpoint](t)(s.Checkpoints(t.Context())), nil)
	none, table := store.Checkpoint{Version: 1, Body: []byte{0, 255}}, store.Checkpoint{Target: byStatus, Version: 1 << 40, Body: []byte("first")}
	judge(t, s, store.Judgement{Checkpoints: []store.Checkpoint{table, none}})
	equal(t, "checkpoints", value[[]store.Checkpoint](t)(s.Checkpoints(t.Context())), []store.Checkpoint{none, table})
	table.Version, table.Body = 2, []byte("second")
	judge(t, s, store.Judgement{Checkpoints: []store.Checkpoint{table}})
	equal(t, "after another", value[[]store.Checkpoint](t)(s.Checkpoints(t.Context())), []store.Checkpoint{none, table})
}

func window(second int) store.Window {
	return store.Window{
		Target: byStatus, Second: noon.Truncate(time.Second).Add(time.Duration(second) * time.Second),
		Requests: 10, ReadMilli: 1500, WriteMilli: 2000,
		ThrottledRequests: 1, ThrottledReadMilli: 500, ThrottledWriteMilli: 1000,
		Vector: map[string]int64{"a": 7, "b": 1 << 60}, Complete: true, Body: []byte{0, 255, 1},
	}
}

func windowKept(t *testing.T, s *store.Store) {
	want := window(0)
	judge(t, s, store.Judgement{Windows: []store.Window{want}})
	equal(t, "window", value[[]store.Window](t)(s.Windows(t.Context(), store.WindowQuery{Target: want.Target})), []store.Window{want})
	equal(t, "on the table itself", value[[]store.Window](t)(s.Windows(t.Context(), store.WindowQuery{Target: sample.Target{Table: want.Table}})), nil)
}

func windowReplaced(t *testing.T, s *store.Store) {
	w := window(0)
	judge(t, s, store.Judgement{Windows: []store.Window{w}})
	w.Requests, w.Vector, w.Complete, w.Body = 11, map[string]int64{"c": 1}, false, []byte{2}
	judge(t, s, store.Judgement{Windows: []store.Window{w}})
	got := value[[]store.Window](t)(s.Windows(t.Context(), store.WindowQuery{Target: w.Target}))
	equal(t, "windows", got, []store.Window{w})
}

func windowsByTime(t *testing.T, s *store.Store) {
	other := window(1)
	other.Table = "carts"
	judge(t, s, store.Judgement{Windows: []store.Window{window(3), window(1), other, window(2)}})
	query := store.WindowQuery{Target: byStatus}
	equal(t, "all", value[[]store.Window](t)(s.Windows(t.Context(), query)),
		[]store.Window{window(1), window(2), window(3)})
	query.From, query.To = window(2).Second, window(3).Second
	equal(t, "one", value[[]store.Window](t)(s.Windows(t.Context(), query)), []store.Window{window(2)})
	query.From, query.To, query.Limit = time.Time{}, time.Time{}, 2
	equal(t, "limited", value[[]store.Window](t)(s.Windows(t.Context(), query)),
		[]store.Window{window(1), window(2)})
}

func lastWindow(t *testing.T, s *store.Store) {
	_, ok, err := s.LastWindow(t.Context(), byStatus)
	must(t, err)
	equal(t, "found in an empty store", ok, false)
	other := window(9)
	other.Table = "carts"
	judge(t, s, store.Judgement{Windows: []store.Window{window(2), window(3), window(1), other}})
	got, ok, err := s.LastWindow(t.Context(), byStatus)
	must(t, err)
	equal(t, "found", ok, true)
	equal(t, "newest", got, window(3).Second)
}

// manyWindows passes every size of statement.
func manyWindows(t *testing.T, s *store.Store) {
	const n = 64*2 + 63
	var all []store.Window
	for second := range n {
		all = append(all, window(second))
	}
	judge(t, s, store.Judgement{Windows: all})
	got := value[[]store.Window](t)(s.Windows(t.Context(),
		store.WindowQuery{Target: byStatus}))
	equal(t, "windows", got, all)
}

func totals(t *testing.T, s *store.Store) {
	big := window(1)
	big.Requests = 1 << 60
	carts := store.Window{Target: sample.Target{Table: "carts"}, Second: window(0).Second, Requests: 3, WriteMilli: 4000}
	judge(t, s, store.Judgement{Windows: []store.Window{window(0), big, carts}})
	equal(t, "totals", value[[]store.Total](t)(s.Totals(t.Context())), []store.Total{
		{Target: sample.Target{Table: "carts"}, Requests: 3, WriteMilli: 4000, Seconds: 1},
		{Target: byStatus, Requests: 1<<60 + 10, ReadMilli: 3000, WriteMilli: 4000,
			ThrottledRequests: 2, ThrottledReadMilli: 1000, ThrottledWriteMilli: 2000, Seconds: 2},
	})
	since := func(from time.Time) []store.Served { return value[[]store.Served](t)(s.ServedSince(t.Context(), from)) }
	one := window(0)
	equal(t, "served in all seconds", since(time.Time{}), []store.Served{
		{Target: sample.Target{Table: "carts"}, Requests: 3}, {Target: byStatus, Requests: 1<<60 + one.Requests, ThrottledRequests: 2 * one.ThrottledRequests},
	})
	equal(t, "served since the second", since(big.Second), []store.Served{{Target: byStatus, Requests: 1 << 60, ThrottledRequests: big.ThrottledRequests}})
	equal(t, "served since", since(big.Second.Add(time.Second)), nil)

	// A second that is written again counts once, as it is now; what is in the sums is what
	// is in the seconds.
	for n := range 20 {
		late := carts
		late.Second, late.Requests, late.ReadMilli, late.ThrottledRequests = carts.Second.Add(time.Duration(n%13)*time.Second), int64(n), 7, 1
		judge(t, s, store.Judgement{Windows: []store.Window{late}})
	}
	want := store.Total{Target: carts.Target}
	for _, w := range value[[]store.Window](t)(s.Windows(t.Context(), store.WindowQuery{Target: carts.Target})) {
		want.Requests, want.ReadMilli, want.WriteMilli = want.Requests+w.Requests, want.ReadMilli+w.ReadMilli, want.WriteMilli+w.WriteMilli
		want.ThrottledRequests, want.Seconds = want.ThrottledRequests+w.ThrottledRequests, want.Seconds+1
	}
	equal(t, "seconds", want.Seconds, 13)
	equal(t, "totals of late seconds", value[[]store.Total](t)(s.Totals(t.Context()))[0], want)
	equal(t, "served of late seconds", since(time.Time{})[0], store.Served{Target: carts.Target, Requests: want.Requests, ThrottledRequests: want.ThrottledRequests})
}

func cursorsAdvance(t *testing.T, s *store.Store) {
	equal(t, "at first", value[map[string]int64](t)(s.Cursors(t.Context())), map[string]int64{})
	judge(t, s, store.Judgement{Cursors: map[string]int64{"a": 5, "b": 2}})
	judge(t, s, store.Judgement{Cursors: map[string]int64{"a": 4, "b": 3}})
	equal(t, "cursors", value[map[string]int64](t)(s.Cursors(t.Context())), map[string]int64{"a": 5, "b": 3})
}

func viewReplaced(t *testing.T, s *store.Store) {
	put := func(table, document string) {
		judge(t, s, store.Judgement{Views: []store.TargetDocument{{Target: sample.Target{Table: table, Index: "i"}, Document: []byte(document)}}})
	}
	put("orders", `{"first":1}`)
	put("carts", `{}`)
	put("orders", `{"second":2}`)
	got := value[[]store.TargetDocument](t)(s.TableViews(t.Context()))
	for i := range got {
		near(t, "written", got[i].Updated)
		got[i].Updated = time.Time{}
	}
	equal(t, "views", got, []store.TargetDocument{
		{Target: sample.Target{Table: "carts", Index: "i"}, Document: []byte(`{}`)}, {Target: sample.Target{Table: "orders", Index: "i"}, Document: []byte(`{"second":2}`)},
	})
}

func judgeFenced(t *testing.T, s *store.Store) {
	old := lead(t, s, "first")
	must(t, s.ReleaseLease(t.Context(), old))
	lead(t, s, "second")
	err := s.Judge(t.Context(), old, store.Judgement{
		Windows:       []store.Window{window(0)},
		Findings:      []store.Finding{finding("f", 1)},
		Notifications: []store.Notification{{Fingerprint: "f", Route: "r"}},
		Cursors:       map[string]int64{"a": 1},
	})
	if !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("the first holder's judgement returns %v, want ErrLeaseLost", err)
	}
	equal(t, "windows", value[[]store.Total](t)(s.Totals(t.Context())), nil)
	equal(t, "findings", value[[]store.Finding](t)(s.Findings(t.Context(), store.FindingQuery{})), nil)
	equal(t, "cursors", value[map[string]int64](t)(s.Cursors(t.Context())), map[string]int64{})
}
