package corroboration_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
)

// TestAnIndexThatNobodyReads: it is said of an index with writes and without reads over
// days, and of nothing else.
func TestAnIndexThatNobodyReads(t *testing.T) {
	t.Parallel()
	byStatus := detect.Target{Table: "orders", Index: "by-status"}
	want := detect.Unused{Since: began.Add(59 * time.Minute), Days: 9, WCU: 14_400}
	for _, c := range []struct {
		story       string
		of          detect.Target
		days        int
		write, read float64
		want        bool
	}{
		{"writes and no read", byStatus, 10, 60, 0, true},
		{"the table itself", orders, 10, 60, 0, false},
		{"reads, too", byStatus, 10, 60, 0.5, false},
		{"no writes", byStatus, 10, 0, 0, false},
		{"a weekend", byStatus, 2, 60, 0, false},
	} {
		r := reading(0, nil)
		for hour := range c.days * 24 {
			metrics := map[detect.Metric]float64{}
			if c.write > 0 {
				metrics[corroboration.ConsumedWrite] = c.write
			}
			if c.read > 0 && hour == 7 {
				metrics[corroboration.ConsumedRead] = c.read
			}
			r.Use.Add(began.Add(time.Duration(hour)*time.Hour+59*time.Minute), metrics)
		}
		if u := corroboration.Judge(c.of, r).Unused; (u != nil) != c.want || u != nil && *u != want {
			t.Errorf("%s: %+v", c.story, u)
		}
	}
}
