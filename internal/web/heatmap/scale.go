package heatmap

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// The upper ends of a scale's colours, as shares of the limit. Values up to the first one
// have no colour, and values above the last one have one more. The style sheet has the
// colours themselves, --heat-1 to --heat-6.
var (
	loadSteps      = []float64{0.1, 0.25, 0.5, 0.8, 1, 2}
	throttledSteps = []float64{0.01, 0.05, 0.2, 0.5}
)

func steps(what string) []float64 {
	if what == Throttled {
		return throttledSteps
	}
	return loadSteps
}

// Steps writes the steps of a map's dimension for the page's script.
func Steps(what string) string { return strings.Trim(fmt.Sprint(steps(what)), "[]") }

// Class returns the class of the colour of a load, as a share of the limit.
func Class(load float64) string {
	n := slices.IndexFunc(loadSteps, func(step float64) bool { return load <= step })
	if n < 0 {
		n = len(loadSteps)
	}
	return "heat-" + strconv.Itoa(n)
}

// Swatch is a colour of the legend: its class in the style sheet, and its meaning.
type Swatch struct{ Class, Text string }

// Legend returns the colours of a map's dimension, the coldest first.
func Legend(what string) (all []Swatch) {
	add := func(text string) { all = append(all, Swatch{"heat-" + strconv.Itoa(len(all)+1), text}) }
	for _, step := range steps(what)[1:] {
		if step > 1 {
			add("over the limit")
			continue
		}
		add("to " + wording.Percent(step))
	}
	if what == Throttled {
		add("to 100%")
	} else {
		add("over twice the limit")
	}
	return all
}

// ColourStart returns the highest value without a colour.
func ColourStart(what string) string { return wording.Percent(steps(what)[0]) }
