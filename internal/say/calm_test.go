package say_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/intake"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
)

// TestCalm holds the sentences of parts without rows, and of summaries, to a golden file.
func TestCalm(t *testing.T) {
	var text strings.Builder
	fmt.Fprintf(&text, "%+v\n%s\n%s\n%s\n", say.Empty, say.SilencedEffect, say.LeastPeak, say.LeastSeconds)
	whole, part, least := &intake.Reading{Good: 1000, Judged: true, Share: new(1.0)}, &intake.Reading{Good: 900, Bad: map[sample.RejectReason]int64{"no_key": 100}, Judged: true, Share: new(0.9)}, &intake.Reading{Good: 1000, Unsized: 500, Judged: true, Share: new(1.0)}
	fmt.Fprintf(&text, "%s\n%s\n%s\n", say.NoHotKeys(whole, nil, "", false), say.NoHotKeys(whole, nil, "", true), say.NoHotKeys(whole, nil, "A doubt.", false))
	fmt.Fprintf(&text, "%s\n%s\n%s\n", say.NoHotKeys(part, nil, "", false), say.NoHotKeys(part, nil, "A doubt.", false), say.NoHotKeys(least, nil, "", false))
	for _, s := range []partition.State{partition.One, partition.Inferred, partition.Learning} {
		fmt.Fprintf(&text, "%s: %s %s\n", s, say.UnknownLoad(s, false), say.UnknownLoad(s, true))
	}
	fmt.Fprintf(&text, "%s\n%s\n", say.EffectivePartitions(nil), say.EffectivePartitions(new(12.3)))
	even := &whatif.Answer{Shards: 8, Seconds: 60, OverSharded: 2, OverUnsharded: 40, Seed: 1, Placements: make([]whatif.PlacementOdds, 1)}
	less := &whatif.Answer{Shards: 2, Seconds: 60, OverUnsharded: 40, Instead: detect.FixCalmRetries}
	for _, w := range []*whatif.Answer{even, less, {Shards: 1}} {
		fmt.Fprintf(&text, "%s\n%s\n%s\n", say.WhatIfSeconds(w), say.WhatIfPlacement(w), say.WhatIfInstead(w))
	}
	fmt.Fprintln(&text, say.LimitedTitle(map[string]int{"orders": 4, "carts": 4}, 3, "orders: a title"))
	fmt.Fprintln(&text, say.LimitedTitle(map[string]int{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 1000}, 10, "g: a title"))
	for _, c := range []detect.Corroborated{detect.CloudWatchConfirms, detect.CloudWatchOtherCause, detect.CloudWatchQuiet, detect.CloudWatchContradicts, ""} {
		fmt.Fprintln(&text, say.CorroborationName(c))
	}
	compareGolden(t, "testdata/calm.txt", text.String())
}
