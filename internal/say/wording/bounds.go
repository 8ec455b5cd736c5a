package wording

import (
	"fmt"
	"math"
)

// Bounds are rounded away from what they bound, so that they hold as they are written: what
// is said to be at most so much is rounded up, and what is at least so much down.
const (
	up, down = +1, -1
	// slack is how far from a written figure an amount counts as that figure, in units of
	// the figure's last digit: it is computed, and 100 × 0.29 is 28.999….
	slack = 1e-9
)

// bound returns a bound at the next multiple of a step in its direction.
func bound(v, step float64, direction int) float64 {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	if direction == up {
		return math.Ceil(v/step-slack) * step
	}
	return math.Floor(v/step+slack) * step
}

// AtMost writes an upper bound as [About] writes amounts.
func AtMost(v float64) string { return aboutBound(v, up) }

// AtLeast writes a lower bound as [About] writes amounts.
func AtLeast(v float64) string { return aboutBound(v, down) }

func aboutBound(v float64, direction int) string {
	if math.Abs(v) < 10 {
		return About(bound(v*10, 1, direction) / 10)
	}
	return About(bound(v, 1, direction))
}

// PercentAtMost writes an upper bound of a share as [Percent] writes shares.
func PercentAtMost(share float64) string { return percentBound(share, up) }

// PercentAtLeast writes a lower bound of a share as [Percent] writes shares.
func PercentAtLeast(share float64) string { return percentBound(share, down) }

func percentBound(share float64, direction int) string {
	percent := 100 * share
	return Percent(bound(percent, max(0.1, thirdDigit(percent)), direction) / 100)
}

// Range writes an amount by its bounds, 1,100 to 1,300; one figure where they look alike.
func Range(low, high float64) string {
	if About(low) == About(high) {
		return About(high)
	}
	return AtLeast(low) + " to " + AtMost(high)
}

// PercentRange is [Range] of shares.
func PercentRange(low, high float64) string {
	return fmt.Sprintf("%s to %s", PercentAtLeast(low), PercentAtMost(high))
}

// thirdDigit returns what the third significant digit of v counts: 10 of 1,074.9.
func thirdDigit(v float64) float64 {
	if v == 0 {
		return 1
	}
	return math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
}
