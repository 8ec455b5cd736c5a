package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// peakMemory is for how many seconds of event time a written peak is
// remembered, so that the same height is not written again.
const peakMemory = 2 * 60 * 60

// peakID is one hour of a key.
type peakID struct {
	target
	hash uint64
	hour int64
}

// openPeak is the highest second of that hour so far.
type openPeak struct {
	keyType, key string
	load         sketch.Load
	raised       bool // since it was written
}

// hourly are the peaks of warm keys: of those at or above a tenth of a limit.
type hourly struct {
	delay time.Duration
	peaks map[peakID]*openPeak
	// unsaved is the lowest sequence number of each writer in peaks that were
	// raised and not written: the cursors wait for them.
	unsaved map[string]int64
	dirty   time.Time // the database's time at the first raise not written
	newest  int64     // second
}

func newHourly(delay time.Duration) *hourly {
	return &hourly{delay: delay, peaks: make(map[peakID]*openPeak), unsaved: make(map[string]int64)}
}

// observe takes a second that is about to be stored.
func (h *hourly) observe(at instant, o *openWindow, now time.Time) {
	h.newest = max(h.newest, at.second)
	raised := false
	for i := range o.window.Keys {
		k := &o.window.Keys[i]
		if k.Low.Write >= detect.PartitionWrite/judgedShare || k.Low.Read >= detect.PartitionRead/judgedShare {
			raised = h.raise(at, k) || raised
		}
	}
	if !raised {
		return
	}
	if h.dirty.IsZero() {
		h.dirty = now
	}
	for writer, seq := range o.unsaved {
		h.unsaved[writer] = min(cmp.Or(h.unsaved[writer], seq), seq)
	}
}

// raise says whether the key's hour has become higher.
func (h *hourly) raise(at instant, k *sketch.KeyLoad) bool {
	id := peakID{at.target, k.Hash, at.second - at.second%3600}
	p := h.peaks[id]
	if p == nil {
		p = &openPeak{keyType: k.Key.Type, key: k.Key.Text}
		h.peaks[id] = p
	}
	higher := sketch.Load{Read: max(p.load.Read, k.Low.Read), Write: max(p.load.Write, k.Low.Write)}
	if higher == p.load {
		return false
	}
	p.load, p.raised = higher, true
	return true
}

// due says whether it is time to write: a while after the first raise, or when
// an hour is over.
func (h *hourly) due(now time.Time) bool {
	if h.dirty.IsZero() {
		return false
	}
	// The database counts microseconds: a shorter delay is none.
	return now.Sub(h.dirty) >= h.delay.Truncate(time.Microsecond) || now.Truncate(time.Hour) != h.dirty.Truncate(time.Hour) ||
		len(h.peaks) > 8*store.DefaultWarmKeys
}

// rows are the raised peaks in the store's form: of each hour of a target the
// highest keys.
func (h *hourly) rows() []store.HourPeak {
	var rows []store.HourPeak
	for id, p := range h.peaks {
		if p.raised {
			rows = append(rows, store.HourPeak{
				Table: id.table, Index: id.index, Hash: id.hash, KeyType: p.keyType, Key: p.key,
				Hour: time.Unix(id.hour, 0).UTC(), WriteMilli: int64(p.load.Write), ReadMilli: int64(p.load.Read),
			})
		}
	}
	slices.SortFunc(rows, func(a, b store.HourPeak) int {
		weight := func(p store.HourPeak) int64 { return detect.WritesInReads*p.WriteMilli + p.ReadMilli }
		return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index), a.Hour.Compare(b.Hour),
			cmp.Compare(weight(b), weight(a)), cmp.Compare(a.Hash, b.Hash))
	})
	kept, n := rows[:0], 0
	for i, row := range rows {
		if n++; i == 0 || row.Table != rows[i-1].Table || row.Index != rows[i-1].Index || !row.Hour.Equal(rows[i-1].Hour) {
			n = 1
		}
		if n <= store.DefaultWarmKeys {
			kept = append(kept, row)
		}
	}
	return kept
}

// written forgets hours long past, and notes the others as stored.
func (h *hourly) written() {
	for id, p := range h.peaks {
		if p.raised = false; id.hour+3600+peakMemory <= h.newest || len(h.peaks) > 8*store.DefaultWarmKeys {
			delete(h.peaks, id)
		}
	}
	clear(h.unsaved)
	h.dirty = time.Time{}
}

// keyForecast is what a finding's key tells of its growth, as of an hour.
type keyForecast struct {
	hour int64
	told *detect.Forecast
}

// forecastOf is made anew once an hour of event time.
func (t *term) forecastOf(ctx context.Context, f *detect.Finding) (*detect.Forecast, error) {
	hour := t.newest - t.newest%3600
	if known, ok := t.forecasts[f.Fingerprint]; ok && known.hour == hour {
		return known.told, nil
	}
	hash := sketch.Hash(f.Table, f.Index, sample.Key{Type: f.KeyType, Text: f.Key}, t.seed)
	told, err := t.forecastKey(ctx, target{f.Table, f.Index}, hash, f.Kind, time.Unix(t.newest, 0).UTC())
	if err != nil {
		return nil, err
	}
	if len(t.forecasts) > maxKnown {
		clear(t.forecasts)
	}
	t.forecasts[f.Fingerprint] = keyForecast{hour, told}
	return told, nil
}

// forecastKey follows the stored peaks of a key.
func (t *term) forecastKey(ctx context.Context, at target, hash uint64, k detect.Kind, now time.Time) (*detect.Forecast, error) {
	rows, err := t.store.HourPeaks(ctx, at.table, at.index, hash, now.Add(-forecast.Memory))
	if err != nil {
		return nil, err
	}
	peaks := make([]forecast.HourPeak, len(rows))
	for i, r := range rows {
		peaks[i] = forecast.HourPeak{Hour: r.Hour, WCU: float64(r.WriteMilli) / 1000, RCU: float64(r.ReadMilli) / 1000}
	}
	return forecast.New(peaks, k, now), nil
}
