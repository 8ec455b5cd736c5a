package fold

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Bucket is a level's bucket of a target; Begins is in Unix seconds.
type Bucket struct {
	sample.Target
	Level  rollup.Level
	Begins int64
}

func (b Bucket) end() int64 { return b.Begins + int64(b.Level) }

// enclosing returns the bucket of a level that holds this one.
func (b Bucket) enclosing(level rollup.Level) Bucket {
	return Bucket{b.Target, level, level.Begin(b.Begins)}
}

func (b Bucket) compare(o Bucket) int {
	return cmp.Or(b.Target.Compare(o.Target), cmp.Compare(b.Level, o.Level), cmp.Compare(b.Begins, o.Begins))
}

// openTen are the seconds of a bucket of the lowest level, until it is written.
type openTen struct {
	seconds [rollup.TenSeconds]*rollup.Rollup // nil where there is none
	writers writers
}

// maxOpenTens bounds the open buckets of the lowest level. Beyond it they are written
// before they are over, and again then.
const maxOpenTens = 16 << 10

// level is a target's buckets of one level.
type level struct {
	sample.Target
	rollup.Level
}

// Heat holds the unwritten roll-ups. Ten-second roll-ups are made of the seconds in
// memory, for which cursors wait, or of stored ones; higher levels of the stored ones
// below. So a judge that begins anew makes the same.
type Heat struct {
	open map[Bucket]*openTen
	// changed are the buckets above the lowest level whose parts have changed since
	// they were written.
	changed map[Bucket]bool
	// newest is the newest bucket that may be stored.
	newest map[level]int64
	// due and its order are the next writing, stored the stored rows of it and of its
	// parts.
	due    map[Bucket]*rollup.Rollup
	order  []Bucket
	stored map[Bucket]*rollup.Rollup
}

// NewHeat returns no open roll-ups; spans are the stored spans. [Heat.UnfinishedRollups]
// returns the other rows that are needed to continue.
func NewHeat(spans []store.RollupSpan) *Heat {
	h := &Heat{open: make(map[Bucket]*openTen), changed: make(map[Bucket]bool), newest: make(map[level]int64)}
	for _, s := range spans {
		h.newest[level{s.Target, rollup.Level(s.Level)}] = s.Newest.Unix()
	}
	return h
}

// UnfinishedRollups returns queries of stored roll-ups whose next level was not written,
// because it was not over.
func (h *Heat) UnfinishedRollups() (all []store.RollupQuery) {
	for at, newest := range h.newest {
		i := slices.Index(rollup.Levels, at.Level)
		if i < 0 || i+1 == len(rollup.Levels) {
			continue
		}
		above := rollup.Levels[i+1]
		var from time.Time
		if written, any := h.newest[level{at.Target, above}]; any {
			if written == above.Begin(newest) {
				continue
			}
			from = time.Unix(written+int64(above), 0)
		}
		all = append(all, store.RollupQuery{Target: at.Target, Level: int64(at.Level), From: from, To: time.Unix(newest+1, 0)})
	}
	slices.SortFunc(all, func(a, b store.RollupQuery) int {
		return cmp.Or(a.Target.Compare(b.Target), cmp.Compare(a.Level, b.Level))
	})
	return all
}

// Finish has the level above of stored roll-ups written when it is over.
func (h *Heat) Finish(rows []store.Rollup) {
	for _, row := range rows {
		h.change(Bucket{row.Target, rollup.Level(row.Level), row.Begins.Unix()})
	}
}

// change marks the bucket above one that is written.
func (h *Heat) change(b Bucket) {
	if i := slices.Index(rollup.Levels, b.Level); i+1 < len(rollup.Levels) {
		h.changed[b.enclosing(rollup.Levels[i+1])] = true
	}
}

