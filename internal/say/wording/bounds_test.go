package wording_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// TestBoundsHoldAsTheyAreWritten over figures of all sizes: no upper bound is written below
// the figure and no lower one above it, and none is further away than its last digit.
func TestBoundsHoldAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 22))
	const rounding = 1e-6
	for _, b := range []struct {
		name      string
		write     func(float64) string
		direction float64
		most      float64 // of a figure
		off       func(v float64) float64
	}{
		{"AtMost", wording.AtMost, 1, 1e6, func(v float64) float64 { return map[bool]float64{true: 0.1, false: 1}[v < 10] }},
		{"AtLeast", wording.AtLeast, -1, 1e6, func(v float64) float64 { return map[bool]float64{true: 0.1, false: 1}[v < 10] }},
		{"PercentAtMost", wording.PercentAtMost, 1, 10, func(v float64) float64 { return max(0.001, v/100) }},
		{"PercentAtLeast", wording.PercentAtLeast, -1, 10, func(v float64) float64 { return max(0.001, v/100) }},
	} {
		for range 20_000 {
			v := math.Exp(random.Float64()*math.Log(b.most*1000)) / 1000
			if random.IntN(4) == 0 {
				v = math.Round(v*100) / 100 // a figure that may be written as it is
			}
			text, percent := strings.CutSuffix(strings.ReplaceAll(b.write(v), ",", ""), "%")
			written, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatalf("%s(%v) = %q: %v", b.name, v, b.write(v), err)
			}
			if percent {
				written /= 100
			}
			if beyond := b.direction * (written - v); beyond < -rounding || beyond > b.off(v)+rounding {
				t.Fatalf("%s(%v) = %q", b.name, v, b.write(v))
			}
		}
	}
}

// TestWhatIsWrittenExactlyIsNoBound: floating point makes no 1,001 of 1,000.
func TestWhatIsWrittenExactlyIsNoBound(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		wording.AtMost(1000 * (0.1 + 0.2) / 0.3): "1,000",
		wording.AtLeast(100 * 0.29):              "29",
		wording.PercentAtLeast(0.29):             "29%",
		wording.Percent(95.658):                  "9,570%",
		wording.Part(95.658):                     "9,566%",
		wording.PercentAtMost(0.1 + 0.2):         "30%",
		wording.Range(1000, 1000):                "1,000",
		wording.Range(1100.4, 1299.6):            "1,100 to 1,300",
		wording.Range(1100.6, 1299.4):            "1,100 to 1,300",
		wording.PercentRange(0.1239, 0.5004):     "12.3% to 50.1%",
		wording.AtMost(9.95):                     "10",
		wording.AtMost(0) + wording.AtLeast(0):   "00",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
