package say_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/internal/say"
)

// TestForecastScore: a split without a forecast counts for nothing.
func TestForecastScore(t *testing.T) {
	t.Parallel()
	splits := []detect.PartitionSplit{{}}
	if text := say.ForecastScore(splits); text != "" {
		t.Error(text)
	}
	for _, o := range []detect.ForecastOutcome{detect.ForecastMedian, detect.ForecastNeither, detect.ForecastBoth} {
		splits = append(splits, detect.PartitionSplit{Outcome: o})
	}
	if text := say.ForecastScore(splits); text != "2 of 3 forecasts of splits were right." {
		t.Error(text)
	}
	if text := say.DescribeSplit(&splits[1]); text != "DynamoDB split 0x0000–0x0000 near 0x0000, inside one key's items. The forecast was right: it halved the load." {
		t.Error(text)
	}
}

// TestFullestPartition: a partition has a hot key if one of its keys has a finding of its own,
// whatever else lies there.
func TestFullestPartition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		units, share float64
		says         string
	}{
		{30_095, 0.5, "One key fills it: “acme”."},
		{1300, 0.9, "One key fills it: “acme”."},
		{1700, 0.5, "One key nearly fills it: “acme”."},
		{1300, 0.5, "without a single hot key"},
		{900, 0.9, "carries at least 90% of its limit."},
	} {
		l := detect.PartitionLoad{WCU: detect.ExactFigure(c.units), Busiest: []detect.BusyKey{{KeyRef: detect.KeyRef{Key: "acme"}, Share: c.share}}}
		if text := say.FullestPartition(partition.Inferred, []detect.PartitionLoad{{}, l}); !strings.Contains(text, c.says) {
			t.Errorf("%g units, %g of one key: %s", c.units, c.share, text)
		}
	}
}
