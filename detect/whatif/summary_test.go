package whatif_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect/whatif"
)

// TestSummary holds the last sentence to the figures above it: no plain
// yes where a full partition is likely.
func TestSummary(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		w    whatif.Answer
		want string
	}{
		{"above the limit", whatif.Answer{Limit: 1000, PerShard: 1200, Shards: 2, Needed: 4}, "No:"},
		{"no headroom", whatif.Answer{Limit: 1000, PerShard: 900, Shards: 2, Needed: 3}, "Barely:"},
		{"two may share a partition", whatif.Answer{
			Limit: 1000, PerShard: 525, Shards: 8, Needed: 7,
			Placements: []whatif.PlacementOdds{{Partitions: 8, Share: 1, Over: 1}, {Partitions: 32, Share: 0.6, Over: 0.6}},
		}, "not at once"},
		{"queries that may ask all shards", whatif.Answer{Limit: 3000, PerShard: 1700, Shards: 2, Needed: 2, AllAsked: true}, "Only where a query knows its shard"},
		{"any two fit one", whatif.Answer{
			Limit: 1000, PerShard: 100, Shards: 8, Needed: 2, Placements: []whatif.PlacementOdds{{Partitions: 8, Share: 1, Over: 0.01}},
		}, "Yes: this carries"},
	} {
		if got := c.w.Summary(); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
