package detect_test

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

const began = int64(1_763_690_400)

// second is one second of the story's key: how many units were asked, refused,
// and not seen for certain.
type second struct{ asked, refused, unsure float64 }

func wcu(asked ...float64) (s []second) {
	for _, a := range asked {
		s = append(s, second{asked: a})
	}
	return s
}

func quiet(n int) []second { return make([]second, n) }

func join(parts ...[]second) (all []second) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// story is a key's life and what is said of it. An empty kind: nothing is.
type story struct {
	name       string
	reads      bool // the seconds are reads, not writes
	index      string
	key        string        // user#42 when empty
	reason     detect.Reason // undetermined when empty
	seconds    []second
	incomplete bool // what settles is never wholly seen

	kind        detect.Kind
	severity    detect.Severity
	state       detect.State
	peak        float64
	over        int
	possible    int
	saturated   int
	shards      int
	utilization float64
}

var stories = []story{
	{name: "a cold key is not a finding", seconds: wcu(1, 2, 3)},
	{name: "799 of 1,000 is below the warning share", seconds: wcu(799, 799, 799)},
	{name: "exactly the warning share is not above it", seconds: wcu(800, 800, 800)},
	{name: "one second at 900 is a warning that waits", seconds: wcu(900),
		kind: detect.HotKeyWrite, severity: detect.Warning, state: detect.Pending, peak: 900, shards: 2, utilization: 0.9},
	{name: "two of three seconds at 900 fire", seconds: wcu(900, 10, 900),
		kind: detect.HotKeyWrite, severity: detect.Warning, state: detect.Firing, peak: 900, shards: 2, utilization: 0.9},
	{name: "two of four seconds at 900 do not", seconds: wcu(900, 10, 10, 900),
		kind: detect.HotKeyWrite, severity: detect.Warning, state: detect.Pending, peak: 900, shards: 2, utilization: 0.9},
	{name: "exactly 1,000 is not over the limit", seconds: wcu(1000, 1000),
		kind: detect.HotKeyWrite, severity: detect.Warning, state: detect.Firing, peak: 1000, saturated: 2, shards: 2, utilization: 1},
	{name: "a thousandth more is", seconds: wcu(1000.001),
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Pending, peak: 1000.001, over: 1, saturated: 1, shards: 2, utilization: 1.000001},
	{name: "5,000 writes a second want 8 shards", seconds: wcu(5000, 5000, 5000),
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Firing, peak: 5000, over: 3, shards: 8, utilization: 5},
	{name: "50,000 want 75", seconds: wcu(50_000, 50_000),
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Firing, peak: 50_000, over: 2, shards: 75, utilization: 50},
	{name: "3,300 reads a second are over the read limit", reads: true, seconds: wcu(3300, 3300),
		kind: detect.HotKeyRead, severity: detect.Critical, state: detect.Firing, peak: 3300, over: 2, shards: 2, utilization: 1.1},
	{name: "a key named after today rolls", key: "2025-11-21", seconds: wcu(1200, 1200), reason: detect.RollingKey,
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 2, shards: 2, utilization: 1.2},
	{name: "so does one with today's hour in it, where the writer is", key: "events#2025112016#eu", seconds: wcu(1200, 1200), reason: detect.RollingKey,
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 2, shards: 2, utilization: 1.2},
	{name: "a key named after another day does not", key: "2025-11-11", seconds: wcu(1200, 1200),
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 2, shards: 2, utilization: 1.2},
	{name: "nor does a longer number that holds the day", key: "order#9202511217", seconds: wcu(1200, 1200),
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 2, shards: 2, utilization: 1.2},
	{name: "a key of an index is a finding of its own kind", index: "by-status", seconds: wcu(1200, 1200),
		kind: detect.HotGSIKey, severity: detect.Critical, state: detect.Firing, peak: 1200, over: 2, shards: 2, utilization: 1.2},
	{name: "1,100 reads a second are not", reads: true, seconds: wcu(1100, 1100, 1100)},
	{name: "what was refused is demand", seconds: []second{{asked: 1400, refused: 420}, {asked: 1400, refused: 420}},
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Firing, peak: 1400, over: 2, saturated: 2, shards: 3, utilization: 1.4},
	{name: "a flat top just below the limit is saturation", seconds: wcu(990, 998, 400, 1000),
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Firing, peak: 1000, saturated: 3, shards: 2, utilization: 1},
	{name: "three flat seconds too far apart are not", seconds: wcu(990, 400, 990, 400, 400, 990),
		kind: detect.HotKeyWrite, severity: detect.Warning, state: detect.Firing, peak: 990, saturated: 3, shards: 2, utilization: 0.99},
	{name: "what is not proven is possible and no more", seconds: []second{{asked: 700, unsure: 400}, {asked: 850, unsure: 200}},
		kind: detect.HotKeyWrite, severity: detect.Warning, state: detect.Pending, peak: 850, possible: 2, shards: 2, utilization: 0.85},
	{name: "what is only possible is no finding", seconds: []second{{asked: 700, unsure: 400}, {asked: 700, unsure: 400}}},
	{name: "59 quiet seconds keep it firing", seconds: join(wcu(2000, 2000), quiet(59)),
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Firing, peak: 2000, over: 2, shards: 3, utilization: 2},
	{name: "60 quiet seconds resolve it", seconds: join(wcu(2000, 2000), quiet(60)),
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Resolved, peak: 2000, over: 2, shards: 3, utilization: 2},
	{name: "seconds not wholly seen resolve nothing", seconds: join(wcu(2000, 2000), quiet(120)), incomplete: true,
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Firing, peak: 2000, over: 2, shards: 3, utilization: 2},
	{name: "a key that cools and returns begins a new episode", seconds: join(wcu(9000, 9000), quiet(70), wcu(900)),
		kind: detect.HotKeyWrite, severity: detect.Warning, state: detect.Pending, peak: 900, shards: 2, utilization: 0.9},
	{name: "a pause shorter than that does not", seconds: join(wcu(9000), quiet(30), wcu(900)),
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Pending, peak: 9000, over: 1, shards: 14, utilization: 9},
	{name: "severity stays the episode's worst", seconds: wcu(1500, 900, 900, 900),
		kind: detect.HotKeyWrite, severity: detect.Critical, state: detect.Firing, peak: 1500, over: 1, shards: 3, utilization: 1.5},
}

