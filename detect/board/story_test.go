package board_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// demand is one second of the story's key: how many units were requested, throttled,
// and not seen for certain.
type demand struct{ units, throttled, unsure float64 }

func demands(units ...float64) (s []demand) {
	for _, u := range units {
		s = append(s, demand{units: u})
	}
	return s
}

func quiet(n int) []demand { return make([]demand, n) }

func join(parts ...[]demand) (all []demand) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// story is the load of a key, or of several, and the finding that follows. An empty
// kind: none does.
type story struct {
	name       string
	reads      bool // the seconds are reads, not writes
	index      string
	key        string // user#42 when empty
	seconds    []demand
	incomplete bool   // what settles is never completely seen
	lost       [2]int // from which second to which nothing was seen
	// workloads take the place of seconds: traffic on keys, through a sketch.
	workloads []workload
	lasts     int // seconds of the workloads, 3 when 0
	// withCensus has what the keys look like judged, too.
	withCensus bool
	// facts and policy are nil where nothing is known or decided.
	facts  *detect.TableFacts
	policy *detect.Policy

	// ground is the finding's, where the reason leaves one open. says are parts of its
	// steps, others are the other findings.
	ground detect.Ground
	holds  func(*detect.Finding) bool // nil holds of all
	says   []string
	others map[any]int
	// share is the key's part of the load, 0.5 when 0, not known when negative.
	share float64

	kind        any // a watched subject, or a case
	severity    detect.Severity
	state       detect.State
	peak        float64
	over        int
	possible    int
	saturated   int
	shards      int
	utilization float64
}

// window returns a story's second, beside as much load again on other keys.
func (s *story) window(i int) *sketch.Window {
	load := func(units float64) sketch.Load {
		if s.reads {
			return sketch.Load{Read: scenario.Milli(units)}
		}
		return sketch.Load{Write: scenario.Milli(units)}
	}
	v := s.seconds[i]
	w := &sketch.Window{Target: sample.Target{Table: "orders", Index: s.index}, Second: scenario.Began + int64(i)}
	w.Total.Requests = 2
	w.Total.Load = load(2 * v.units)
	if v.units > 0 {
		w.Keys = []sketch.KeyLoad{{
			Hash: scenario.Hash("orders", s.index, s.partitionKey()), Key: s.partitionKey(), Requests: 1,
			Low: load(v.units), Err: load(v.unsure), Throttled: load(v.throttled),
		}}
	}
	return w
}

func (s *story) partitionKey() sample.Key { return sample.KeyString(cmp.Or(s.key, "user#42")) }

// windows returns all that there is to observe, second by second.
func (s *story) windows() []*sketch.Window {
	if s.workloads != nil {
		return sketched(s.workloads, cmp.Or(s.lasts, 3))
	}
	all := make([]*sketch.Window, len(s.seconds))
	for i := range all {
		all[i] = s.window(i)
	}
	return all
}

func (s *story) options() (o board.Options) {
	if s.facts != nil {
		o.Facts = func(detect.Target) *detect.TableFacts { return s.facts }
	}
	if s.policy != nil {
		o.Policy = func(detect.Target) detect.Policy { return *s.policy }
	}
	return o
}

func (s *story) board() *board.Board {
	b := board.New(s.options())
	b.Settle(scenario.Began-1, true)
	return b
}

// run observes the windows in the given order and settles them.
func (s *story) run(windows []*sketch.Window, order []int) *board.Board {
	b := s.board()
	for _, i := range order {
		if s.isLong() {
			b.Settle(windows[i].Second-1, true)
		}
		b.Observe(windows[i])
	}
	if s.lost[1] > 0 {
		b.Settle(scenario.Began+int64(s.lost[0])-1, true)
		b.Settle(scenario.Began+int64(s.lost[1]), false)
	}
	if s.withCensus {
		c := keydesign.NewCensus()
		for _, w := range windows {
			c.Observe(w)
		}
		for _, w := range windows {
			b.SetView(w.Target, c.View(w.Target, detect.DefaultPolicy()))
		}
	}
	last := scenario.Began + int64(len(s.seconds)) - 1
	for _, w := range windows {
		last = max(last, w.Second)
	}
	b.Settle(last, !s.incomplete)
	return b
}

// isLong reports whether the story lasts longer than a judge keeps its seconds open:
// it has to be observed in order.
func (s *story) isLong() bool { return s.lasts > 900 }

func inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// findings returns those of the story, observed once from beginning to end.
func (s *story) findings() []detect.Finding {
	windows := s.windows()
	return s.run(windows, inOrder(len(windows))).Findings()
}

