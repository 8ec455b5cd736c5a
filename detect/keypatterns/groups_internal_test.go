package keypatterns

import (
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
)

// TestShardedKeysAreBounded observes many tables with many sharded keys each.
func TestShardedKeysAreBounded(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 2500 {
		names = append(names, fmt.Sprintf("user-%d#SHARD_0", i))
	}
	groups := NewGroups()
	for table := range 15 {
		w := scenario.LoadedWindow(scenario.Began, 1, names...)
		w.Table = fmt.Sprint(table)
		groups.Observe(w, scenario.Began, detect.DefaultPolicy(), &sampling.Clocks{})
	}
	if got := len(groups.known); got != maxAllGroups {
		t.Fatalf("%d sharded keys are remembered, want %d", got, maxAllGroups)
	}
}
