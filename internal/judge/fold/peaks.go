package fold

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge/heat"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// peakMemory is for how many seconds of event time a written peak is
// remembered, so that the same height is not written again.
const peakMemory = 2 * 60 * 60

// peakID is one hour of a key.
type peakID struct {
	sample.Target
	hash uint64
	hour int64
}

// openPeak is the highest second of that hour so far.
type openPeak struct {
	keyType, key string
	load         sketch.Load
	raised       bool // since it was written
}

// Peaks are the hourly peaks of warm keys; see [heat.Warm].
type Peaks struct {
	delay time.Duration
	peaks map[peakID]*openPeak
	// unsaved is the lowest sequence number of each writer in peaks that were
	// raised and not written: the cursors wait for them.
	unsaved map[string]int64
	dirty   time.Time // the database's time at the first raise not written
	newest  int64     // second
}

// NewPeaks returns no peaks; raised peaks become due after a delay.
func NewPeaks(delay time.Duration) *Peaks {
	return &Peaks{delay: delay, peaks: make(map[peakID]*openPeak), unsaved: make(map[string]int64)}
}

// Observe records the peaks of a second that is about to be stored.
func (h *Peaks) Observe(at Instant, o *OpenWindow, now time.Time) {
	h.newest = max(h.newest, at.Second)
	raised := false
	for i := range o.Window.Keys {
		k := &o.Window.Keys[i]
		if heat.Warm(k.Low) {
			raised = h.raise(at, k) || raised
		}
	}
	if !raised {
		return
	}
	if h.dirty.IsZero() {
		h.dirty = now
	}
	o.writers.hold(h.unsaved)
}

// raise reports whether the key's hour has become higher.
func (h *Peaks) raise(at Instant, k *sketch.KeyLoad) bool {
	id := peakID{at.Target, k.Hash, heat.HourOf(at.Second)}
	p := h.peaks[id]
	if p == nil {
		p = &openPeak{keyType: k.Key.Type, key: k.Key.Text}
		h.peaks[id] = p
	}
	higher := detect.MaxLoad(p.load, k.Low)
	if higher == p.load {
		return false
	}
	p.load, p.raised = higher, true
	return true
}

// Due reports whether it is time to write: a while after the first raise, or when
// an hour is over.
func (h *Peaks) Due(now time.Time) bool {
	if h.dirty.IsZero() {
		return false
	}
	// The database counts microseconds: a shorter delay is none.
	return now.Sub(h.dirty) >= h.delay.Truncate(time.Microsecond) || now.Truncate(time.Hour) != h.dirty.Truncate(time.Hour) ||
		len(h.peaks) > 8*store.DefaultWarmKeys
}

// Rows returns the raised peaks in the store's form: of each hour of a target the
// highest keys.
func (h *Peaks) Rows() []store.HourPeak {
	var rows []store.HourPeak
	for id, p := range h.peaks {
		if p.raised {
			rows = append(rows, store.HourPeak{
				Target: id.Target, Hash: id.hash, KeyType: p.keyType, Key: sample.Text(p.key),
				Hour: time.Unix(id.hour, 0).UTC(), WriteMilli: int64(p.load.Write), ReadMilli: int64(p.load.Read),
			})
		}
	}
	slices.SortFunc(rows, func(a, b store.HourPeak) int {
		weight := func(p store.HourPeak) int64 { return detect.WritesInReads*p.WriteMilli + p.ReadMilli }
		return cmp.Or(a.Target.Compare(b.Target), a.Hour.Compare(b.Hour),
			cmp.Compare(weight(b), weight(a)), cmp.Compare(a.Hash, b.Hash))
	})
	kept, n := rows[:0], 0
	for i, row := range rows {
		if n++; i == 0 || row.Target != rows[i-1].Target || !row.Hour.Equal(rows[i-1].Hour) {
			n = 1
		}
		if n <= store.DefaultWarmKeys {
			kept = append(kept, row)
		}
	}
	return kept
}

// Waiting lowers the sequence numbers that cursors wait for to the raised peaks'.
func (h *Peaks) Waiting(waiting map[string]int64) {
	for writer, seq := range h.unsaved {
		waiting[writer] = min(cmp.Or(waiting[writer], seq), seq)
	}
}

// MarkWritten drops hours that are long over, and marks the others as stored.
func (h *Peaks) MarkWritten() {
	for id, p := range h.peaks {
		if p.raised = false; id.hour+3600+peakMemory <= h.newest || len(h.peaks) > 8*store.DefaultWarmKeys {
			delete(h.peaks, id)
		}
	}
	clear(h.unsaved)
	h.dirty = time.Time{}
}
