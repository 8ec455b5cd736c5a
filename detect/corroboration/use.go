package corroboration

import (
	"fmt"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// UseSpan is the longest time over which the use of an index is added up.
const UseSpan = 14 * 24 * time.Hour

// leastUse is how long nobody must have read an index for that to be said: less may be a
// weekend.
const leastUse = 3 * 24 * time.Hour

// Use is what an index consumed in the minutes that were read of CloudWatch.
type Use struct {
	// Since is the first of them with data, Until the end of the last.
	Since, Until time.Time
	// Minutes is how many had data.
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

// Join adds what was used in other minutes.
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

// unusedText returns what to say of an index that costs writes and that nobody has read;
// empty where that is not so, or not known. CloudWatch has no data point of reads where
// there are none.
func (u *Use) unusedText() string {
	if u.Write == 0 || u.Read > 0 || u.Until.Sub(u.Since) < leastUse {
		return ""
	}
	return fmt.Sprintf("Nobody has read this index in the %d days from %s that were read of CloudWatch, and its writes cost %s units: "+
		"without it these are saved, unless something reads it more rarely.",
		int(u.Until.Sub(u.Since).Hours()/24), u.Since.UTC().Format("2006-01-02"), count(u.Write))
}
