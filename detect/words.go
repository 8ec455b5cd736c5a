package detect

import (
	"fmt"
	"math"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

func perSecond(m sample.Milli, k Kind) string {
	if k == HotKeyRead {
		return amountOf(m) + " read units"
	}
	return amountOf(m) + " write units"
}

// amountOf writes whole units with thousands apart: 12,345.
func amountOf(m sample.Milli) string { return count(int64(math.Round(units(m)))) }

// count writes a whole number with thousands apart.
func count(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return count(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// about writes an amount of units: whole ones, small ones with one decimal.
func about(v float64) string {
	if v < 10 && v != math.Trunc(v) {
		return fmt.Sprintf("%.1f", v)
	}
	return count(int64(math.Round(v)))
}

func seconds(n int) string {
	if n == 1 {
		return "1 second"
	}
	return count(int64(n)) + " seconds"
}

// list joins words: a, b and c.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// between words a share with its bounds.
func between(p Part) string {
	low, high := 100*p.Low, 100*p.High
	if high-low < 1 {
		return fmt.Sprintf("%.0f %%", low)
	}
	return fmt.Sprintf("%.0f to %.0f %%", low, high)
}

// quoted is a key as a text within a sentence.
func quoted(key string) string { return "“" + key + "”" }

func percent(share float64) string { return fmt.Sprintf("%.3g %%", math.Round(1000*share)/10) }

// figures writes a number with three significant digits and thousands apart.
func figures(v float64) string { return amountOf(milli(rounded(v))) }

// rounded has three significant digits.
func rounded(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(v))))
	return math.Round(v*scale) / scale
}
