package forecast

import (
	"fmt"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// growthDays is how far ahead a shard count looks, where growth is proven: a
// quarter, in which an application is changed again anyway.
const growthDays = 90

// Foresee adds what is known of the key's growth, and what it asks of the shard
// count. nil says nothing.
func Apply(f *detect.Finding, growth *detect.Forecast, headroom float64) {
	f.Forecast = growth
	if growth == nil || growth.Growth.Low <= 0 {
		return
	}
	i := slices.IndexFunc(f.Advice, func(s detect.Step) bool { return s.Action == detect.ActionShard })
	if i < 0 {
		return
	}
	peak, most, unit := f.Peak.WCU.Value, detect.PartitionWrite, "WCU"
	if growth.Unit == "rcu" {
		peak, most, unit = f.Peak.RCU.Value, detect.PartitionRead, "RCU"
	}
	then := max(peak, growth.Level) + growthDays*growth.Growth.Value
	f.Advice = slices.Clone(f.Advice)
	f.Advice[i].Text += fmt.Sprintf(" Its weekly peak grows by %s %s a day (%s to %s): for %d days of that take ceil(%s / %s × %g) = %d shards now.",
		wording.About(growth.Growth.Value), unit, wording.About(growth.Growth.Low), wording.About(growth.Growth.High), growthDays,
		wording.About(then), wording.Amount(most), headroom, detect.Shards(detect.Milli(then), most, headroom))
}
