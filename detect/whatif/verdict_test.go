package whatif_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
)

// TestVerdict holds the verdict to the figures: no plain yes where a full partition is
// likely.
func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		w    whatif.Answer
		want whatif.Verdict
	}{
		{"above the limit", whatif.Answer{Limit: 1000, PerShard: 1200, Shards: 2, Needed: 4}, whatif.TooFew},
		{"one item is too much", whatif.Answer{Limit: 1000, PerShard: 700, Shards: 2, Needed: 3, Item: 1400}, whatif.Undivided},
		{"splits help later", whatif.Answer{Limit: 1000, PerShard: 1400, Shards: 1, Needed: 3, Ground: detect.GroundSplit}, whatif.AfterSplits},
		{"no headroom", whatif.Answer{Limit: 1000, PerShard: 900, Shards: 2, Needed: 3}, whatif.Barely},
		{"two may share a partition", whatif.Answer{
			Limit: 1000, PerShard: 525, Shards: 8, Needed: 7,
			Placements: []whatif.PlacementOdds{{Partitions: 8, Share: 1, Over: 1}, {Partitions: 32, Share: 0.6, Over: 0.6}},
		}, whatif.Crowded},
		{"queries that may ask all shards", whatif.Answer{Limit: 3000, PerShard: 1700, Shards: 2, Needed: 2, AllAsked: true}, whatif.KnownShard},
		{"any two fit one", whatif.Answer{
			Limit: 1000, PerShard: 100, Shards: 8, Needed: 2, Placements: []whatif.PlacementOdds{{Partitions: 8, Share: 1, Over: 0.01}},
		}, whatif.Enough},
	} {
		if got := c.w.Verdict(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
