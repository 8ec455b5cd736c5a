package chart

import (
	"slices"
	"strconv"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// shares are the upper ends of the colours, as shares of the limit. Values up to the first
// one have no colour, and values above the last one have one more. The style sheet has the
// colours themselves, --heat-1 to --heat-6.
var shares = []float64{0.1, 0.25, 0.5, 0.8, 1, 2}

// overLimit is the first colour above the limit.
const overLimit = 5

// colour returns the number of a load's colour; 0 for none.
func colour(share float64) int {
	if n := slices.IndexFunc(shares, func(step float64) bool { return share <= step }); n >= 0 {
		return n
	}
	return len(shares)
}

func class(colour int) string { return "heat-" + strconv.Itoa(colour) }

// Swatch is a colour of the legend: its class in the style sheet, and its meaning.
type Swatch struct{ Class, Text string }

// Legend returns the colours, the coldest first.
func Legend() (all []Swatch) {
	for n, step := range shares {
		text := "to " + wording.Percent(step)
		switch {
		case n == 0:
			text = "no colour: " + text
		case step > 1:
			text = "over the limit"
		}
		all = append(all, Swatch{class(n), text})
	}
	return append(all, Swatch{class(len(shares)), "over twice the limit"})
}
