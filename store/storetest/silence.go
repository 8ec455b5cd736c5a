package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

var silences = []obligation{
	{"a silence is pending, active and expired by the database's clock", silenceStates},
	{"silences are found by the time in which they were in force", silencesOfATime},
	{"a silence expires once, and both changes are in the audit", silenceExpires},
	{"what others wrote in a silence is text", silenceText},
	{"there is an end to the silences that are not over", silenceBound},
	{"silences are pruned long after they are over", silencePruned},
}

func addSilence(t *testing.T, s *store.Store, n store.Silence) string {
	t.Helper()
	return value[store.Silence](t)(s.AddSilence(t.Context(), n)).ID
}

// silenced is a silence of orders.
func silenced(start, end time.Time) store.Silence {
	return store.Silence{Matchers: []string{`table="orders"`, `severity="warning"`}, StartsAt: start, EndsAt: end, Author: "ada", Reason: "load test"}
}

func silenceStates(t *testing.T, s *store.Store) {
	now := value[time.Time](t)(s.Now(t.Context()))
	ids := map[string]string{
		store.SilencePending: addSilence(t, s, silenced(now.Add(time.Hour), now.Add(3*time.Hour))),
		store.SilenceActive:  addSilence(t, s, silenced(now, now.Add(2*time.Hour))),
		store.SilenceExpired: addSilence(t, s, silenced(now.Add(-time.Hour), now)),
	}
	var states []string
	for _, n := range value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{})) {
		states = append(states, n.State)
	}
	equal(t, "all, those that end last first", states, []string{store.SilencePending, store.SilenceActive, store.SilenceExpired})
	for state, id := range ids {
		got := value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{State: state}))
		if len(got) != 1 || got[0].ID != id || got[0].State != state {
			t.Errorf("%s are %+v, want %s", state, got, id)
		}
	}
	got := value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{State: store.SilenceActive}))[0]
	want := silenced(now, now.Add(2*time.Hour))
	want.ID, want.State = ids[store.SilenceActive], store.SilenceActive
	equal(t, "a silence", got, want)
	for state, start := range map[string]time.Duration{store.SilencePending: time.Minute, store.SilenceActive: -time.Minute} {
		want := silenced(now.Add(start), now.Add(time.Hour))
		added := value[store.Silence](t)(s.AddSilence(t.Context(), want))
		want.ID, want.State = added.ID, state
		if added.ID == "" {
			t.Error("no ID")
		}
		equal(t, "what is added", added, want)
		must(t, s.ExpireSilence(t.Context(), added.ID, "ada"))
	}
	equal(t, "at most", len(value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{Limit: 2}))), 2)
}

func silencesOfATime(t *testing.T, s *store.Store) {
	now := value[time.Time](t)(s.Now(t.Context()))
	from, to := now.Add(-2*time.Hour), now.Add(-time.Hour)
	add := func(start, end time.Duration) string {
		return addSilence(t, s, silenced(now.Add(start), now.Add(end)))
	}
	add(-3*time.Hour, -2*time.Hour)       // over when it begins
	add(-time.Hour, time.Hour)            // begins when it is over
	add(-90*time.Minute, -90*time.Minute) // never in force
	across := add(-4*time.Hour, 4*time.Hour)
	within := add(-100*time.Minute, -80*time.Minute)
	begins := add(-61*time.Minute, -30*time.Minute)
	ends := add(-3*time.Hour, -119*time.Minute)
	var got []string
	for _, n := range value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{From: from, To: to})) {
		got = append(got, n.ID)
	}
	equal(t, "in force", got, []string{across, begins, within, ends})
	equal(t, "since then", len(value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{From: to}))), 3)
}

func silenceExpires(t *testing.T, s *store.Store) {
	now := value[time.Time](t)(s.Now(t.Context()))
	active := addSilence(t, s, silenced(now, now.Add(time.Hour)))
	pending := addSilence(t, s, silenced(now.Add(time.Hour), now.Add(2*time.Hour)))
	for _, id := range []string{active, pending} {
		must(t, s.ExpireSilence(t.Context(), id, "bob"))
		if err := s.ExpireSilence(t.Context(), id, "bob"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("expired a second time: %v", err)
		}
	}
	if err := s.ExpireSilence(t.Context(), "unknown\x00", "bob"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown one expires: %v", err)
	}
	for _, n := range value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{})) {
		near(t, "the end", n.EndsAt)
		if n.State != store.SilenceExpired || n.StartsAt.After(n.EndsAt) {
			t.Errorf("an expired one is %+v", n)
		}
	}
	entries := value[[]store.AuditEntry](t)(s.Audit(t.Context(), 0))
	for i := range entries {
		near(t, "an entry", entries[i].At)
		entries[i].At = time.Time{}
	}
	detail := func(from, to time.Duration) string {
		return `table="orders", severity="warning", from ` + now.Add(from).Format(time.RFC3339) + ` to ` + now.Add(to).Format(time.RFC3339)
	}
	equal(t, "the audit", entries, []store.AuditEntry{
		{Who: "bob", Action: "expire a silence", About: pending},
		{Who: "bob", Action: "expire a silence", About: active},
		{Who: "ada", Action: "add a silence", About: pending, Detail: detail(time.Hour, 2*time.Hour)},
		{Who: "ada", Action: "add a silence", About: active, Detail: detail(0, time.Hour)},
	})
}

func silenceText(t *testing.T, s *store.Store) {
	now := value[time.Time](t)(s.Now(t.Context()))
	n := silenced(now, now.Add(time.Hour))
	n.Matchers, n.Author, n.Reason = []string{`table="'; DROP TABLE silences; --"`, `owner="\"[]"`}, "<script>\x00", "\xff $1 ' \\"
	addSilence(t, s, n)
	got := value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{}))[0]
	equal(t, "matchers", got.Matchers, n.Matchers)
	equal(t, "author", got.Author, "<script>\uFFFD")
	equal(t, "reason", got.Reason, "\uFFFD $1 ' \\")
}

func silenceBound(t *testing.T, s *store.Store) {
	now := value[time.Time](t)(s.Now(t.Context()))
	over := silenced(now.Add(-time.Hour), now)
	addSilence(t, s, over)
	for range 1000 {
		addSilence(t, s, silenced(now, now.Add(time.Hour)))
	}
	if _, err := s.AddSilence(t.Context(), silenced(now, now.Add(time.Hour))); !errors.Is(err, store.ErrTooManySilences) {
		t.Errorf("one more is added: %v", err)
	}
}

func silencePruned(t *testing.T, s *store.Store) {
	now := value[time.Time](t)(s.Now(t.Context()))
	addSilence(t, s, silenced(now.Add(-3*time.Hour), now.Add(-2*time.Hour)))
	addSilence(t, s, silenced(now.Add(-3*time.Hour), now.Add(time.Hour)))
	prune(t, s, store.Retention{})
	equal(t, "kept", len(value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{}))), 2)
	prune(t, s, store.Retention{History: time.Hour})
	left := value[[]store.Silence](t)(s.Silences(t.Context(), store.SilenceQuery{}))
	if len(left) != 1 || left[0].State != store.SilenceActive {
		t.Errorf("left are %+v", left)
	}
}
