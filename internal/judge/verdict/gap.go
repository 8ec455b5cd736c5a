package verdict

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// gapsOf returns the gaps within a finding's time, the oldest first: its load may be
// higher than counted, and it may have begun earlier.
func gapsOf(f *detect.Finding, gaps []store.Gap) []sample.Gap {
	until := f.LastSeen
	if f.Through.After(until) {
		until = f.Through
	}
	over := make([]sample.Gap, 0)
	for _, g := range slices.Backward(gaps) {
		if overlaps(g, f.FirstSeen, until.Add(time.Second)) {
			over = append(over, g.Gap)
		}
	}
	return over
}

// overlaps reports whether a record of the gap can lie within [from, to). Lost records
// without a known end were written before the loss was noticed.
func overlaps(g store.Gap, from, to time.Time) bool {
	end := g.Until
	if end.IsZero() {
		end = g.Noticed
	}
	return g.Since.Before(to) && !end.Before(from)
}