func milli(units float64) sample.Milli { return sample.Milli(units*1000 + 0.5) }

// window is a story's second, beside as much load again on other keys.
func (s *story) window(i int) *sketch.Window {
	load := func(units float64) sketch.Load {
		if s.reads {
			return sketch.Load{Read: milli(units)}
		}
		return sketch.Load{Write: milli(units)}
	}
	v := s.seconds[i]
	w := &sketch.Window{Table: "orders", Index: s.index, Second: began + int64(i)}
	w.Total.Requests = 2
	w.Total.Load = load(2 * v.asked)
	if v.asked > 0 {
		w.Keys = []sketch.KeyLoad{{
			Hash: 7, Key: s.partitionKey(), Requests: 1,
			Low: load(v.asked), Err: load(v.unsure), Throttled: load(v.refused),
		}}
	}
	return w
}

func (s *story) partitionKey() sample.Key { return sample.KeyString(cmp.Or(s.key, "user#42")) }

// tell observes the seconds in the given order and settles them.
func (s *story) tell(order []int) *detect.Board {
	b := detect.NewBoard(detect.Options{})
	b.Settle(began-1, true)
	for _, i := range order {
		b.Observe(s.window(i))
	}
	b.Settle(began+int64(len(s.seconds))-1, !s.incomplete)
	return b
}

func (s *story) order() []int {
	order := make([]int, len(s.seconds))
	for i := range order {
		order[i] = i
	}
	return order
}

func TestStories(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			found := s.tell(s.order()).Findings()
			if s.kind == "" {
				if len(found) != 0 {
					t.Fatalf("found %+v, want nothing", found)
				}
				return
			}
			if len(found) != 1 {
				t.Fatalf("%d findings, want one: %+v", len(found), found)
			}
			s.check(t, found[0])
		})
	}
}

func (s *story) check(t *testing.T, f detect.Finding) {
	t.Helper()
	peak := f.Peak.WCU
	if s.reads {
		peak = f.Peak.RCU
	}
	same := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	same("kind", f.Kind, s.kind)
	same("severity", f.Severity, s.severity)
	same("state", f.State, s.state)
	same("peak", peak.Value, s.peak)
	same("over seconds", f.OverSeconds, s.over)
	same("possible seconds", f.PossibleSeconds, s.possible)
	same("saturated seconds", f.SaturatedSeconds, s.saturated)
	same("shards", f.Shards, s.shards)
	same("utilization", f.Utilization, s.utilization)
	same("share", f.Share, 0.5)
	same("reason", f.Reason, cmp.Or(s.reason, detect.Undetermined))
	if peak.Low > peak.Value || peak.High < peak.Value || len(f.Advice) < 2 {
		t.Errorf("peak %+v, advice %v", peak, f.Advice)
	}
}