func TestStories(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			found := s.findings()
			if s.kind == nil && s.others == nil {
				if len(found) != 0 {
					t.Fatalf("found %+v, want nothing", found)
				}
				return
			}
			s.check(t, s.main(t, found))
		})
	}
}

// main returns the finding that the story is about: the most utilised of its kind,
// and of its key where it names one. The others must be those it expects.
func (s *story) main(t *testing.T, found []detect.Finding) detect.Finding {
	t.Helper()
	others := map[string]int{}
	for about, n := range s.others {
		others[fmt.Sprint(about)] += n
	}
	var main *detect.Finding
	for i := range found {
		f := &found[i]
		if scenario.IsAbout(f, s.kind) && main == nil && (s.key == "" || s.key == string(f.Key)) {
			main = f
			continue
		}
		if others[f.About()]--; others[f.About()] < 0 {
			t.Errorf("one %s of %q too many", f.About(), f.Key)
		}
	}
	for kind, missing := range others {
		if missing > 0 {
			t.Errorf("%d of %s are missing", missing, kind)
		}
	}
	if main == nil {
		t.Fatalf("no %s among %d findings: %+v", s.kind, len(found), found)
	}
	return *main
}

// undecided stands for every ground that leaves open whether a table heals itself.
const undecided detect.Ground = "undecided"

// verdict returns a ground that decides, or undecided.
func verdict(g detect.Ground) detect.Ground {
	decides := []detect.Ground{
		detect.GroundItem, detect.GroundLocalIndex, detect.GroundSortKey, detect.GroundMoving, detect.GroundPeriod, detect.GroundPositions, detect.GroundScan,
		detect.GroundSplit, detect.GroundKeys, detect.GroundPreviousPeak, detect.GroundWarm,
		detect.GroundProvisioned, detect.GroundOwnMaximum, detect.GroundAccountQuota, detect.GroundIndexCapacity,
	}
	if slices.Contains(decides, g) {
		return g
	}
	return undecided
}

// stepText writes a step's code, arguments, load and first name: sharded_key {count:3}
// leaves 500 named k#SHARD_0.
func stepText(t *testing.T, s *detect.Step) string {
	t.Helper()
	arguments, err := json.Marshal(s.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	text := string(s.Fix) + " " + strings.ReplaceAll(string(arguments), `"`, "")
	if s.After != nil {
		text += fmt.Sprintf(" leaves %.0f", s.After.High)
	}
	if n := s.Names; n != nil {
		text += fmt.Sprint(" named ", n.Base+n.Before+"0"+n.After)
	}
	if s.Cost != nil && s.Cost.RCU > 0 {
		text += fmt.Sprintf(" adds %.0f RCU", s.Cost.RCU)
	}
	return text
}

func (s *story) check(t *testing.T, f detect.Finding) {
	t.Helper()
	text := ""
	for _, step := range f.Advice {
		text += "\n" + stepText(t, &step)
	}
	for _, part := range s.says {
		if !strings.Contains(text, part) {
			t.Errorf("nothing says %q:\n%s", part, text)
		}
	}
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
	same("subject or case", f.About(), fmt.Sprint(s.kind))
	same("severity", f.Severity, s.severity)
	same("state", f.State, s.state)
	same("peak", peak.Value, s.peak)
	same("over seconds", f.SecondsOver(), s.over)
	same("possible seconds", f.PossibleSeconds, s.possible)
	same("saturated seconds", f.SaturatedSeconds, s.saturated)
	same("shards", f.Shards, s.shards)
	same("utilization", f.Utilization, s.utilization)
	if want := max(0, cmp.Or(s.share, 0.5)); math.Abs(f.Share-want) > 0.005 && !strings.HasSuffix(f.About(), "shards") {
		t.Errorf("share is %v, want %v", f.Share, want)
	}
	if s.ground == "" {
		same("verdict", verdict(f.Ground), undecided)
	} else {
		same("ground", f.Ground, s.ground)
	}
	if s.holds != nil && !s.holds(&f) {
		t.Errorf("the figures are others: %+v, %+v, %+v, %+v", f.Evidence, f.Members, f.Sharding, f.Quality)
	}
	if peak.Low > peak.Value || peak.High < peak.Value || len(f.Advice) < 1 && f.Severity != detect.Info {
		t.Errorf("peak %+v, advice %v", peak, f.Advice)
	}
}

// TestOrderDoesNotMatter observes every story in random orders, with seconds observed
// twice: late data change nothing but what is not known yet.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range stories {
		if s.isLong() {
			continue
		}
		windows := s.windows()
		want := s.run(windows, inOrder(len(windows))).Findings()
		for range brief(5, 1) {
			order := append(random.Perm(len(windows)), random.Perm(len(windows))...)
			if got := s.run(windows, order).Findings(); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: in order %v found %+v, want %+v", s.name, order, got, want)
			}
		}
	}
}

