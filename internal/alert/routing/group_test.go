package routing_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/routing"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// world is a set of groups by table on one receiver, and what its receiver was told.
type world struct {
	t   *testing.T
	set *routing.GroupSet
	to  routing.Destination
	now time.Time
	in  map[string]string // incident to group
	// firing are the incidents that fire and are the group's.
	firing map[string]bool
	rev    map[string]int
	told   []string
	ids    map[string]bool
}

func begin(t *testing.T, wait, interval time.Duration) *world {
	t.Helper()
	return &world{
		t: t, set: routing.NewGroupSet(), now: noon, in: make(map[string]string), firing: make(map[string]bool), rev: make(map[string]int), ids: make(map[string]bool),
		to: routing.Destination{Receiver: "chat", Group: &routing.Grouping{By: []string{"table"}, Wait: wait, Interval: interval}},
	}
}

func (w *world) fires(name string, severity detect.Severity, utilization float64) bool {
	w.rev[name]++
	i := &detect.Incident{ID: name, Root: "root of " + name, Target: detect.Target{Table: "orders"}, Severity: severity, OpenedAt: w.now, Revision: w.rev[name]}
	id, joined := w.set.Join(w.to, i, &detect.Finding{Utilization: utilization}, w.now)
	if joined {
		w.in[name], w.firing[name] = id, true
	}
	return joined
}

func (w *world) ends(name string) {
	delete(w.firing, name)
	w.set.End(w.in[name], &detect.Incident{ID: name, Root: "root of " + name, Severity: detect.Warning}, w.now)
}

func (w *world) leaves(name string) {
	delete(w.firing, name)
	w.set.Leave(w.in[name], name, w.now)
}

// passes lets time pass, a second after the other, and has the receiver told what is due.
func (w *world) passes(d time.Duration) {
	w.t.Helper()
	for end := w.now.Add(d); ; w.now = w.now.Add(time.Second) {
		for _, g := range w.set.Due(w.now) {
			event := g.Event()
			if event == "" {
				w.set.Skip(g)
				continue
			}
			var members []string
			for _, m := range g.SortedMembers() {
				name := m.ID
				if m.Over {
					name = "!" + name
				}
				if members = append(members, name); m.Over == w.firing[m.ID] {
					w.t.Errorf("%s is told to be over: %t", m.ID, m.Over)
				}
			}
			if g.Firing() != len(w.firing) {
				w.t.Errorf("%d are told to fire of %v", g.Firing(), w.firing)
			}
			total := g.Total
			id := w.set.Tell(g, event, w.now)
			if w.ids[id] {
				w.t.Errorf("two messages are %s", id)
			}
			w.ids[id] = true
			w.told = append(w.told, fmt.Sprintf("%s %s %s: %s of %d", w.now.Sub(noon), event, g.Severity, strings.Join(members, " "), total))
		}
		w.stored()
		if !w.now.Before(end) {
			return
		}
	}
}

// stored has another judge go on from what is stored.
func (w *world) stored() {
	w.t.Helper()
	var all []*routing.Group
	for id, g := range w.set.ChangedGroups() {
		if g == nil {
			continue
		}
		document, err := json.Marshal(g)
		if err != nil {
			w.t.Fatal(err)
		}
		again, err := routing.ReadGroup(document)
		if err != nil || !reflect.DeepEqual(again, g) || again.ID != id {
			w.t.Fatalf("stored %+v, read %+v, %v", g, again, err)
		}
		all = append(all, again)
	}
	if len(w.set.ChangedGroups()) > 0 { // there is one group at most
		w.set = routing.NewGroupSet(all...)
	}
}

const (
	warning  = detect.Warning
	critical = detect.Critical
)