// Missing returns the buckets of closing seconds that are not open and may have earlier
// stored seconds: newest returns a target's newest stored second.
func (h *Heat) Missing(closing []Instant, newest func(sample.Target) (int64, bool)) (all []Bucket) {
	for _, at := range closing {
		b := tenOf(at)
		if h.open[b] != nil || len(all) > 0 && all[len(all)-1] == b {
			continue
		}
		if last, known := newest(at.Target); !known || last >= b.Begins {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, Bucket.compare)
	return slices.Compact(all)
}

func tenOf(at Instant) Bucket {
	return Bucket{at.Target, rollup.TenSeconds, rollup.TenSeconds.Begin(at.Second)}
}

// Reopen takes the stored seconds of a bucket into memory.
func (h *Heat) Reopen(b Bucket, rows []store.Window) error {
	for _, row := range rows {
		w, err := Sketch(row)
		if err != nil {
			return err
		}
		h.openBucket(b).seconds[row.Second.Unix()-b.Begins] = rollup.OfSecond(&w, row.Complete)
	}
	return nil
}

func (h *Heat) openBucket(b Bucket) *openTen {
	o := h.open[b]
	if o == nil {
		o = &openTen{}
		h.open[b] = o
	}
	return o
}

// Observe records a second that is about to be stored, in place of its earlier state.
func (h *Heat) Observe(at Instant, w *OpenWindow, hz Horizon) {
	b := tenOf(at)
	o := h.openBucket(b)
	_, complete := hz.IsOver(at.Second)
	o.seconds[at.Second-b.Begins] = rollup.OfSecond(&w.Window, complete)
	for _, held := range w.writers {
		if held.unsaved != 0 {
			o.writers.writer(held.name).wait(held.unsaved)
		}
	}
}

// MissingRollups chooses the next writing, and returns queries of the rows it needs: the
// roll-ups that it replaces, and its parts.
func (h *Heat) MissingRollups(hz Horizon) (all []store.RollupQuery) {
	h.due, h.order, h.stored = make(map[Bucket]*rollup.Rollup), nil, make(map[Bucket]*rollup.Rollup)
	for b := range h.open {
		if h.isDue(b, hz) || len(h.open) > maxOpenTens {
			h.due[b] = nil
		}
	}
	changed := maps.Clone(h.changed)
	for i, l := range rollup.Levels {
		for b := range h.due {
			if i > 0 && b.Level == rollup.Levels[i-1] {
				changed[b.enclosing(l)] = true
			}
		}
		for b := range changed {
			if b.Level == l && h.isDue(b, hz) {
				h.due[b] = nil
			}
		}
	}
	h.order = slices.SortedFunc(maps.Keys(h.due), func(a, b Bucket) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), a.compare(b))
	})
	for _, b := range h.order {
		if newest, any := h.newest[level{b.Target, b.Level}]; any && newest >= b.Begins {
			all = append(all, store.RollupQuery{Target: b.Target, Level: int64(b.Level), From: unix(b.Begins), To: unix(b.Begins + 1)})
		}
		below := b.Level.PartLevel()
		if newest, any := h.newest[level{b.Target, below}]; any && newest >= b.Begins {
			all = append(all, store.RollupQuery{Target: b.Target, Level: int64(below), From: unix(b.Begins), To: unix(b.end())})
		}
	}
	return all
}

func unix(second int64) time.Time { return time.Unix(second, 0).UTC() }

// isDue reports whether a bucket is over, or was written already.
func (h *Heat) isDue(b Bucket, hz Horizon) bool {
	newest, any := h.newest[level{b.Target, b.Level}]
	return b.end() <= hz.Over || any && b.Begins <= newest
}

// SetStored takes the loaded rows. An unreadable roll-up counts as missing: the judge
// does not stop for a picture.
func (h *Heat) SetStored(rows []store.Rollup) {
	for _, row := range rows {
		var r rollup.Rollup
		if err := r.UnmarshalBinary(row.Body); err == nil {
			h.stored[Bucket{row.Target, rollup.Level(row.Level), row.Begins.Unix()}] = &r
		}
	}
}

// Rows returns the due roll-ups in the store's form.
func (h *Heat) Rows() ([]store.Rollup, error) {
	rows := make([]store.Rollup, 0, len(h.order))
	for _, b := range h.order {
		r := h.make(b)
		// Where parts are no longer kept, such as seconds for a late one.
		if before := h.stored[b]; before != nil && before.Seconds > r.Seconds {
			r.Raise(before)
		}
		r.Trim()
		h.due[b] = r
		body, err := r.MarshalBinary()
		if err != nil {
			return nil, fmt.Errorf("write the roll-up of %s: %w", b.Name(), err)
		}
		rows = append(rows, store.Rollup{Target: b.Target, Level: int64(b.Level), Begins: unix(b.Begins), Body: body})
	}
	return rows, nil
}

// make adds up the parts of a bucket, in the order of time.
func (h *Heat) make(b Bucket) *rollup.Rollup {
	sum := &rollup.Rollup{}
	if b.Level == rollup.TenSeconds {
		for _, second := range h.open[b].seconds {
			if second != nil {
				sum.Add(second)
			}
		}
		return sum
	}
	below := b.Level.PartLevel()
	for begins := b.Begins; begins < b.end(); begins += int64(below) {
		part := Bucket{b.Target, below, begins}
		if r := h.due[part]; r != nil {
			sum.Add(r)
		} else if r := h.stored[part]; r != nil {
			sum.Add(r)
		}
	}
	return sum
}

// Waiting lowers the sequence numbers that cursors wait for to the numbers of buckets
// that are not due.
func (h *Heat) Waiting(waiting map[string]int64) {
	for b, o := range h.open {
		if _, due := h.due[b]; !due {
			o.writers.hold(waiting)
		}
	}
}

// MarkWritten releases the stored roll-ups.
func (h *Heat) MarkWritten() {
	for _, b := range h.order {
		at := level{b.Target, b.Level}
		if newest, any := h.newest[at]; !any || newest < b.Begins {
			h.newest[at] = b.Begins
		}
		delete(h.open, b)
		h.change(b)
	}
	for _, b := range h.order {
		delete(h.changed, b) // the levels above, in the same writing
	}
	h.due, h.order, h.stored = nil, nil, nil
}
