package storetest

import (
	"errors"
	"slices"
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
	{"a receiver that fails has nothing due until its next attempt", receiverFails},
	{"what is known of a receiver is kept", receiverKept},
	{"what a receiver need not hear any more is not sent", notificationsCollapse},
	{"the notifications of one flow keep no other flow back", notificationsTakeTurns},
	{"a message with the present state needs no update behind it", notificationsRefreshed},
	{"what a failing receiver keeps waiting is found once, and given up", notificationsWait},
	{"another notification with the same ID is refused", notificationConflicts},
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

func receiverFails(t *testing.T, s *store.Store) {
	notify(t, s, store.Notification{ID: "1", Fingerprint: "f", Route: "r"}, store.Notification{ID: "2", Fingerprint: "g", Route: "r"},
		store.Notification{ID: "other", Fingerprint: "f", Route: "other"})
	must(t, s.MarkFailed(t.Context(), "1", store.Failure{Cause: "500"}))
	must(t, s.ReceiverFailed(t.Context(), "r", "500", time.Hour))
	equal(t, "due while it fails", due(t, s, "r"), nil)
	equal(t, "due on another route", due(t, s, "other"), []string{"other"})
	must(t, s.RetryNotification(t.Context(), "2"))
	equal(t, "due as somebody retries one", due(t, s, "r"), []string{"2", "1"})
	must(t, s.ReceiverFailed(t.Context(), "r", "500", time.Hour))
	must(t, s.ReceiverSucceeded(t.Context(), "r"))
	equal(t, "due after a success", due(t, s, "r"), []string{"2", "1"})
}

func receiverKept(t *testing.T, s *store.Store) {
	unknown := value[store.Receiver](t)(s.Receiver(t.Context(), "r"))
	equal(t, "an unknown one", unknown, store.Receiver{Route: "r"})
	notify(t, s, store.Notification{ID: "1", Fingerprint: "f", Route: "waits"})
	must(t, s.ReceiverSucceeded(t.Context(), "r"))
	took := value[store.Receiver](t)(s.Receiver(t.Context(), "r"))
	near(t, "success", took.Succeeded)
	equal(t, "one that never failed", []bool{took.Failing(), took.FailedSince.IsZero(), took.Recovered.IsZero()}, []bool{false, true, true})
	must(t, s.ReceiverFailed(t.Context(), "r", "503\x00", time.Hour))
	first := value[store.Receiver](t)(s.Receiver(t.Context(), "r"))
	must(t, s.ReceiverFailed(t.Context(), "r", "504", time.Hour))
	again := value[store.Receiver](t)(s.Receiver(t.Context(), "r"))
	near(t, "failing since", first.FailedSince)
	equal(t, "first error", first.LastError, "503\uFFFD")
	equal(t, "it fails on", again, store.Receiver{Route: "r", Failures: 2, LastError: "504", FailedSince: first.FailedSince,
		NextAttempt: again.Attempted.Add(time.Hour), Attempted: again.Attempted, Succeeded: took.Succeeded})
	must(t, s.ReceiverSucceeded(t.Context(), "r"))
	healed := value[store.Receiver](t)(s.Receiver(t.Context(), "r"))
	near(t, "recovered", healed.Recovered)
	equal(t, "recovered", []any{healed.Failing(), healed.FailedSince, healed.LastError}, []any{false, first.FailedSince, "504"})
	all := value[[]store.Receiver](t)(s.Receivers(t.Context()))
	if len(all) != 2 || all[0] != healed || all[1].Route != "waits" || all[1].Pending != 1 || !all[1].Attempted.IsZero() {
		t.Errorf("receivers are %+v", all)
	}
	near(t, "waits since", all[1].Oldest)
}

// told are the payloads and states of a route's notifications, the oldest first.
func told(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	for _, n := range value[[]store.Notification](t)(s.Notifications(t.Context(), "f")) {
		all = append(all, n.ID+" "+n.State+" "+string(n.Payload))
	}
	return all
}

func notificationsCollapse(t *testing.T, s *store.Store) {
	put := func(all ...string) {
		for _, n := range all {
			notify(t, s, store.Notification{ID: n[:1], Fingerprint: "f", Incident: "i", Event: n[2:], Route: "r", Payload: []byte(n)})
		}
		must(t, s.SettleNotifications(t.Context(), "r", []string{"i", "none"}))
	}
	put("1 firing", "2 updated", "3 updated")
	equal(t, "one that has not arrived", told(t, s), []string{"1 pending 3 updated", "2 summarised 2 updated", "3 summarised 3 updated"})
	must(t, s.MarkSending(t.Context(), "1", []byte("sent")))
	put("4 updated", "5 updated")
	equal(t, "one that may have arrived", told(t, s)[0], "1 pending sent")
	equal(t, "and updates after it", told(t, s)[3:], []string{"4 pending 5 updated", "5 summarised 5 updated"})
	put("6 resolved")
	equal(t, "an update before the end", told(t, s)[3:], []string{"4 summarised 5 updated", "5 summarised 5 updated", "6 pending 6 resolved"})
	put("7 firing")
	equal(t, "an end before it fires again", told(t, s)[5:], []string{"6 cancelled 6 resolved", "7 pending 7 firing"})
	put("8 resolved", "9 firing", "A resolved")
	equal(t, "it fires between, and is over", told(t, s)[6:], []string{"7 summarised 7 firing", "8 summarised 8 resolved", "9 summarised 9 firing", "A pending A resolved"})
	must(t, s.MarkDelivered(t.Context(), "1", ""))
	must(t, s.MarkDelivered(t.Context(), "A", ""))
	put("B firing", "C resolved")
	equal(t, "a beginning that is over", told(t, s)[10:], []string{"B cancelled B firing", "C cancelled C resolved"})
}

// notificationsTakeTurns: the first of each flow comes before the second of any, and urgent
// ones come first, whenever they were written.
func notificationsTakeTurns(t *testing.T, s *store.Store) {
	put := func(flow string, urgent bool, ids ...string) {
		for _, id := range ids {
			notify(t, s, store.Notification{ID: id, Fingerprint: id, Incident: id, Event: "firing", Route: "r", Flow: flow, Urgent: urgent})
		}
	}
	put("a", false, "a1", "a2", "a3", "a4")
	put("b", false, "b1", "b2")
	put("c", true, "c1")
	equal(t, "turns", due(t, s, "r"), []string{"c1", "a1", "b1", "a2", "b2", "a3", "a4"})
	for _, id := range []string{"c1", "a1", "b1"} {
		must(t, s.MarkDelivered(t.Context(), id, ""))
	}
	put("d", false, "d1")
	put("b", false, "b3")
	equal(t, "a new flow has the present turn", due(t, s, "r"), []string{"a2", "b2", "d1", "a3", "b3", "a4"})
}

func notificationsWait(t *testing.T, s *store.Store) {
	notify(t, s, store.Notification{ID: "1", Fingerprint: "f", Incident: "i", Event: "firing", Route: "r"}, store.Notification{ID: "2", Fingerprint: "g", Incident: "j", Route: "r"})
	equal(t, "too young", value[int64](t)(s.MarkAllDead(t.Context(), "r", time.Now().Add(-time.Hour), "away")), 0)
	equal(t, "given up", value[int64](t)(s.MarkAllDead(t.Context(), "r", time.Now().Add(time.Hour), "away")), 2)
	equal(t, "due then", due(t, s, "r"), nil)
}

func notificationConflicts(t *testing.T, s *store.Store) {
	first := store.Notification{ID: "1", Fingerprint: "f", Route: "r", Payload: []byte("a")}
	notify(t, s, first)
	second := first
	second.Payload = []byte("b")
	err := s.PutNotification(t.Context(), second)
	var conflict *store.ConflictError
	if !errors.As(err, &conflict) || !slices.Equal(conflict.IDs, []string{"1"}) {
		t.Errorf("it returns %v, want a ConflictError of 1", err)
	}
	kept := value[[]store.Notification](t)(s.Notifications(t.Context(), "f"))
	equal(t, "kept", string(kept[0].Payload), "a")
	must(t, s.MarkSending(t.Context(), "1", []byte("newer")))
	must(t, s.PutNotification(t.Context(), first))
}

// notificationsRefreshed: a message with the present state needs no update that waits behind it.
func notificationsRefreshed(t *testing.T, s *store.Store) {
	for _, n := range []string{"1 firing i", "2 updated i", "3 updated j", "4 resolved i"} {
		notify(t, s, store.Notification{ID: n[:1], Fingerprint: "f", Incident: n[len(n)-1:], Event: n[2 : len(n)-2], Route: "r", Payload: []byte(n)})
	}
	must(t, s.SummariseUpdates(t.Context(), "1"))
	equal(t, "states", told(t, s), []string{"1 pending 1 firing i", "2 summarised 2 updated i", "3 pending 3 updated j", "4 pending 4 resolved i"})
}
