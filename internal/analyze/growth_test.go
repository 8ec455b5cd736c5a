package analyze_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/analyze"
)

// A file of weeks tells which keys grow: one that has a finding, one that has
// none, and not one that stays as it is.
func TestGrowthOverWeeks(t *testing.T) {
	t.Parallel()
	var lines []string
	for hour := range 24 * 40 {
		at := hour * 3600
		day := float64(hour) / 24
		lines = append(lines,
			line(at, "orders", "hot#1", int(900+4*(day-40))),
			line(at, "orders", "warm#1", int(600+10*(day-40))),
			line(at, "orders", "steady#1", 500))
	}
	r := runWith(t, strings.Join(lines, "\n"), analyze.Options{})
	if len(r.Findings) != 1 || r.Findings[0].Key != "hot#1" || r.Findings[0].Forecast == nil {
		t.Fatalf("findings %+v, want one that grows", r.Findings)
	}
	check := func(key string, f *detect.Forecast, growth float64, full int) {
		days := f.At100.At.Sub(noon.Add(40*24*time.Hour)).Hours() / 24
		if math.Abs(f.Growth.Value-growth) > 0.2 || math.Abs(days-float64(full)) > 2 {
			t.Errorf("%s grows by %.1f and is full in %.1f days, want %.0f and %d", key, f.Growth.Value, days, growth, full)
		}
	}
	check("hot#1", r.Findings[0].Forecast, 4, 25)
	growing := r.Tables[0].View.Growing
	if len(growing) != 2 || growing[0].Key != "hot#1" || growing[1].Key != "warm#1" {
		t.Fatalf("growing are %+v", growing)
	}
	check("warm#1", &growing[1].Forecast, 10, 40)
	if r := runWith(t, strings.Join(lines[:24*20*3], "\n"), analyze.Options{}); len(r.Tables[0].View.Growing) != 0 {
		t.Error("twenty days are too few, but a key is said to grow")
	}
}
