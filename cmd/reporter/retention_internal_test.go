package main

import (
	"maps"
	"testing"

	"github.com/keyheat/keyheat/internal/judge/heat"
)

// TestEachLevelHasARetention: a level of the heatmap without a setting would be kept for
// ever.
func TestEachLevelHasARetention(t *testing.T) {
	t.Parallel()
	var h Heat
	for _, l := range heat.Table {
		if h.levels()[l.Name] == nil {
			t.Fatalf("there is no setting retention.heat.%s", l.Name)
		}
	}
	if len(h.levels()) != len(heat.Table) {
		t.Errorf("%d settings are for %d levels", len(h.levels()), len(heat.Table))
	}
	if h = defaultHeat(); !maps.Equal(h.rollups(), heat.Retention()) {
		t.Errorf("the settings keep %v by default, want %v", h.rollups(), heat.Retention())
	}
}