func TestTheLifeOfAGroup(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		wait, interval time.Duration
		story          func(w *world)
		want           []string
	}{
		"the worst comes first, and of equals the hottest": {30 * time.Second, 5 * time.Minute, func(w *world) {
			w.fires("a", warning, 0.9)
			w.fires("b", critical, 1.1)
			w.fires("c", critical, 1.5)
			w.fires("d", warning, 0.9)
			w.passes(time.Minute)
		}, []string{"30s firing critical: c b a d of 4"}},
		"group_wait is of the first": {30 * time.Second, 5 * time.Minute, func(w *world) {
			w.fires("a", warning, 1)
			w.passes(29 * time.Second)
			w.fires("b", critical, 1)
			w.passes(time.Hour)
		}, []string{"30s firing critical: b a of 2"}},
		"without a wait it is told at once": {0, 5 * time.Minute, func(w *world) {
			w.fires("a", warning, 1)
			w.passes(0)
			w.fires("b", warning, 1)
			w.passes(time.Hour)
		}, []string{"0s firing warning: a of 1", "5m0s updated warning: a b of 2"}},
		"long after a message the next one is due at once": {0, 5 * time.Minute, func(w *world) {
			w.fires("a", warning, 1)
			w.passes(time.Hour)
			w.fires("b", warning, 1)
			w.passes(time.Hour)
		}, []string{"0s firing warning: a of 1", "1h0m0s updated warning: a b of 2"}},
		"what is worse than what was told goes at once, and the next waits": {0, 5 * time.Minute, func(w *world) {
			w.fires("a", warning, 1)
			w.passes(time.Minute)
			w.fires("b", critical, 1)
			w.passes(time.Minute)
			w.fires("c", critical, 1)
			w.passes(time.Hour)
		}, []string{"0s firing warning: a of 1", "1m0s updated critical: b a of 2", "6m0s updated critical: b c a of 3"}},
		"the worst is over, and the group is as severe as it was": {0, 5 * time.Minute, func(w *world) {
			w.fires("a", warning, 1)
			w.fires("b", critical, 1)
			w.passes(time.Minute)
			w.ends("b")
			w.passes(time.Hour)
		}, []string{"0s firing critical: b a of 2", "5m0s updated critical: a !b of 2"}},
		"all are over and one fires again in one moment": {0, 5 * time.Minute, func(w *world) {
			w.fires("a", warning, 1)
			w.passes(time.Minute)
			w.ends("a")
			w.fires("b", warning, 1)
			w.passes(time.Hour)
		}, []string{"0s firing warning: a of 1", "5m0s updated warning: b !a of 2"}},
		"one that is over fires again before it was told": {0, 5 * time.Minute, func(w *world) {
			w.fires("a", warning, 1)
			w.fires("b", warning, 1)
			w.passes(time.Minute)
			w.ends("a")
			w.fires("a", warning, 1)
			w.passes(time.Hour)
		}, []string{"0s firing warning: a b of 2", "5m0s updated warning: a b of 2"}},
		"one that left leaves nothing to tell": {0, 5 * time.Minute, func(w *world) {
			w.fires("a", warning, 1)
			w.passes(time.Minute)
			w.fires("b", warning, 1)
			w.leaves("b")
			w.passes(time.Hour)
			w.ends("a")
			w.passes(time.Hour)
		}, []string{"0s firing warning: a of 1", "1h1m0s resolved warning: !a of 1"}},
		"one that was told of goes on elsewhere, as the last": {0, 5 * time.Minute, func(w *world) {
			w.fires("a", warning, 1)
			w.passes(time.Minute)
			w.leaves("a")
			w.passes(time.Hour)
		}, []string{"0s firing warning: a of 1", "1m0s resolved warning: !a of 1"}},
		"an end of what nobody knows": {0, 5 * time.Minute, func(w *world) {
			w.ends("a")
			w.leaves("b")
			w.passes(time.Hour)
		}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			w := begin(t, c.wait, c.interval)
			c.story(w)
			if !slices.Equal(w.told, c.want) {
				t.Errorf("told\n%s\nwant\n%s", strings.Join(w.told, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestAFullGroupTakesNoMore: what it does not take is told of by itself.
func TestAFullGroupTakesNoMore(t *testing.T) {
	t.Parallel()
	w := begin(t, 0, time.Minute)
	joined := 0
	for n := range 600 {
		if w.fires(fmt.Sprint("i", n), warning, 1) {
			joined++
		}
	}
	if joined != 500 || w.fires("i550", warning, 1) || !w.fires("i7", critical, 1) {
		t.Errorf("%d joined", joined)
	}
}

// TestNothingIsLostOrDoubled: whatever becomes of incidents, each message lists those that
// fire, messages have IDs of their own and come in their order, and in the end all is told
// to be over, while another judge goes on all the time.
func TestNothingIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 13))
		w := begin(t, time.Duration(r.IntN(40))*time.Second, time.Duration(1+r.IntN(400))*time.Second)
		for range 100 {
			name := fmt.Sprint("i", r.IntN(8))
			switch r.IntN(5) {
			case 0, 1:
				w.fires(name, []detect.Severity{warning, critical}[r.IntN(2)], r.Float64())
			case 2:
				w.ends(name)
			case 3:
				w.leaves(name)
			}
			w.passes(time.Duration(r.IntN(60)) * time.Second)
		}
		for name := range w.firing {
			w.ends(name)
		}
		w.passes(time.Hour)
		open := false
		for _, message := range w.told {
			_, rest, _ := strings.Cut(message, " ")
			event, _, _ := strings.Cut(rest, " ")
			if (event == string(detect.EventFiring)) == open {
				t.Fatalf("seed %d: %s does not follow: %q", seed, event, w.told)
			}
			open = event != string(detect.EventResolved)
		}
		if open || len(w.set.Due(w.now.Add(100*time.Hour))) > 0 {
			t.Fatalf("seed %d: in the end it knows of some: %q", seed, w.told)
		}
	}
}

func TestReadingWhatIsNoGroup(t *testing.T) {
	t.Parallel()
	if g, err := routing.ReadGroup([]byte(`{"members":[]}`)); err == nil {
		t.Errorf("read %+v", g)
	}
}
