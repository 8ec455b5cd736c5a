package corroboration

import (
	"time"

	"github.com/keyheat/keyheat/detect"
)

// UseSpan is the longest time for adding up the use of an index.
const UseSpan = 14 * 24 * time.Hour

// leastUse is the least time without reads that makes an index unused: less may be a
// weekend.
const leastUse = 3 * 24 * time.Hour

// Use is an index's consumption in the minutes read from CloudWatch.
type Use struct {
	// Since is the start of the first minute with data, Until the end of the last.
	Since, Until time.Time
	// Minutes counts the minutes with data.
	Minutes int
	Units
}

// Add adds a minute's metrics.
func (u *Use) Add(at time.Time, metrics map[detect.Metric]float64) {
	if metrics[ConsumedWrite] == 0 && metrics[ConsumedRead] == 0 {
		return
	}
	u.Join(Use{Since: at, Until: at.Add(time.Minute), Minutes: 1, Units: Units{Write: metrics[ConsumedWrite], Read: metrics[ConsumedRead]}})
}

// Join adds the use in other minutes.
func (u *Use) Join(o Use) {
	if o.Minutes == 0 {
		return
	}
	if u.Minutes == 0 || o.Since.Before(u.Since) {
		u.Since = o.Since
	}
	if o.Until.After(u.Until) {
		u.Until = o.Until
	}
	u.Minutes += o.Minutes
	u.Write += o.Write
	u.Read += o.Read
}

// findUnused returns an index that costs writes and that nobody reads; nil if it has reads or
// this is unknown. CloudWatch has no data point for zero reads.
func (u *Use) findUnused() *detect.Unused {
	if u.Write == 0 || u.Read > 0 || u.Until.Sub(u.Since) < leastUse {
		return nil
	}
	return &detect.Unused{Since: u.Since.UTC(), Days: int(u.Until.Sub(u.Since).Hours() / 24), WCU: u.Write}
}
