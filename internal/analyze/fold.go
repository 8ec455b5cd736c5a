package analyze

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/form"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sketch"
)

// Reasons for bad samples beside those of a decoder.
const (
	// ReasonUnreadable is a sample that the source could not bring whole.
	ReasonUnreadable sample.Reason = "unreadable"
	// ReasonTooManyTables is a sample of one table or index too many.
	ReasonTooManyTables sample.Reason = "too_many_tables"
)

// fold gathers files into seconds. It is the sink of the source.
type fold struct {
	shard   *sketch.Shard
	decoder *form.ByLook
	good    int64
	bad     map[sample.Reason]int64
	gaps    []detect.Gap

	windows map[instant]*window
	keys    int // of all windows
	maxKeys int
	turn    int64 // counts the sealings
	settled int64
}

// instant is one event-time second of a table or index.
type instant struct {
	table, index string
	second       int64
}

func (i instant) compare(o instant) int {
	return cmp.Or(cmp.Compare(i.second, o.second), cmp.Compare(i.table, o.table), cmp.Compare(i.index, o.index))
}

type window struct {
	sketch.Window
	touched int64 // the sealing that added to it last
}

func newFold(maxKeys int, tables change.Tables) *fold {
	return &fold{
		shard: sketch.NewShard(config()), decoder: form.NewByLook(tables),
		bad: make(map[sample.Reason]int64), windows: make(map[instant]*window),
		maxKeys: cmp.Or(maxKeys, DefaultMaxKeys),
	}
}

// Record implements sample.Handler.
func (f *fold) Record(r *sample.Record) {
	if err := f.shard.Add(r); err != nil { // there is only one error
		f.bad[ReasonTooManyTables]++
		return
	}
	f.good++
}

// Bad implements sample.Handler.
func (f *fold) Bad(reason sample.Reason, _ []byte) { f.bad[reason]++ }

// sealAt is how many bytes the shard may hold in seconds that have left its
// ring. Sealing cuts the live seconds in two, which widens their bounds, so it
// is done seldom.
const sealAt = 32 << 20

func (f *fold) message(m source.Message) {
	if m.Fault != "" {
		f.bad[ReasonUnreadable]++
		return
	}
	f.decoder.Decode(m.Value, m.Time, f)
	if f.shard.Pending() > sealAt {
		f.seal()
	}
}

// seal merges what the shard has into the seconds, and keeps within memory.
func (f *fold) seal() {
	f.turn++
	d := sketch.NewDelta(config())
	f.shard.Seal(d)
	for i := range d.Windows {
		part := &d.Windows[i]
		at := instant{part.Table, part.Index, part.Second}
		w := f.windows[at]
		if w == nil {
			w = &window{Window: sketch.Window{Table: part.Table, Index: part.Index, Second: part.Second}}
			f.windows[at] = w
		}
		f.keys -= len(w.Keys)
		w.Merge(part)
		w.touched = f.turn
		f.keys += len(w.Keys)
	}
	f.shrink()
}

// Windows over the bound of memory are trimmed to what a verdict needs: keys
// above a hundredth of a limit, and, when that is not enough, a tenth: of these
// a table's default quota of 40,000 units leaves room for some 500 in a second.
var trims = []struct {
	share sample.Milli
	keys  int
}{{100, 1024}, {10, 1024}}

// shrink trims windows until the keys are within bounds, those first that were
// not added to for the longest time.
func (f *fold) shrink() {
	if f.keys <= f.maxKeys {
		return
	}
	order := slices.SortedFunc(maps.Keys(f.windows), func(a, b instant) int {
		return cmp.Or(cmp.Compare(f.windows[a].touched, f.windows[b].touched), a.compare(b))
	})
	for _, trim := range trims {
		floor := sketch.Load{Read: detect.PartitionRead / trim.share, Write: detect.PartitionWrite / trim.share}
		for _, at := range order {
			// Half of the bound, so that the next sealing need not trim again.
			if f.keys <= f.maxKeys/2 {
				return
			}
			w := f.windows[at]
			f.keys -= len(w.Keys)
			w.Trim(floor, trim.keys)
			f.keys += len(w.Keys)
		}
	}
}

// Claim implements source.Sink.
func (f *fold) Claim(_ context.Context, path, first string) (source.Partition, error) {
	return &file{fold: f, path: path, position: first}, nil
}

// file is one file while it is read.
type file struct {
	*fold
	path, position string
}

// Position implements source.Partition.
func (f *file) Position() string { return f.position }

// Committed implements source.Partition: nothing is ever durable here.
func (f *file) Committed() string { return "" }

// Release implements source.Partition.
func (f *file) Release(context.Context) error { return nil }

// Fold implements source.Partition.
func (f *file) Fold(ctx context.Context, b source.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.Messages != nil {
		for m := range b.Messages {
			f.message(m)
		}
	}
	f.position = b.Next
	return nil
}

// Gap implements source.Partition.
func (f *file) Gap(_ context.Context, g source.Gap) error {
	f.gaps = append(f.gaps, detect.Gap{
		Source: "file", Partition: f.path, From: g.From, To: g.To,
		Since: g.Since, Until: g.Until, Reason: g.Reason,
	})
	f.position = g.To
	return nil
}
