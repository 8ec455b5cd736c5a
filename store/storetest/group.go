package storetest

import (
	"errors"
	"testing"

	"github.com/keyheat/keyheat/store"
)

var groups = []obligation{
	{"a group is what was written last, until it is over", groupKept},
	{"a group is written with the judgement or not at all", groupWithJudgement},
	{"what is told of a group goes on while the group is kept", groupOngoing},
}

func storedGroups(t *testing.T, s *store.Store) []store.Group {
	t.Helper()
	return value[[]store.Group](t)(s.Groups(t.Context()))
}

func groupKept(t *testing.T, s *store.Store) {
	a, b := store.Group{ID: "a", Receiver: "chat", Document: []byte(`{"n":1}`)}, store.Group{ID: "b", Receiver: "pager", Document: []byte(`{}`)}
	judge(t, s, store.Judgement{Groups: []store.Group{b, a}})
	equal(t, "groups", storedGroups(t, s), []store.Group{a, b})
	a.Document = []byte(`{"n":2}`)
	judge(t, s, store.Judgement{Groups: []store.Group{{ID: "b"}, a, {ID: "never"}}})
	equal(t, "groups later", storedGroups(t, s), []store.Group{a})
}

func groupWithJudgement(t *testing.T, s *store.Store) {
	judge(t, s, store.Judgement{})
	later := store.Lease{Name: "judge", Holder: "nobody", Token: 4711}
	err := s.Judge(t.Context(), later, store.Judgement{Groups: []store.Group{{ID: "a", Document: []byte(`{}`)}}})
	if !errors.Is(err, store.ErrWentBack) {
		t.Errorf("with a lease that the database does not have Judge returns %v", err)
	}
	equal(t, "groups", storedGroups(t, s), nil)
}

func groupOngoing(t *testing.T, s *store.Store) {
	judge(t, s, store.Judgement{
		Groups:        []store.Group{{ID: "g", Receiver: "r", Document: []byte(`{}`)}},
		Notifications: []store.Notification{{ID: "1", Incident: "g", Event: "firing", Route: "r"}, {ID: "2", Incident: "other", Event: "firing", Route: "r"}},
	})
	must(t, s.MarkDelivered(t.Context(), "1", ""))
	must(t, s.MarkDelivered(t.Context(), "2", ""))
	var ids []string
	for _, n := range value[[]store.Notification](t)(s.Ongoing(t.Context(), "r")) {
		ids = append(ids, n.ID)
	}
	equal(t, "told again", ids, []string{"1"})
	judge(t, s, store.Judgement{Groups: []store.Group{{ID: "g"}}})
	equal(t, "told again when it is over", len(value[[]store.Notification](t)(s.Ongoing(t.Context(), "r"))), 0)
}