// TestOrderDoesNotMatter tells every story in random orders, with seconds told
// twice: late data change nothing but what is not known yet.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range stories {
		want := s.tell(s.order()).Findings()
		for range 5 {
			order := append(random.Perm(len(s.seconds)), random.Perm(len(s.seconds))...)
			if got := s.tell(order).Findings(); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: in order %v found %+v, want %+v", s.name, order, got, want)
			}
		}
	}
}

// TestMoreLoadIsNeverBetter adds load to every second: severity never falls.
func TestMoreLoadIsNeverBetter(t *testing.T) {
	t.Parallel()
	rank := map[detect.Severity]int{"": 0, detect.Warning: 1, detect.Critical: 2}
	worst := func(s story) (r int) {
		for _, f := range s.tell(s.order()).Findings() {
			r = max(r, rank[f.Severity])
		}
		return r
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		base := story{}
		for range 1 + random.IntN(10) {
			base.seconds = append(base.seconds, second{asked: random.Float64() * 1500})
		}
		more := story{seconds: append([]second(nil), base.seconds...)}
		for i := range more.seconds {
			more.seconds[i].asked += random.Float64() * 300
		}
		// Saturation is of consumption at the limit: load that lifts a key past
		// the flat top is over the limit instead, which is no less.
		if a, b := worst(base), worst(more); b < a {
			t.Fatalf("%v is of severity %d, with more load %v of %d", base.seconds, a, more.seconds, b)
		}
	}
}

// TestRestore lets a second judge take over in the middle of every story.
func TestRestore(t *testing.T) {
	t.Parallel()
	const seed = 99
	for _, s := range stories {
		hash := sketch.Hash("orders", s.index, s.partitionKey(), seed)
		observe := func(b *detect.Board, from, to int) {
			for i := from; i < to; i++ {
				w := s.window(i)
				for k := range w.Keys {
					w.Keys[k].Hash = hash
				}
				b.Observe(w)
				b.Settle(w.Second, !s.incomplete)
			}
		}
		whole := detect.NewBoard(detect.Options{})
		whole.Settle(began-1, true)
		observe(whole, 0, len(s.seconds))
		for cut := range s.seconds {
			first, second := detect.NewBoard(detect.Options{}), detect.NewBoard(detect.Options{})
			first.Settle(began-1, true)
			observe(first, 0, cut)
			second.Settle(began+int64(cut)-1, true)
			second.Restore(first.Findings(), seed)
			observe(second, cut, len(s.seconds))
			compareRestored(t, s.name, whole.Findings(), second.Findings())
		}
	}
}

// compareRestored leaves alone what a finding cannot tell its heir: seconds
// below the warning share before the first one above it, and how much of the
// quiet before the handover was wholly seen. The heir waits longer, never less.
func compareRestored(t *testing.T, name string, want, got []detect.Finding) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s: %d findings, want %d", name, len(got), len(want))
	}
	for i := range want {
		w, g := want[i], got[i]
		if g.FirstSeen.Before(w.FirstSeen) && g.Utilization >= w.Utilization {
			continue // the heir goes on with the episode that it could not see resolved
		}
		if w.Fingerprint != g.Fingerprint || w.OverSeconds != g.OverSeconds || w.State != g.State && w.State != detect.Resolved ||
			w.Peak.WCU.Value != g.Peak.WCU.Value || w.Peak.RCU.Value != g.Peak.RCU.Value || !w.LastSeen.Equal(g.LastSeen) {
			t.Fatalf("%s: restored %+v, want %+v", name, g, w)
		}
	}
}

func TestFileIsOneEpisode(t *testing.T) {
	t.Parallel()
	s := story{seconds: join(wcu(9000), quiet(120), wcu(900))}
	b := detect.NewBoard(detect.Options{OneEpisode: true})
	for i := range s.seconds {
		b.Observe(s.window(i))
	}
	b.Settle(began+int64(len(s.seconds)), true)
	found := b.Findings()
	if len(found) != 1 || found[0].Peak.WCU.Value != 9000 || !found[0].FirstSeen.Equal(time.Unix(began, 0)) {
		t.Fatalf("found %+v", found)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	s := story{seconds: wcu(10, 20, 30)}
	b := s.tell([]int{0, 1, 2, 1})
	tables := b.Tables()
	if len(tables) != 1 || tables[0].WCU != 120 || tables[0].Requests != 6 || tables[0].Seconds != 3 {
		t.Fatalf("tables %+v", tables)
	}
}