// TestStoriesMergeInAnyOrder spreads the requests of every story over three shards and
// merges what they saw of a second in random orders: one verdict.
func TestStoriesMergeInAnyOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 8))
	for _, s := range stories {
		if s.workloads == nil || s.isLong() {
			continue
		}
		parts := partsOf(s.workloads, cmp.Or(s.lasts, 3), 3, random)
		var want []detect.Finding
		for round := range brief(3, 2) {
			windows := mergedParts(parts, random)
			got := s.run(windows, inOrder(len(windows))).Findings()
			if round == 0 {
				want = got
			} else if !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: merged in one order %+v, in another %+v", s.name, want, got)
			}
		}
	}
}

// TestMoreLoadIsNeverBetter adds load to every second: severity never falls.
func TestMoreLoadIsNeverBetter(t *testing.T) {
	t.Parallel()
	rank := map[detect.Severity]int{"": 0, detect.Info: 1, detect.Warning: 2, detect.Critical: 3}
	worst := func(s story) (r int) {
		for _, f := range s.findings() {
			r = max(r, rank[f.Severity])
		}
		return r
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		base := story{}
		for range 1 + random.IntN(10) {
			base.seconds = append(base.seconds, demand{units: random.Float64() * 1500})
		}
		heavier := story{seconds: append([]demand(nil), base.seconds...)}
		for i := range heavier.seconds {
			heavier.seconds[i].units += random.Float64() * 300
		}
		// Saturation is of consumption at the limit: load that lifts a key past
		// the flat top is over the limit instead, which is no less.
		if a, b := worst(base), worst(heavier); b < a {
			t.Fatalf("%v is of severity %d, with more load %v of %d", base.seconds, a, heavier.seconds, b)
		}
	}
}

// TestRestore lets a second judge take over in the middle of every story: it finds the same, in
// every field.
func TestRestore(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		if s.lost[1] > 0 || s.isLong() {
			continue // settled at times of its own
		}
		windows := s.windows()
		observe := func(b *board.Board, from, to int) {
			for i := from; i < to; i++ {
				b.Observe(windows[i])
				if i+1 == len(windows) || windows[i+1].Second > windows[i].Second {
					b.Settle(windows[i].Second, !s.incomplete)
				}
			}
		}
		whole := s.board()
		observe(whole, 0, len(windows))
		predecessor, observed := s.board(), 0
		for cut, w := range windows {
			if cut > 0 && windows[cut-1].Second == w.Second || testing.Short() && (w.Second-scenario.Began)%8 != 3 {
				continue // a judge takes over between seconds
			}
			observe(predecessor, observed, cut)
			observed = cut
			successor := handOver(t, predecessor, s.options(), windows[:cut])
			observe(successor, cut, len(windows))
			if got, want := successor.Findings(), whole.Findings(); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: after a restart at second %d\n%s\nwant\n%s", s.name, w.Second-scenario.Began, inJSON(t, got), inJSON(t, want))
			}
		}
	}
}

// paging returns the findings that page.
func paging(found []detect.Finding) []detect.Finding {
	return slices.DeleteFunc(found, func(f detect.Finding) bool {
		return !f.Subject.IsWatched()
	})
}

func inJSON(t *testing.T, found []detect.Finding) string {
	t.Helper()
	text, err := json.MarshalIndent(found, "", " ")
	must.Succeed(t, err)
	return string(text)
}

// TestFewKeysOutliveARestart lets a judge take over with the stored view of the table's keys:
// the finding follows from it, as before, until there is another view.
func TestFewKeysOutliveARestart(t *testing.T) {
	t.Parallel()
	s := story{workloads: statusValues(400, workload{}), withCensus: true, lasts: 60}
	b := s.run(s.windows(), inOrder(60))
	successor := handOver(t, b, s.options(), s.windows())
	few := keydesign.NewCensus()
	for _, w := range s.windows() {
		few.Observe(w)
	}
	successor.SetView(detect.Target{Table: "orders"}, few.View(detect.Target{Table: "orders"}, detect.DefaultPolicy()))
	if found := successor.Findings(); len(found) != 1 || found[0].State != detect.Pending {
		t.Fatalf("with the stored view the successor finds %+v", found)
	}
	many := keydesign.NewCensus()
	for _, w := range sketched(keysLike("user#%d", 300, workload{units: 5}), 60) {
		many.Observe(w)
	}
	successor.SetView(detect.Target{Table: "orders"}, many.View(detect.Target{Table: "orders"}, detect.DefaultPolicy()))
	if found := successor.Findings(); len(found) != 1 || found[0].State != detect.Resolved {
		t.Fatalf("when it has a view it finds %+v", found)
	}
}
