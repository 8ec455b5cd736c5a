package judge_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

// TestStoppedCollectionLeavesTheJudgeReady: without collectors it still serves and judges,
// and Kubernetes must not take the pages away that say so.
func TestStoppedCollectionLeavesTheJudgeReady(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		c := quick()
		c.LookEvery = time.Millisecond
		j := run(t, c, &probe{Store: s})
		j.quiet(t)
		equal(t, "judges", []bool{j.Judges(time.Hour), j.Judges(0)}, []bool{true, false})
		equal(t, "ready before any collector", j.Ready(), nil)
		must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "host-1", Started: time.Now()}))
		must(t, s.StopWriter(t.Context(), "a"))
		j.quiet(t)
		equal(t, "ready without a collector that runs", j.Ready(), nil)
	})
}
