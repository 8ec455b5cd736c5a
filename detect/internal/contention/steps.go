package contention

import (
	"math"

	"github.com/keyheat/keyheat/detect"
)

// mostlyFail is the part of an item's updates from which their conditions mostly fail, so that
// callers try again and again. Failed conditions of puts may be repeated messages.
const mostlyFail = 0.5

// restShare is the part of the attempts that is still lost on a divided counter.
const restShare = 0.05

// Steps returns the steps for a contended item, in order. A step that may lose data is never first.
func Steps(c *detect.Contention) []detect.Step {
	var fixes []detect.Fix
	switch c.Shape {
	case detect.ShapeCounter:
		fixes = []detect.Fix{detect.FixDividedCounter, detect.FixCountFromStream}
	case detect.ShapeLock:
		fixes = []detect.Fix{detect.FixLease, detect.FixWorkQueue}
	case detect.ShapeSequence:
		fixes = []detect.Fix{detect.FixNumberBlocks}
	case detect.ShapeName:
		fixes = []detect.Fix{detect.FixConditionAlone}
	default:
		if c.Transactions > 0 && c.Conflicts > 0 {
			fixes = []detect.Fix{detect.FixShorterTransactions}
		}
	}
	loses := c.Shape == detect.ShapeUnknown && c.Updates >= mostlyFail && detect.Ratio(c.ConditionsFailed, c.Attempts.Value) >= mostlyFail
	if c.Conflicts > 0 || c.Failed > 0 || loses { // a condition that fails by design is not sent again
		fixes = append(fixes, detect.FixRetryConflicts)
	}
	steps := []detect.Step{}
	for _, fix := range fixes {
		step := detect.NewStep(fix)
		if c.ShapeTold && (fix == detect.FixLease || fix == detect.FixDividedCounter) {
			step.Arguments.Shape = c.Shape
		}
		if fix == detect.FixDividedCounter {
			step.Arguments.Count = parts(c.Share)
		}
		if fix == detect.FixRetryConflicts {
			step.Arguments.Caller = c.MainLoser()
		}
		steps = append(steps, step)
	}
	return steps
}

// parts returns how many keys a counter takes so that few attempts are lost. Attempts that come
// independently of each other lose with the probability 1 − exp(−x), where x is their rate times
// how long one holds the item; and n keys divide x.
func parts(lost float64) int {
	x := -math.Log1p(-min(lost, 0.99))
	return max(2, int(math.Ceil(x/-math.Log1p(-restShare))))
}
