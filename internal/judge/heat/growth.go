package heat

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

const (
	// GrowingListed is how many growing keys a table's view lists.
	GrowingListed = 5
	// GrowthSpan is the shortest time that a forecast needs.
	GrowthSpan = detect.ForecastSpanDays * 24 * time.Hour
)

// Warm reports whether a second's load makes its key warm: only warm keys are
// followed.
func Warm(l sketch.Load) bool {
	return l.Write >= detect.ShareOf(detect.PartitionWrite, detect.TrackShare) || l.Read >= detect.ShareOf(detect.PartitionRead, detect.TrackShare)
}

// HourOf returns the beginning of a second's hour.
func HourOf(second int64) int64 { return second - second%3600 }

// HourPeak returns an hour's highest second in units.
func HourPeak(hour time.Time, l sketch.Load) forecast.HourPeak {
	return forecast.HourPeak{Hour: hour, WCU: detect.Units(l.Write), RCU: detect.Units(l.Read)}
}

// GrowthKind returns the kind of finding that a warm key is nearest to by its highest
// second.
func GrowthKind(index string, most sketch.Load) detect.Kind {
	switch {
	case most.Read > detect.WritesInReads*most.Write:
		return detect.HotKeyRead
	case index != "":
		return detect.HotGSIKey
	}
	return detect.HotKeyWrite
}

// GrowingKey returns a growing key in a view's form.
func GrowingKey(key sample.Key, most sketch.Load, f *detect.Forecast) detect.GrowingKey {
	return detect.GrowingKey{
		Key: sample.Text(key.Text), KeyType: key.Type, Forecast: *f, WCU: detect.Units(most.Write), RCU: detect.Units(most.Read),
	}
}
