package judge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/routing"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// grouped is a configuration whose route groups, with the default times.
func grouped(t *testing.T, by ...string) judge.Config {
	t.Helper()
	g, faults := routing.NewGrouping(by, nil, nil)
	if faults != nil {
		t.Fatal(faults)
	}
	c := quick()
	c.Route = routing.Tree{{Receivers: []string{route}, Group: g}}.Destinations
	return c
}

// later has the database's clock go on.
func later(d time.Duration) step { return func(g *stage) { g.probe.ahead.Add(int64(d)) } }

// heated has keys at so many units from one second to another, among others that are
// cool: where a table has few keys, these are the cause.
func heated(from, until int, units map[string]int) step {
	return func(g *stage) {
		var all []load
		for name, wcu := range units {
			all = append(all, hot(name, wcu, from, until)...)
		}
		for cool := range 100 {
			all = append(all, hot(fmt.Sprintf("cool %x", cool*7919), 10, from, until)...)
		}
		g.w.commit(until, all...)
	}
}

// harmful are keys at 1,200 units.
func harmful(names ...string) map[string]int {
	units := make(map[string]int)
	for _, name := range names {
		units[name] = 1200
	}
	return units
}

// cooled is a time without load, long enough for all incidents to be over.
func cooled(until int) step { return func(g *stage) { g.w.commit(until, load{until - 1, "cold", 1}) } }

var bracketed = regexp.MustCompile(`\(“(.*)”\)$`)

// told is what the receiver was told, in order: the event, the severity, and the keys of a
// group's incidents, with ! for one that is over; of one incident alone its key in
// brackets.
func told(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	rows, err := s.RecentNotifications(t.Context(), store.NotificationQuery{Limit: 1000})
	must(t, err)
	ids := make(map[string]bool)
	for _, n := range slices.Backward(rows) {
		if ids[n.ID] {
			t.Errorf("two notifications are %s", n.ID)
		}
		ids[n.ID] = true
		var p detect.Payload
		must(t, json.Unmarshal(n.Payload, &p))
		var i detect.Incident
		must(t, json.Unmarshal(p.Incident, &i))
		if p.Group == nil {
			all = append(all, fmt.Sprintf("%s %s [%s]", n.Event, i.Severity, keyOf(title(t, s, i.Root))))
			continue
		}
		var members []string
		for _, m := range p.Group.Members {
			name := keyOf(title(t, s, m.Finding))
			if m.State == detect.Resolved {
				name = "!" + name
			}
			members = append(members, name)
		}
		slices.Sort(members)
		all = append(all, fmt.Sprintf("%s %s %s", n.Event, p.Group.Severity, strings.Join(members, " ")))
		if n.Incident != p.Group.ID || n.Incident == i.ID || n.Fingerprint != i.Root || p.Group.Firing+p.Group.Over < len(members) {
			t.Errorf("the notification of %s is %s of %s, its finding %s; the incident's root is %s", p.Group.ID, n.ID, n.Incident, n.Fingerprint, i.Root)
		}
	}
	return all
}

// title is the title of a stored finding; empty for none.
func title(t *testing.T, s *store.Store, fingerprint string) string {
	t.Helper()
	row, err := s.Finding(t.Context(), fingerprint)
	if errors.Is(err, store.ErrNotFound) {
		return ""
	}
	must(t, err)
	f, err := detect.ReadFinding(row.Document)
	must(t, err)
	return say.Title(&f)
}

func keyOf(title string) string {
	if m := bracketed.FindStringSubmatch(title); m != nil {
		return m[1]
	}
	return title
}

