package store_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

// TestSilenceIsNoHealth: nobody runs who has not written for 45 seconds, or has said
// that it stops; and nobody is missed who was never heard of.
func TestSilenceIsNoHealth(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, c := range map[string]struct {
		writers []store.Writer
		since   time.Time
		silent  bool
	}{
		"nobody was ever there":         {},
		"one runs":                      {writers: []store.Writer{{Seen: ago(3 * time.Second)}}},
		"one runs, another crashed":     {writers: []store.Writer{{Seen: ago(time.Hour)}, {Seen: ago(45 * time.Second)}}},
		"the only one crashed":          {writers: []store.Writer{{Seen: ago(46 * time.Second)}}, since: ago(46 * time.Second), silent: true},
		"the only one stopped just now": {writers: []store.Writer{{Seen: ago(time.Second), Stopped: ago(time.Second)}}, since: ago(time.Second), silent: true},
		"two are gone":                  {writers: []store.Writer{{Seen: ago(time.Hour)}, {Seen: ago(2 * time.Minute)}}, since: ago(2 * time.Minute), silent: true},
	} {
		since, silent := store.SilentSince(c.writers, now)
		if silent != c.silent || !since.Equal(c.since) {
			t.Errorf("%s: silent %t since %s, want %t since %s", name, silent, since, c.silent, c.since)
		}
	}
}

// TestASilenceWithUnreadableMatchersIsRead: without matchers, so that the others are read
// too, and it can be expired.
func TestASilenceWithUnreadableMatchersIsRead(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, url string) {
		s := open(t, url)
		now, err := s.Now(t.Context())
		check(t, err)
		add := func(reason string) string {
			n, err := s.AddSilence(t.Context(), store.Silence{Matchers: []string{"table=orders"}, StartsAt: now, EndsAt: now.Add(time.Hour), Author: "ada", Reason: reason})
			check(t, err)
			return n.ID
		}
		want := map[string]int{"good": 1}
		add("good")
		for _, text := range []string{``, `null`, `{`, `"table=orders"`, `["table=orders",7]`, `{"table":"orders"}`} {
			want[text] = 0
			_, err := raw(t, url).Exec(`UPDATE silences SET matchers = $1 WHERE id = $2`, text, add(text))
			check(t, err)
		}
		all, err := s.Silences(t.Context(), store.SilenceQuery{State: store.SilenceActive})
		check(t, err)
		if len(all) != len(want) {
			t.Errorf("read are %d silences, want %d", len(all), len(want))
		}
		for _, n := range all {
			if n.Matchers == nil || len(n.Matchers) != want[n.Reason] {
				t.Errorf("the matchers of %q are %#v", n.Reason, n.Matchers)
			}
			check(t, s.ExpireSilence(t.Context(), n.ID, "ada"))
		}
	})
}
