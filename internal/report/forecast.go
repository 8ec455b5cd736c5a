package report

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// forecast is that of a finding's key, as of an hour.
type forecast struct {
	hour   int64
	growth *detect.Forecast
}

// peakQuery asks for the stored peaks of one finding's key.
type peakQuery struct {
	fingerprint string
	target      sample.Target
	hash        uint64
	since       time.Time
}

// unforeseen are the keys of sightings whose forecast has to be made anew, once
// an hour of event time, each with the earliest peak that this needs.
func (s *state) unforeseen() []peakQuery {
	var all []peakQuery
	at := make(map[string]int)
	for i := range s.sightings {
		seen := &s.sightings[i]
		f := &seen.finding
		if known, ok := s.forecasts[f.Fingerprint]; ok && known.hour == hourOf(seen.newest) {
			continue
		}
		since := forecastFrom(seen.newest)
		if i, already := at[f.Fingerprint]; already {
			if since.Before(all[i].since) {
				all[i].since = since
			}
			continue
		}
		at[f.Fingerprint] = len(all)
		all = append(all, peakQuery{
			fingerprint: f.Fingerprint, target: sample.Target{Table: f.Table, Index: f.Index}, since: since,
			hash: sketch.Hash(f.Table, f.Index, sample.Key{Type: f.KeyType, Text: f.Key}, s.seed),
		})
	}
	return all
}

// hourOf is the beginning of a second's hour.
func hourOf(second int64) int64 { return second - second%3600 }

// forecastFrom is the earliest peak that a forecast at a second uses.
func forecastFrom(second int64) time.Time {
	return time.Unix(second, 0).UTC().Add(-detect.ForecastMemory)
}

// forecastOf is the forecast of a finding's key at the newest second of then.
func (s *state) forecastOf(f *detect.Finding, newest int64) *detect.Forecast {
	if known, ok := s.forecasts[f.Fingerprint]; ok && known.hour == hourOf(newest) {
		return known.growth
	}
	growth := foresee(s.peaks[f.Fingerprint], f.Kind, newest)
	if len(s.forecasts) > maxKnown {
		clear(s.forecasts)
	}
	s.forecasts[f.Fingerprint] = forecast{hourOf(newest), growth}
	return growth
}

// foresee follows the stored peaks of a key.
func foresee(rows []store.HourPeak, k detect.Kind, newest int64) *detect.Forecast {
	from := forecastFrom(newest)
	peaks := make([]detect.HourPeak, 0, len(rows))
	for _, r := range rows {
		if !r.Hour.Before(from) {
			peaks = append(peaks, detect.HourPeak{
				Hour: r.Hour, WCU: float64(r.WriteMilli) / 1000, RCU: float64(r.ReadMilli) / 1000,
			})
		}
	}
	return detect.NewForecast(peaks, k, time.Unix(newest, 0).UTC())
}