// groupStories are what becomes of incidents of one table, told as one group.
var groupStories = map[string]struct {
	by    []string
	steps []step
	want  []string
}{
	"nobody is told before group_wait is over": {
		steps: []step{heated(0, 10, harmful("a", "b")), later(29 * time.Second)},
	},
	"one page for what fires within group_wait": {
		steps: []step{heated(0, 10, harmful("a", "b")), later(20 * time.Second), heated(10, 20, harmful("a", "b", "c")), later(10 * time.Second), later(time.Hour)},
		want:  []string{"firing critical a b c"},
	},
	"what fires later is one update after group_interval": {
		steps: []step{heated(0, 10, harmful("a")), later(time.Minute), heated(10, 20, harmful("a", "b")), later(2 * time.Minute), heated(20, 30, harmful("a", "b", "c")), later(2 * time.Minute), later(time.Minute), later(time.Hour)},
		want:  []string{"firing critical a", "updated critical a b c"},
	},
	"all are over": {
		steps: []step{heated(0, 10, harmful("a", "b")), later(time.Minute), cooled(200), later(time.Hour)},
		want:  []string{"firing critical a b", "resolved critical !a !b"},
	},
	"one is over, and then the other": {
		steps: []step{heated(0, 10, harmful("a", "b")), later(time.Minute), heated(10, 90, harmful("b")), later(5 * time.Minute), cooled(400)},
		want:  []string{"firing critical a b", "updated critical !a b", "resolved critical !b"},
	},
	"one is over and the other follows before the interval is": {
		steps: []step{heated(0, 10, harmful("a", "b")), later(time.Minute), heated(10, 90, harmful("b")), cooled(400), later(time.Hour)},
		want:  []string{"firing critical a b", "resolved critical !a !b"},
	},
	"all are over before group_wait is": {
		steps: []step{heated(0, 10, harmful("a", "b")), cooled(200), later(time.Hour)},
	},
	"one began and was over between two messages": {
		steps: []step{heated(0, 10, harmful("a")), later(time.Minute), heated(10, 20, harmful("a", "b")), heated(20, 90, harmful("a")), later(5 * time.Minute)},
		want:  []string{"firing critical a", "updated critical !b a"},
	},
	"it fires again": {
		steps: []step{heated(0, 10, harmful("a")), later(time.Minute), cooled(200), heated(300, 310, harmful("b")), later(time.Minute), cooled(500)},
		want:  []string{"firing critical a", "resolved critical !a", "firing critical b", "resolved critical !b"},
	},
	"the same incident fires again": {
		steps: []step{heated(0, 10, harmful("a")), later(time.Minute), cooled(200), heated(300, 310, harmful("a")), later(time.Minute), cooled(500)},
		want:  []string{"firing critical a", "resolved critical !a", "firing critical a", "resolved critical !a"},
	},
	"a critical one joins a group of warnings": {
		steps: []step{heated(0, 10, map[string]int{"a": 900}), later(time.Minute), heated(10, 20, map[string]int{"a": 900, "b": 1200})},
		want:  []string{"firing warning a", "updated critical a b"},
	},
	"a warning gets worse": {
		steps: []step{heated(0, 10, map[string]int{"a": 900, "b": 900}), later(time.Minute), heated(10, 20, map[string]int{"a": 1200, "b": 900})},
		want:  []string{"firing warning a b", "updated critical a b"},
	},
	"a second one gets worse, which waits": {
		steps: []step{heated(0, 10, map[string]int{"a": 900, "b": 900}), later(time.Minute), heated(10, 20, map[string]int{"a": 1200, "b": 900}), heated(20, 30, harmful("a", "b")), later(5 * time.Minute)},
		want:  []string{"firing warning a b", "updated critical a b", "updated critical a b"},
	},
	"another judge in each step": {
		steps: []step{heated(0, 10, harmful("a")), restart, later(20 * time.Second), heated(10, 20, harmful("a", "b")), restart, later(20 * time.Second), restart, heated(20, 90, harmful("b")), restart, later(5 * time.Minute), restart, cooled(400), restart, later(time.Hour), restart},
		want:  []string{"firing critical a b", "updated critical !a b", "resolved critical !b"},
	},
	"silenced from the beginning": {
		steps: []step{silencing(0, "table="+table), heated(0, 10, harmful("a")), later(time.Hour), expire, heated(10, 20, harmful("a")), later(time.Minute)},
		want:  []string{"firing critical a"},
	},
	"a silence begins within group_wait": {
		steps: []step{heated(0, 10, harmful("a")), silencing(0, "table="+table), later(time.Minute), expire, heated(10, 20, harmful("a")), later(time.Minute), cooled(200)},
		want:  []string{"firing critical a", "resolved critical !a"},
	},
	"a silence of one of two begins within group_wait": {
		steps: []step{heated(0, 10, harmful("a")), silencing(0, "incident="+detect.IncidentID(detect.CauseHotKey, detect.Target{Table: table}, "S:a")), heated(10, 20, harmful("a", "b")), later(time.Minute), cooled(200)},
		want:  []string{"firing critical b", "resolved critical !b"},
	},
	"a silence begins when people know": {
		steps: []step{heated(0, 10, harmful("a")), later(time.Minute), silencing(0, "table="+table), heated(10, 20, harmful("a", "b")), later(10 * time.Minute), cooled(200)},
		want:  []string{"firing critical a", "resolved critical !a"},
	},
	"by severity one that gets worse changes its group": {
		by:    []string{"table", "severity"},
		steps: []step{heated(0, 10, map[string]int{"a": 900, "b": 900}), later(time.Minute), heated(10, 20, map[string]int{"a": 1200, "b": 900}), later(time.Minute), later(5 * time.Minute), cooled(200)},
		want:  []string{"firing warning a b", "firing critical a", "resolved warning !b", "resolved critical !a"},
	},
	"by all labels each is told of by itself": {
		by:    []string{"..."},
		steps: []step{heated(0, 10, harmful("a")), heated(10, 20, harmful("a", "b"))},
		want:  []string{"firing critical [a]", "firing critical [b]"},
	},
}

