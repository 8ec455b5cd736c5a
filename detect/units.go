package detect

import (
	"math"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Amount is the part of a load that a kind is about.
func Amount(k Kind, l sketch.Load) sample.Milli {
	if k == HotKeyRead {
		return l.Read
	}
	return l.Write
}

func Units(m sample.Milli) float64 { return float64(m) / 1000 }

// Milli is the inverse of units.
func Milli(u float64) sample.Milli { return sample.Milli(math.Round(u * 1000)) }

func Sub(a, b sketch.Load) sketch.Load {
	return sketch.Load{Read: a.Read - b.Read, Write: a.Write - b.Write}
}

func MaxLoad(a, b sketch.Load) sketch.Load {
	return sketch.Load{Read: max(a.Read, b.Read), Write: max(a.Write, b.Write)}
}

// Weight is the measure of consumed throughput, in which both limits are equal.
func Weight(l sketch.Load) sample.Milli { return WritesInReads*l.Write + l.Read }

// Ratio is 0 where there is nothing to divide by.
func Ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

func At(second int64) time.Time { return time.Unix(second, 0).UTC() }
