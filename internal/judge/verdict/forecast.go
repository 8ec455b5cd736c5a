package verdict

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
	"github.com/keyheat/keyheat/internal/judge/heat"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// keyForecast is the forecast of a finding's key, as of an hour.
type keyForecast struct {
	hour   int64
	growth *detect.Forecast
}

// PeakQuery asks for the stored peaks of one finding's key.
type PeakQuery struct {
	Fingerprint string
	store.PeakQuery
}

// Unforeseen returns the keys of observations whose forecast is to be made anew,
// once an hour of event time, each with the earliest peak that this needs.
func (s *State) Unforeseen() []PeakQuery {
	var all []PeakQuery
	at := make(map[string]int)
	for i := range s.observations {
		seen := &s.observations[i]
		f := &seen.finding
		if known, ok := s.forecasts[f.Fingerprint]; ok && known.hour == heat.HourOf(seen.newest) {
			continue
		}
		since := ForecastFrom(seen.newest)
		if i, already := at[f.Fingerprint]; already {
			if since.Before(all[i].Since) {
				all[i].Since = since
			}
			continue
		}
		at[f.Fingerprint] = len(all)
		hash := sketch.Hash(f.Target, f.PartitionKey(), s.seed)
		all = append(all, PeakQuery{f.Fingerprint, store.PeakQuery{Target: f.Target, Hash: hash, Since: since}})
	}
	return all
}

// SetPeaks records the stored peaks of a finding's key, until the next Compare.
func (s *State) SetPeaks(fingerprint string, rows []store.HourPeak) { s.rows[fingerprint] = rows }

// ForecastFrom returns the earliest peak that a forecast at a second uses.
func ForecastFrom(second int64) time.Time {
	return time.Unix(second, 0).UTC().Add(-forecast.Memory)
}

// forecastOf returns the forecast of a finding's key at the newest second of then.
func (s *State) forecastOf(f *detect.Finding, newest int64) *detect.Forecast {
	if known, ok := s.forecasts[f.Fingerprint]; ok && known.hour == heat.HourOf(newest) {
		return known.growth
	}
	next := Foresee(s.rows[f.Fingerprint], f.Kind, newest)
	if len(s.forecasts) > MaxKnown {
		clear(s.forecasts)
	}
	s.forecasts[f.Fingerprint] = keyForecast{heat.HourOf(newest), next}
	return next
}

// Foresee returns the forecast that follows from the stored peaks of a key; nil for
// none.
func Foresee(rows []store.HourPeak, k detect.Kind, newest int64) *detect.Forecast {
	from := ForecastFrom(newest)
	peaks := make([]forecast.HourPeak, 0, len(rows))
	for _, r := range rows {
		if !r.Hour.Before(from) {
			load := sketch.Load{Write: sample.Milli(r.WriteMilli), Read: sample.Milli(r.ReadMilli)}
			peaks = append(peaks, heat.HourPeak(r.Hour, load))
		}
	}
	return forecast.New(peaks, k, time.Unix(newest, 0).UTC())
}
