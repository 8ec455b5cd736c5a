package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

var outbox = []obligation{
	{"a notification is kept until it is delivered", notificationKept},
	{"a finding's notifications are due one after another", notificationOrder},
	{"a failed notification waits, and then comes again", notificationFails},
	{"a dead receiver delays its own route only", notificationRoutes},
	{"the same notification twice is one", notificationTwice},
}

func due(t *testing.T, s *store.Store, route string) []string {
	t.Helper()
	var ids []string
	for _, n := range value[[]store.Notification](t)(s.DueNotifications(t.Context(), route, 10)) {
		ids = append(ids, n.ID)
	}
	return ids
}

func notify(t *testing.T, s *store.Store, all ...store.Notification) {
	t.Helper()
	judge(t, s, store.Judgement{Notifications: all})
}

func notificationKept(t *testing.T, s *store.Store) {
	notify(t, s, store.Notification{Fingerprint: "f", Event: "firing", Route: "r", Payload: []byte{0, 1}})
	all := value[[]store.Notification](t)(s.DueNotifications(t.Context(), "r", 10))
	if len(all) != 1 || all[0].ID == "" {
		t.Fatalf("due are %+v, want one with an id", all)
	}
	n := all[0]
	near(t, "created", n.Created)
	equal(t, "notification", n, store.Notification{ID: n.ID, Fingerprint: "f", Event: "firing", Route: "r",
		Payload: []byte{0, 1}, Created: n.Created, NextAttempt: n.Created, State: store.Pending})

	must(t, s.MarkDelivered(t.Context(), n.ID, ""))
	equal(t, "due after delivery", due(t, s, "r"), nil)
	kept := value[[]store.Notification](t)(s.Notifications(t.Context(), "f"))
	equal(t, "state", kept[0].State, store.Delivered)
	if err := s.MarkDelivered(t.Context(), n.ID, ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("delivered twice returns %v, want ErrNotFound", err)
	}
}

func notificationOrder(t *testing.T, s *store.Store) {
	notify(t, s,
		store.Notification{ID: "f1", Fingerprint: "f", Route: "r"},
		store.Notification{ID: "f2", Fingerprint: "f", Route: "r"},
		store.Notification{ID: "g1", Fingerprint: "g", Route: "r"},
	)
	notify(t, s, store.Notification{ID: "f3", Fingerprint: "f", Route: "r"})
	equal(t, "due first", due(t, s, "r"), []string{"f1", "g1"})
	must(t, s.MarkDelivered(t.Context(), "f1", ""))
	equal(t, "after a delivery", due(t, s, "r"), []string{"f2", "g1"})
	must(t, s.MarkDead(t.Context(), "f2", "no such host"))
	equal(t, "after giving up", due(t, s, "r"), []string{"g1", "f3"})
	kept := value[[]store.Notification](t)(s.Notifications(t.Context(), "f"))
	equal(t, "dead", kept[1].State+": "+kept[1].LastError, "dead: no such host")
	equal(t, "limited", len(value[[]store.Notification](t)(s.DueNotifications(t.Context(), "r", 1))), 1)
}

func notificationFails(t *testing.T, s *store.Store) {
	notify(t, s,
		store.Notification{ID: "1", Fingerprint: "f", Route: "r"},
		store.Notification{ID: "2", Fingerprint: "f", Route: "r"},
	)
	later := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	must(t, s.MarkFailed(t.Context(), "1", store.Failure{Next: later, Cause: "503\x00"}))
	equal(t, "due while the first waits", due(t, s, "r"), nil)
	first := value[[]store.Notification](t)(s.Notifications(t.Context(), "f"))[0]
	equal(t, "next attempt", first.NextAttempt, later)
	equal(t, "last error", first.LastError, "503\uFFFD")
	must(t, s.MarkFailed(t.Context(), "1", store.Failure{Next: time.Now().Add(-time.Hour), Cause: "again", Refused: true}))
	equal(t, "due again", due(t, s, "r"), []string{"1"})
	equal(t, "attempts", value[[]store.Notification](t)(s.Notifications(t.Context(), "f"))[0].Attempts, 2)
}

func notificationRoutes(t *testing.T, s *store.Store) {
	notify(t, s,
		store.Notification{ID: "pager", Fingerprint: "f", Route: "pager"},
		store.Notification{ID: "chat", Fingerprint: "f", Route: "chat"},
		store.Notification{ID: "later", Fingerprint: "g", Route: "chat", NextAttempt: time.Now().Add(time.Hour)},
	)
	equal(t, "chat", due(t, s, "chat"), []string{"chat"})
	equal(t, "pager", due(t, s, "pager"), []string{"pager"})
}

func notificationTwice(t *testing.T, s *store.Store) {
	same := store.Notification{ID: "1", Fingerprint: "f", Route: "r"}
	notify(t, s, same)
	notify(t, s, same)
	equal(t, "kept", len(value[[]store.Notification](t)(s.Notifications(t.Context(), "f"))), 1)
}
