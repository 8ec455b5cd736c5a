package detect

import (
	"math"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Side returns the argument for a subject's side of the load: read for KeyReads, else
// write.
func Side[T any](s Subject, write, read T) T {
	if s == KeyReads {
		return read
	}
	return write
}

// Amount returns the subject's side of a load.
func Amount(s Subject, l sketch.Load) sample.Milli { return Side(s, l.Write, l.Read) }

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

// RateBelow rounds a rate down to two significant digits, as people set limits: 899 gives 890.
func RateBelow(units float64) float64 {
	if units <= 0 {
		return units
	}
	step := math.Pow(10, math.Floor(math.Log10(units))-1)
	return math.Floor(units/step+1e-9) * step
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

// BoolToInt returns 1 for true, so that false comes first in an order.
func BoolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
