package say_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
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
