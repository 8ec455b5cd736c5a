package detect

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Side returns the argument for a kind's side of the load: read for HotKeyRead, else
// write.
func Side[T any](k Kind, write, read T) T {
	if k == HotKeyRead {
		return read
	}
	return write
}

// Amount returns the kind's side of a load.
func Amount(k Kind, l sketch.Load) sample.Milli { return Side(k, l.Write, l.Read) }

// Units returns an amount in units.
func Units(m sample.Milli) float64 { return float64(m) / 1000 }

// Milli returns units as an amount in thousandths. It is the inverse of Units.
func Milli(u float64) sample.Milli { return sample.Milli(math.Round(u * 1000)) }

// Sub returns a without b.
func Sub(a, b sketch.Load) sketch.Load {
	return sketch.Load{Read: a.Read - b.Read, Write: a.Write - b.Write}
}

// MaxLoad returns the larger reads and the larger writes.
func MaxLoad(a, b sketch.Load) sketch.Load {
	return sketch.Load{Read: max(a.Read, b.Read), Write: max(a.Write, b.Write)}
}

// PartOf returns a part of a load.
func PartOf(l sketch.Load, part float64) sketch.Load {
	return sketch.Load{Read: ShareOf(l.Read, part), Write: ShareOf(l.Write, part)}
}

// Weight returns a load in thousandths of ConsumedThroughputUnits, in which both limits
// are equal.
func Weight(l sketch.Load) sample.Milli { return WritesInReads*l.Write + l.Read }

// Ratio returns part/whole, and 0 if whole is 0.
func Ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

// TimeOf returns the time of a second.
func TimeOf(second int64) time.Time { return time.Unix(second, 0).UTC() }

// Shards returns the number of shards that carry a peak of one second, with headroom:
//
//	max(1, ceil(peak / limit × headroom))
//
// peak is in thousandths of a unit, limit PartitionWrite or PartitionRead. Source: the
// arithmetic of AWS's "Using write sharding to distribute workloads evenly", with the
// headroom made explicit.
func Shards(peak, limit sample.Milli, headroom float64) int {
	exact := float64(peak) / float64(limit) * headroom
	// A product such as 4 × 1.5 must not become 6.000000000000001 and then 7.
	return max(1, int(math.Ceil(exact-1e-9)))
}

// Span is a range of seconds, both ends included.
type Span struct{ From, To int64 }

// maxSpans is the most ranges of seconds that a finding keeps.
const maxSpans = 64

// AddSecond adds a second to the ranges. The second must not precede their last start. If
// there is no room, the ranges stay unchanged.
func AddSecond(in []Span, second int64) []Span {
	switch n := len(in); {
	case n > 0 && second <= in[n-1].To+1:
		in[n-1].To = max(in[n-1].To, second)
	case n < maxSpans:
		in = append(in, Span{second, second})
	}
	return in
}

// countSeconds returns the total length of ranges without overlap, in seconds.
func countSeconds(in []Span) (n int) {
	for _, s := range in {
		n += int(s.To - s.From + 1)
	}
	return n
}

// SecondsOver returns the number of seconds proven above the limit; 0 if unknown.
func (f *Finding) SecondsOver() int {
	if f.OverSeconds == nil {
		return 0
	}
	return *f.OverSeconds
}

// AnyOver returns the number of seconds in which any finding's key was proven above its
// limit, and these seconds. Both are nil if they are unknown for one finding.
func AnyOver(all []*Finding) (seconds *int, in []Span) {
	for _, f := range all {
		if f.OverSeconds == nil || *f.OverSeconds != countSeconds(f.OverIn) {
			return nil, nil
		}
		in = append(in, f.OverIn...)
	}
	slices.SortFunc(in, func(x, y Span) int { return cmp.Compare(x.From, y.From) })
	joined := in[:0]
	for _, s := range in {
		if n := len(joined); n > 0 && s.From <= joined[n-1].To+1 {
			joined[n-1].To = max(joined[n-1].To, s.To)
			continue
		}
		joined = append(joined, s)
	}
	n := countSeconds(joined)
	return &n, joined
}

// Utilization returns the certain part of the limit in the highest second, of writes or of
// reads.
func (l *PartitionLoad) Utilization() float64 {
	return max(l.WCU.Low/Units(PartitionWrite), l.RCU.Low/Units(PartitionRead))
}

// HottestShare returns about which share of a limit the busiest key has.
func (l *PartitionLoad) HottestShare() float64 {
	if len(l.Busiest) == 0 {
		return 0
	}
	return l.Busiest[0].Share * max(l.WCU.Value/Units(PartitionWrite), l.RCU.Value/Units(PartitionRead))
}

// InReads reports whether a finding is about read units: of a key by its kind, of others
// by the limit of a partition that is nearer.
func (f *Finding) InReads() bool {
	if f.Kind.OfKey() {
		return f.Kind == HotKeyRead
	}
	return f.Peak.RCU.Value/Units(PartitionRead) > f.Peak.WCU.Value/Units(PartitionWrite)
}
