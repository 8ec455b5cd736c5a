package judge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// spread has a key above the limit in all seconds up to one, in writes to many sort keys.
func spread(from, until int) step {
	return func(g *stage) {
		item := 0
		g.w.tells = func(r *sample.Record) {
			item++
			r.SK = sample.KeyString(fmt.Sprint(item * 7919 % 997))
		}
		var all []load
		for range 12 {
			all = append(all, hot("k", 100, from, until)...)
		}
		g.w.commit(until, all...)
	}
}

// over is some minutes without load.
func over(g *stage) { g.w.commit(400, load{399, "cold", 1}) }

// TestAnUpdateFollowsAnOpenVerdict: a key fires before it is known whether it heals by
// itself. The first message advises no redesign; one update follows when that is known.
func TestAnUpdateFollowsAnOpenVerdict(t *testing.T) {
	t.Parallel()
	const orders = "table=" + table
	for sentence, c := range map[string]struct {
		steps []step
		want  []string
	}{
		"it is over before that is known":       {[]step{spread(0, 10), over}, []string{"firing", "resolved"}},
		"it becomes known":                      {[]step{spread(0, 10), spread(10, 60), spread(60, 140), spread(140, 180), over}, []string{"firing", "updated", "resolved"}},
		"another judge learns it":               {[]step{spread(0, 10), restart, spread(10, 180), restart, over}, []string{"firing", "updated", "resolved"}},
		"it becomes known in a backlog":         {[]step{spread(0, 180), over}, []string{"firing", "updated", "resolved"}},
		"it becomes known under a silence":      {[]step{spread(0, 10), silencing(0, orders), spread(10, 180), over}, []string{"firing", "resolved"}},
		"it was known before the silence ended": {[]step{spread(0, 10), silencing(0, orders), spread(10, 140), expire, spread(140, 180), over}, []string{"firing", "updated", "resolved"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t))
			g := enter(t, s, quick(), &probe{Store: s})
			g.play(c.steps...)
			equal(t, "notifications", events(t, s), c.want)
			rows, err := s.RecentNotifications(t.Context(), store.NotificationQuery{Limit: 1000})
			must(t, err)
			for _, n := range slices.Backward(rows) {
				checkOutlook(t, n)
			}
		})
	}
}

// checkOutlook holds a message to the verdict in it.
func checkOutlook(t *testing.T, n store.Notification) {
	t.Helper()
	var p detect.Payload
	must(t, json.Unmarshal(n.Payload, &p))
	var i detect.Incident
	must(t, json.Unmarshal(p.Incident, &i))
	f, err := detect.ReadFinding(p.Finding)
	must(t, err)
	a := casebook.New(&f)
	said := i.Told != nil && i.Told.Undecided
	if isOpen := a.Healing.Outlook == casebook.Open; said != isOpen || isOpen && a.Then != nil || isOpen && n.Event != "firing" {
		t.Errorf("a message that it is %s has the outlook %s, undecided %t, then %+v", n.Event, a.Healing.Outlook, said, a.Then)
	}
}
