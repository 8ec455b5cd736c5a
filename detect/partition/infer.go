package partition

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
)

// Listed is a stream shard as a listing shows it: the changes of one partition, for some
// hours.
type Listed struct {
	// Name is the shard's name, Parent the name of the shard that
	// it continues.
	Name, Parent string
	// Stream is the stream of the shard. A table can have had several.
	Stream string
	// Open reports that the shard still takes changes.
	Open bool
	// Ended is when a shard that is not open was read to its end, Observed what it
	// delivered; nil if there is no news.
	Ended    time.Time
	Observed *Observed
}

// Update brings a map up to date with the listed shards of the table's streams. A newer
// stream begins the map anew.
func (m *Map) Update(shards []Listed, now time.Time) {
	newest := m.Stream
	for _, s := range shards {
		newest = max(newest, s.Stream)
	}
	if newest != m.Stream {
		before := m.kept
		*m = *New(before.Shared)
		m.Stream, m.Revision, m.Edges = newest, before.Revision, before.Edges
	}
	ordered := parentsFirst(shards, newest)
	m.openAll(ordered, now)
	m.observe(ordered, now)
	m.Dissolve(now)
	m.scoreForecasts(now)
	m.State(now) // a refuted map withdraws here, not when somebody looks
	m.revise()
}

// revise counts a change of the edges between partitions.
func (m *Map) revise() {
	if edges := m.Cuts(); !slices.Equal(edges, m.Edges) {
		m.Edges = edges
		m.Revision++
	}
}

// observe adds what shards delivered, and ends the closed ones. A cell of the key space
// counts for the first shard with a key of it, and only open shards are evidence: so the
// children come before their parents.
func (m *Map) observe(parentsFirst []Listed, now time.Time) {
	for _, s := range slices.Backward(parentsFirst) {
		if s.Observed != nil {
			m.Observe(s.Name, s.Observed, now)
		}
		if !s.Open {
			m.End(s.Name, s.Ended)
		}
	}
}

// Delivered is what one shard delivered to a reader of a whole stream.
type Delivered struct {
	observed Observed
	target   detect.Target
	last     int64 // the newest record's time
	// load is of the newest second. peak is the highest one, of peakSecond, and late the load
	// of all records that came after a newer second began.
	second, peakSecond int64
	load, peak, late   sample.Milli
}

// Add counts a change of a table's item.
func (d *Delivered) Add(r *sample.Record) {
	d.addLoad(r)
	if first, _, ok := position.Range(r.PK, r.Place); ok {
		d.observed.Add(first)
	}
	d.target, d.last = r.Target(), max(d.last, r.Time)
}

// addLoad measures the shard's highest second.
func (d *Delivered) addLoad(r *sample.Record) {
	_, write := r.Load()
	switch second := r.Time / 1000; {
	case second < d.second:
		d.late += write
		return
	case second > d.second:
		d.second, d.load = second, 0
	}
	if d.load += write; d.load > d.peak {
		d.peak, d.peakSecond = d.load, d.second
	}
}

// AddShardLoads adds the load of each open shard in its highest second. It needs no position of
// a key, because each record names its shard.
func (v *View) AddShardLoads(delivered map[string]*Delivered) {
	for i := range v.Partitions {
		p := &v.Partitions[i]
		if d := delivered[p.Shard]; d != nil && d.peak > 0 {
			p.WCU, p.WritePeak = figure(d.peak, d.peak, d.peak+d.late), time.Unix(d.peakSecond, 0).UTC()
		}
	}
}

// Infer returns the map of the table whose streams delivered these changes. It takes the
// newest stream. m is nil if it delivered nothing. facts returns the settings of a table;
// nil if none are known.
func Infer(shards []Listed, delivered map[string]*Delivered, facts func(detect.Target) *detect.TableFacts, now time.Time) (m *Map, target detect.Target) {
	newest := ""
	for _, s := range shards {
		newest = max(newest, s.Stream)
		if d := delivered[s.Name]; d != nil {
			target = cmp.Or(target, d.target)
		}
	}
	if target == (detect.Target{}) {
		return nil, target
	}
	m = New(facts(target).MayHaveSortKey())
	ordered := parentsFirst(shards, newest)
	for i := range ordered {
		s := &ordered[i]
		d := cmp.Or(delivered[s.Name], &Delivered{})
		s.Observed, s.Ended = &d.observed, time.UnixMilli(d.last).UTC()
		m.Open(s.Name, s.Parent, now)
	}
	m.observe(ordered, now)
	m.Dissolve(now.Add(SettleTime))
	if m.trust.isRefuted() { // no key comes later, for ranges that begin anew
		m.trust.Withdrawn = []time.Time{now}
	}
	// A shard without a record, such as an idle one, does not show when it was split.
	m.kept.Splits = slices.DeleteFunc(m.kept.Splits, func(split detect.PartitionSplit) bool { return split.At.Unix() == 0 })
	m.revise()
	return m, target
}

// parentsFirst returns the shards of a stream so that each comes after the shard that it continues.
func parentsFirst(shards []Listed, stream string) (ordered []Listed) {
	byParent, known := map[string][]Listed{}, map[string]bool{}
	for _, s := range shards {
		known[s.Name] = s.Stream == stream
	}
	for _, s := range shards {
		if !known[s.Parent] {
			s.Parent = "" // it expired
		}
		if known[s.Name] {
			byParent[s.Parent] = append(byParent[s.Parent], s)
		}
	}
	ordered = byParent[""]
	for i := 0; i < len(ordered); i++ {
		ordered = append(ordered, byParent[ordered[i].Name]...)
	}
	return ordered
}
