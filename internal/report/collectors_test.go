package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

// TestStoppedCollectionIsNoHealth: a judge without collectors is not ready, and is
// again once one runs; one that never heard of any has nothing to miss.
func TestStoppedCollectionIsNoHealth(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		j := run(t, quick(), &probe{Store: s})
		j.quiet(t)
		equal(t, "judges", []bool{j.Judges(time.Hour), j.Judges(0)}, []bool{true, false})
		equal(t, "ready before any collector", j.Ready(), nil)
		must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "host-1", Started: time.Now()}))
		must(t, s.StopWriter(t.Context(), "a"))
		stopped := func() bool {
			return strings.Contains(strings.Join(j.Ready(), "\n"), "collectors: none has written since")
		}
		await(t, stopped)
		must(t, s.StartWriter(t.Context(), store.Writer{ID: "b", Host: "host-2", Started: time.Now()}))
		await(t, func() bool { return !stopped() })
	})
}
