package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/store"
)

// firings returns how many of the notifications page.
func firings(o outcome) (n int) {
	for _, told := range o.Notified {
		if strings.HasSuffix(told, " "+string(detect.EventFiring)) {
			n++
		}
	}
	return n
}

// openIncidents returns the incidents that are not over.
func openIncidents(t *testing.T, s *store.Store) (all []store.Incident) {
	t.Helper()
	rows, err := s.Incidents(t.Context(), store.IncidentQuery{Limit: 1000})
	must(t, err)
	return slices.DeleteFunc(rows, func(i store.Incident) bool { return i.State == string(detect.Resolved) })
}

// TestASecondKeyJoinsTheIncident has two keys with all load of a table that had one hot key: for
// eight seconds again and again, and then for good. The first key's incident goes on.
func TestASecondKeyJoinsTheIncident(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		c := collect(t, s, "a", 0, begin())
		j := run(t, quick(), &probe{Store: s})
		second := 0
		// pour loads keys for some seconds, beside fifty cool ones unless they have all load.
		pour := func(seconds int, alone bool, keys ...string) {
			for until := second + seconds; second < until; {
				var all []load
				next := min(until, second+4)
				for _, key := range keys {
					all = append(all, hot(key, 1200, second, next)...)
				}
				for cool := 0; cool < 50 && !alone; cool++ {
					all = append(all, hot(fmt.Sprintf("cool %x", cool*7919), 10, second, next)...)
				}
				second = next
				c.commit(second, all...)
				j.quiet(t)
			}
		}
		// fires holds that the first key's incident is the only one that fires.
		fires := func(when string) {
			t.Helper()
			var firing []string
			for _, i := range openIncidents(t, s) {
				if i.State == string(detect.Firing) {
					firing = append(firing, i.ID)
				}
			}
			equal(t, when, firing, []string{detect.IncidentID(casebook.HotKey, detect.Target{Table: table}, "S:a")})
		}
		pour(12, false, "a")
		for range 3 {
			pour(8, true, "a", "b")
			fires("after eight seconds of two keys")
			pour(8, false, "a")
			fires("after eight seconds of one key")
		}
		equal(t, "pages", firings(left(t, s)), 1)
		pour(90, true, "a", "b")
		fires("after a minute and a half of two keys")
		equal(t, "pages in all", firings(left(t, s)), 1)
	})
}
