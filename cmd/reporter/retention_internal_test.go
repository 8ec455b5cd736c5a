package main

import (
	"maps"
	"testing"

	"github.com/keyheat/keyheat/rollup"
)

// TestEachLevelHasARetention: a level of the heatmap without a setting would be kept for
// ever.
func TestEachLevelHasARetention(t *testing.T) {
	t.Parallel()
	var h Heat
	for _, l := range rollup.Table {
		if h.levels()[l.Name] == nil {
			t.Fatalf("there is no setting retention.heat.%s", l.Name)
		}
	}
	if len(h.levels()) != len(rollup.Table) {
		t.Errorf("%d settings are for %d levels", len(h.levels()), len(rollup.Table))
	}
	if h = defaultHeat(); !maps.Equal(h.rollups(), rollup.Retention()) {
		t.Errorf("the settings keep %v by default, want %v", h.rollups(), rollup.Retention())
	}
}
