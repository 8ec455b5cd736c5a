package judge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TestEachFindingIsAnIncident tells of a key that is hot twice: one incident, its
// times and revisions as they were, and a second episode that begins anew.
func TestEachFindingIsAnIncident(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := begin()
		c := collect(t, s, "a", 0, start)
		j := run(t, quick(), &probe{Store: s})
		c.commit(3, hot("hot", 1200, 0, 3)...)
		j.quiet(t)
		open := incident(t, s)
		if open.Case != casebook.HotKey || open.State != detect.Firing || open.Severity != detect.Critical || open.Table != table ||
			!open.OpenedAt.Equal(start) || open.FiredAt == nil || open.ResolvedAt != nil || open.Revision != 1 {
			t.Errorf("while it fires the incident is %+v", open)
		}
		found, err := s.Finding(t.Context(), open.Root)
		must(t, err)
		f, err := detect.ReadFinding(found.Document)
		must(t, err)
		equal(t, "the finding's incident", f.Incident, open.ID)

		// Another judge takes over, and the key cools.
		j.stop()
		j = run(t, quick(), &probe{Store: s})
		c.commit(100, hot("cold", 5, 3, 100)...)
		j.quiet(t)
		over := incident(t, s)
		if over.State != detect.Resolved || over.Revision != 2 || !over.OpenedAt.Equal(open.OpenedAt) || over.ResolvedAt == nil ||
			over.FiredAt == nil || !over.FiredAt.Equal(*open.FiredAt) {
			t.Errorf("when it is over the incident is %+v, was %+v", over, open)
		}

		c.commit(203, hot("hot", 1500, 200, 203)...)
		j.quiet(t)
		again := incident(t, s)
		if again.ID != open.ID || again.Revision != 3 || again.Told == nil || !again.OpenedAt.After(over.OpenedAt) || again.ResolvedAt != nil {
			t.Errorf("the second episode is %+v", again)
		}
		told, err := s.Notifications(t.Context(), open.Root)
		must(t, err)
		var ids []string
		for _, n := range told {
			equal(t, "the notification's incident", n.Incident, open.ID)
			ids = append(ids, n.ID)
		}
		equal(t, "notifications", ids, []string{
			detect.NotificationID(open.ID, open.OpenedAt, 1, detect.EventFiring, route),
			detect.NotificationID(open.ID, open.OpenedAt, 2, detect.EventResolved, route),
			detect.NotificationID(open.ID, again.OpenedAt, 3, detect.EventFiring, route),
		})
		history, err := s.IncidentTransitions(t.Context(), time.Time{}, store.Infinity, 0)
		must(t, err)
		var steps []string
		for _, h := range history {
			steps = append(steps, h.From+" → "+h.To)
		}
		equal(t, "history", steps, []string{" → firing", "firing → resolved", "resolved → firing"})
	})
}

// TestANewReceiverIsToldOfWhatFires: a receiver that enters the settings while an incident fires
// gets its beginning, once, and its end. Another receiver hears nothing of that.
func TestANewReceiverIsToldOfWhatFires(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		told := func() (all []string) {
			rows, err := s.Notifications(t.Context(), incident(t, s).Root)
			must(t, err)
			for _, n := range rows {
				all = append(all, n.Event+" "+n.Route)
			}
			return all
		}
		c := collect(t, s, "a", 0, begin())
		j := run(t, quick(), &probe{Store: s})
		c.commit(10, hot("hot", 1200, 0, 10)...)
		j.quiet(t)
		equal(t, "before", told(), []string{"firing " + route})

		j.stop()
		more := quick()
		more.Receivers = to(route, "new")
		j = run(t, more, &probe{Store: s})
		for until := 20; until <= 40; until += 10 {
			c.commit(until, hot("hot", 1200, until-10, until)...)
			j.quiet(t)
			equal(t, "with the new receiver", told(), []string{"firing " + route, "firing new"})
		}
		equal(t, "receivers", incident(t, s).Notified, []string{route, "new"})

		c.commit(150, hot("cold", 5, 40, 150)...)
		j.quiet(t)
		equal(t, "at the end", told(), []string{"firing " + route, "firing new", "resolved " + route, "resolved new"})
	})
}

// incident is the only stored one of the hot key.
func incident(t *testing.T, s *store.Store) detect.Incident {
	t.Helper()
	return incidentWith(t, s, detect.KeyWrites)
}

// incidentWith returns the only incident about a subject.
func incidentWith(t *testing.T, s *store.Store, subject detect.Subject) detect.Incident {
	t.Helper()
	rows, err := s.Incidents(t.Context(), store.IncidentQuery{Subject: string(subject)})
	must(t, err)
	if len(rows) != 1 {
		t.Fatalf("%d incidents, want 1", len(rows))
	}
	var i detect.Incident
	must(t, json.Unmarshal(rows[0].Document, &i))
	equal(t, "findings", rows[0].Findings, []string{i.Root})
	equal(t, "columns", []any{rows[0].ID, rows[0].State, rows[0].Revision, rows[0].Target},
		[]any{i.ID, string(i.State), int64(i.Revision), i.Target})
	return i
}

// TestAFloodIsToldInParts: 400 keys of a table get hot at once, and one of another table. A pass
// writes about 500 messages, and the first one tells of the other table.
func TestAFloodIsToldInParts(t *testing.T) {
	t.Parallel()
	const keys = 400
	receivers := []string{"a", "b", "c", "d", "e", "f", "g"}
	s := open(t, database(t))
	w := collect(t, s, "a", 0, begin())
	w.tells = func(r *sample.Record) {
		if r.PK.Text == "victim" {
			r.Table = "payments"
		}
	}
	c := quick()
	c.Receivers = to(receivers...)
	run(t, c, &probe{Store: s})
	loads := hot("victim", 1200, 0, 10)
	for k := range keys {
		loads = append(loads, hot(fmt.Sprintf("%x", k*7919), 1200, 0, 10)...)
	}
	w.commit(10, loads...)
	var told []store.Notification
	await(t, func() bool {
		var err error
		told, err = s.RecentNotifications(t.Context(), store.NotificationQuery{Limit: 10_000})
		must(t, err)
		return len(told) == (keys+1)*len(receivers)
	})
	var parts []int // of one pass each, which has one time
	for n, at := range slices.Backward(told) {
		if n == len(told)-1 || !at.Created.Equal(told[n+1].Created) {
			parts = append(parts, 0)
		}
		parts[len(parts)-1]++
		if strings.Contains(at.Flow, "payments") && len(parts) > 1 {
			t.Error("the other table has a message after the first pass")
		}
	}
	if len(parts) != 6 || slices.Max(parts) > 500+2*len(receivers) {
		t.Errorf("the passes wrote %d messages", parts)
	}
}
