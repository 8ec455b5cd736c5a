package forecast

import (
	"fmt"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// Apply puts a key's growth into its finding, and adds to a sharding step the shards that
// the growth needs. A nil growth is unknown.
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
	then := max(peak, growth.Level) + detect.GrowthDays*growth.Growth.Value
	f.Advice = slices.Clone(f.Advice)
	f.Advice[i].Text += fmt.Sprintf(" Its weekly peak grows by %s %s a day (%s to %s): for %d days of that take ceil(%s / %s × %g) = %d shards now.",
		wording.About(growth.Growth.Value), unit, wording.About(growth.Growth.Low), wording.About(growth.Growth.High), detect.GrowthDays,
		wording.About(then), wording.Amount(most), headroom, detect.Shards(detect.Milli(then), most, headroom))
}