func TestWhatIsToldOfGroups(t *testing.T) {
	t.Parallel()
	for sentence, c := range groupStories {
		for name, url := range enginesFor(t) {
			t.Run(sentence+" "+name, func(t *testing.T) {
				t.Parallel()
				s := open(t, url(t))
				if c.by == nil {
					c.by = []string{"table"}
				}
				g := enter(t, s, grouped(t, c.by...), &probe{Store: s, stands: time.Now()})
				g.play(c.steps...)
				equal(t, "told", told(t, s), c.want)
				g.isWhole()
			})
		}
	}
}

// isWhole fails unless the groups that are stored have the incidents that name them, and
// none is stored that is over.
func (g *stage) isWhole() {
	g.t.Helper()
	rows, err := g.store.Groups(g.t.Context())
	must(g.t, err)
	want := make(map[string][]string)
	stored, err := g.store.Incidents(g.t.Context(), store.IncidentQuery{Limit: 1000})
	must(g.t, err)
	for _, row := range stored {
		var i detect.Incident
		must(g.t, json.Unmarshal(row.Document, &i))
		for _, in := range i.Groups {
			if i.State != detect.Resolved {
				want[in.ID] = append(want[in.ID], i.ID)
			}
		}
	}
	for _, row := range rows {
		var group struct {
			Members map[string]struct{ Over bool }
		}
		must(g.t, json.Unmarshal(row.Document, &group))
		var members []string
		for id, m := range group.Members {
			if !m.Over {
				members = append(members, id)
			}
		}
		slices.Sort(members)
		slices.Sort(want[row.ID])
		equal(g.t, "the members of a group", members, want[row.ID])
		delete(want, row.ID)
	}
	if len(want) > 0 {
		g.t.Errorf("incidents name the groups %v, which are not there", want)
	}
}

// groupedPlay is a story that has every kind of message of a group, and a second life.
var groupedPlay = []step{
	heated(0, 10, map[string]int{"a": 900, "b": 900}), later(time.Minute),
	heated(10, 20, map[string]int{"a": 1200, "b": 900, "c": 1200}), later(5 * time.Minute),
	cooled(120), heated(150, 160, map[string]int{"b": 1200}), later(time.Minute), cooled(250),
}

// sentIDs are those of all notifications, in their order.
func sentIDs(t *testing.T, s *store.Store) (ids []string) {
	t.Helper()
	rows, err := s.RecentNotifications(t.Context(), store.NotificationQuery{Limit: 1000})
	must(t, err)
	for _, n := range slices.Backward(rows) {
		ids = append(ids, n.ID)
	}
	return ids
}

// TestAKilledJudgesGroupsAreContinued kills the judge at calls to the store, before or
// after they are carried out, and lets judgements fail, also without telling whether they
// are stored: what is told of groups, and under which IDs, stays the same.
func TestAKilledJudgesGroupsAreContinued(t *testing.T) {
	t.Parallel()
	start := begin()
	outcomeOf := func(t *testing.T, p *probe) (messages, ids []string) {
		s := open(t, database(t))
		p.Store, p.stands = s, start.Add(10*time.Minute)
		c := grouped(t, "table")
		g := &stage{t: t, store: s, w: collect(t, s, "a", 0, start), config: c, probe: p, judge: run(t, c, p)}
		g.play(groupedPlay...)
		g.judge.stop()
		g.isWhole()
		return told(t, s), sentIDs(t, s)
	}
	want, ids := outcomeOf(t, &probe{})
	equal(t, "told", want, []string{
		"firing warning a b", "updated critical a b c", "resolved critical !a !b !c", "firing critical b", "resolved critical !b",
	})
	same := func(t *testing.T, p *probe) {
		t.Parallel()
		messages, gotIDs := outcomeOf(t, p)
		equal(t, "told", messages, want)
		equal(t, "IDs", gotIDs, ids)
	}
	for at := range kills {
		if at%2 == 0 {
			continue
		}
		p := &probe{killAt: 2 * at, late: at%4 == 1} // over twice as many calls as a story without groups has
		t.Run(fmt.Sprintf("call %d", p.killAt), func(t *testing.T) { same(t, p) })
	}
	ambiguous := fmt.Errorf("%w: %w", store.ErrUnavailable, store.ErrAmbiguous)
	for name, fault := range map[string]func(n int64) (error, bool){
		"unavailable":           func(n int64) (error, bool) { return every(n, 2, store.ErrUnavailable, false) },
		"ambiguous, stored":     func(n int64) (error, bool) { return every(n, 2, ambiguous, true) },
		"ambiguous, not stored": func(n int64) (error, bool) { return every(n, 2, ambiguous, false) },
	} {
		t.Run(name, func(t *testing.T) { same(t, &probe{fault: fault}) })
	}
}

