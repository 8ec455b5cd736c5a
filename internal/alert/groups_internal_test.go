package alert

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/notify"
	"github.com/keyheat/keyheat/internal/alert/routing"
	"github.com/keyheat/keyheat/store"
)

// groupJudge tells one receiver of groups of incidents by table, as the judge does: what
// becomes of groups and what is told are one transaction.
type groupJudge struct {
	t     *testing.T
	store *store.Store
	lease store.Lease
	to    routing.Destination
	set   *routing.GroupSet
	// in has the group of each incident that fires.
	in map[string]string
}

// restart has another judge go on from what is stored.
func (j *groupJudge) restart() {
	rows, err := j.store.Groups(j.t.Context())
	if err != nil {
		j.t.Fatal(err)
	}
	var all []*routing.Group
	for _, row := range rows {
		g, err := routing.ReadGroup(row.Document)
		if err != nil {
			j.t.Fatal(err)
		}
		all = append(all, g)
	}
	j.set = routing.NewGroupSet(all...)
}

// tell writes what is due.
func (j *groupJudge) tell(now time.Time) {
	var what store.Judgement
	for _, g := range j.set.Due(now) {
		event := g.Event()
		if event == "" {
			j.set.Skip(g)
			continue
		}
		what.Notifications = append(what.Notifications, store.Notification{
			ID: j.set.Tell(g, event, now), Fingerprint: "f", Incident: g.ID, Event: string(event), Route: g.Receiver, Payload: []byte(`{}`),
		})
	}
	for id, g := range j.set.ChangedGroups() {
		row := store.Group{ID: id, Receiver: j.to.Receiver}
		if g != nil {
			var err error
			if row.Document, err = json.Marshal(g); err != nil {
				j.t.Fatal(err)
			}
		}
		what.Groups = append(what.Groups, row)
	}
	if err := j.store.Judge(j.t.Context(), j.lease, what); err != nil {
		j.t.Fatal(err)
	}
	j.lease.Writes++
	j.set.MarkWritten()
}

// TestFaultRunOfGroups: hours in which incidents of four tables begin and end, told in
// groups to a receiver that fails in every way, by reporters that are killed all the time:
// all that is in the outbox arrives in its order, each message under one ID, but for
// groups that began and were over before an attempt to tell them, and for updates that
// waited with another message of their group.
func TestFaultRunOfGroups(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hours := 2 * time.Hour
		if testing.Short() {
			hours = 4 * time.Minute
		}
		rng := rand.New(rand.NewPCG(13, 13))
		var mu sync.Mutex
		fate := rand.New(rand.NewPCG(13, 14)) // the receiver's, whom other goroutines tell
		s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		lease, ok, err := s.AcquireLease(t.Context(), "judge", "test", 100*time.Hour)
		if err != nil || !ok {
			t.Fatalf("lease: %t, %v", ok, err)
		}
		j := &groupJudge{
			t: t, store: s, lease: lease, set: routing.NewGroupSet(), in: make(map[string]string),
			to: routing.Destination{Receiver: "chat", Group: &routing.Grouping{By: []string{"table"}, Wait: 10 * time.Second, Interval: time.Minute}},
		}
		to := &faulty{began: time.Now(), answer: func(time.Duration) (bool, notify.Response) {
			mu.Lock()
			defer mu.Unlock()
			switch n := fate.IntN(100); {
			case n < 30:
				return false, broken
			case n < 40:
				return fate.IntN(2) == 0, stalled
			case n < 45:
				return true, notify.Response{Err: errors.New("connection reset")}
			}
			return true, fine
		}}
		running := start(t, s, to, "chat", "reporter-0")
		for step := range int(hours / (5 * time.Second)) {
			now := time.Now()
			for range rng.IntN(3) {
				table := fmt.Sprint("table-", rng.IntN(4))
				i := &detect.Incident{
					ID: fmt.Sprint(table, "/", rng.IntN(3)), Root: "f", Target: detect.Target{Table: table}, OpenedAt: now, Revision: step,
					Severity: []detect.Severity{detect.Warning, detect.Critical}[rng.IntN(2)],
				}
				if id, fires := j.in[i.ID]; fires && rng.IntN(3) > 0 {
					j.set.End(id, i, now)
					delete(j.in, i.ID)
				} else {
					j.in[i.ID], _ = j.set.Join(j.to, i, &detect.Finding{}, now)
				}
			}
			j.tell(now)
			if step%7 == 0 {
				j.restart()
			}
			if step%3 == 0 {
				running.stop()
				running = start(t, s, to, "chat", fmt.Sprint("reporter-", step))
			}
			time.Sleep(5 * time.Second)
		}
		for incident, id := range j.in {
			j.set.End(id, &detect.Incident{ID: incident}, time.Now())
		}
		j.tell(time.Now())
		time.Sleep(20 * time.Minute)
		running.stop()

		rows, err := s.RecentNotifications(t.Context(), store.NotificationQuery{Limit: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		want, cancelled := make(map[string][]arrival), 0
		for _, n := range slices.Backward(rows) {
			switch n.State {
			case store.Delivered:
				want[n.Incident] = append(want[n.Incident], arrival{id: n.ID, incident: n.Incident, event: n.Event})
			case store.Cancelled, store.Summarised: // the latter went into another message
				cancelled++
			default:
				t.Errorf("%s of %s is %s: %s", n.Event, n.Incident, n.State, n.LastError)
			}
		}
		got := make(map[string][]arrival)
		for _, a := range to.seen() {
			a.at, a.after = 0, 0
			if all := got[a.incident]; len(all) == 0 || all[len(all)-1] != a {
				got[a.incident] = append(all, a)
			}
		}
		lives := 0
		for group, all := range want {
			if !slices.Equal(got[group], all) {
				t.Errorf("of %s arrived %v, delivered is %v", group, got[group], all)
			}
			before := string(detect.EventResolved)
			for _, a := range all {
				if (a.event == string(detect.EventFiring)) != (before == string(detect.EventResolved)) {
					t.Errorf("in %s %s follows %s", group, a.event, before)
				}
				before = a.event
				if a.event == string(detect.EventFiring) {
					lives++
				}
			}
			if before != string(detect.EventResolved) {
				t.Errorf("%s ends with %s", group, before)
			}
		}
		if kept, err := s.Groups(t.Context()); err != nil || len(kept) > 0 || len(want) != 4 || lives < 4 {
			t.Errorf("%d groups are stored still (%v), %d were told of %d times", len(kept), err, len(want), lives)
		}
		t.Logf("%d groups, %d lives, %d notifications, %d cancelled, %d arrivals", len(want), lives, len(rows), cancelled, len(to.seen()))
	})
}
