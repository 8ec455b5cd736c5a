package detect

import (
	"math"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// amount is the part of a load that a kind is about.
func amount(k Kind, l sketch.Load) sample.Milli {
	if k == HotKeyRead {
		return l.Read
	}
	return l.Write
}

func units(m sample.Milli) float64 { return float64(m) / 1000 }

// milli is the inverse of units.
func milli(u float64) sample.Milli { return sample.Milli(math.Round(u * 1000)) }

func less(a, b sketch.Load) sketch.Load {
	return sketch.Load{Read: a.Read - b.Read, Write: a.Write - b.Write}
}

func higher(a, b sketch.Load) sketch.Load {
	return sketch.Load{Read: max(a.Read, b.Read), Write: max(a.Write, b.Write)}
}

// weight is the measure of consumed throughput, in which both limits are equal.
func weight(l sketch.Load) sample.Milli { return WritesInReads*l.Write + l.Read }

// ratio is 0 where there is nothing to divide by.
func ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}

func at(second int64) time.Time { return time.Unix(second, 0).UTC() }