// TestFortyKeysAreOnePage: forty keys of one table, each an incident, become hot within
// group_wait, and three more later: one page, one update, one resolve.
func TestFortyKeysAreOnePage(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		names := make([]string, 43)
		for n := range names {
			names[n] = fmt.Sprintf("customer %08x", uint32(n+1)*2654435761)
		}
		g := enter(t, s, grouped(t, "table"), &probe{Store: s, stands: time.Now()})
		g.play(
			heated(0, 10, harmful(names[:20]...)), later(10*time.Second), heated(10, 20, harmful(names[:40]...)), later(20*time.Second), later(time.Minute),
			heated(20, 30, harmful(names...)), later(time.Minute), later(3*time.Minute),
		)
		equal(t, "incidents", len(openIncidents(t, s)), 43)
		g.play(cooled(200), later(10*time.Minute))
		rows, err := s.RecentNotifications(t.Context(), store.NotificationQuery{Limit: 1000})
		must(t, err)
		var got []string
		for _, n := range slices.Backward(rows) {
			of := detect.ReadPayload(n.Payload).Group
			got = append(got, fmt.Sprintf("%s: %d fire, %d over of %d, %d listed", n.Event, of.Firing, of.Over, of.Total, len(of.Members)))
		}
		equal(t, "told", got, []string{"firing: 40 fire, 0 over of 40, 10 listed", "updated: 43 fire, 0 over of 43, 10 listed", "resolved: 0 fire, 43 over of 43, 10 listed"})
	})
}

// TestAPurgedIncidentLeavesItsGroup: of what was purged nobody would ever tell the end, and
// of the others it is told.
func TestAPurgedIncidentLeavesItsGroup(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	g := enter(t, s, grouped(t, "table"), &probe{Store: s})
	g.play(heated(0, 10, harmful("alpha", "beta")), later(time.Minute), cooled(40))
	keys := []sample.Key{sample.KeyString("alpha")}
	_, err := s.PurgeKey(t.Context(), store.Purge{Table: sample.Target{Table: table}, Eraser: keypolicy.NewEraser(keys, keypolicy.EraserOptions{}), Who: "ada"})
	must(t, err)
	g.play(restart, cooled(200), later(time.Hour))
	// The load of the purged key stays in the table's seconds, as the load of no listed key.
	want := "resolved critical !beta !orders: "
	if all := told(t, s); len(all) == 0 || !strings.HasPrefix(all[len(all)-1], want) {
		t.Errorf("told %q, want the last one to begin with %q", all, want)
	}
	rows, err := s.Groups(t.Context())
	must(t, err)
	equal(t, "groups", len(rows), 0)
}

// TestKeyheatsOwnIncidentsAreGrouped: those about no table have a cause in common.
func TestKeyheatsOwnIncidentsAreGrouped(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		c := watchful()
		wait := 5 * time.Minute // for which a slow machine may take, too
		by, _ := routing.NewGrouping([]string{"cause", "table"}, &wait, nil)
		c.Route = routing.Tree{{Receivers: []string{route}, Group: by}}.Destinations
		w := collect(t, s, "a", 0, begin())
		must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "host-1", Started: time.Now()}))
		p := &probe{Store: s}
		j := run(t, c, p)
		w.commit(1, load{0, "k", 1})
		w.lose(store.Gap{Gap: sample.Gap{From: "9", To: "10", Reason: "the records expired"}})
		await(t, func() bool { _, has := pipelineFinding(t, s, detect.SamplesLost); return has })
		must(t, s.StopWriter(t.Context(), "a"))
		await(t, func() bool { _, has := pipelineFinding(t, s, detect.CollectionStopped); return has })
		equal(t, "told before group_wait is over", len(told(t, s)), 0)
		p.ahead.Add(int64(wait))
		j.quiet(t)
		rows, err := s.RecentNotifications(t.Context(), store.NotificationQuery{})
		must(t, err)
		if len(rows) != 1 {
			t.Fatalf("told %q", told(t, s))
		}
		of := detect.ReadPayload(rows[0].Payload).Group
		if rows[0].Event != "firing" || of.Firing != 2 || of.Severity != detect.Critical || of.Labels["cause"] != "pipeline" || of.Labels["table"] != "" {
			t.Errorf("told %s of %+v", rows[0].Event, of)
		}
	})
}
