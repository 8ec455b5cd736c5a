package contributors

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
)

// Decisive is the largest value of a minute that is below every limit in the minute's
// mean, for any mix of reads and writes.
const Decisive = float64(detect.PartitionRead) / 1000 * seconds

const (
	seconds = 60
	// whole is the part of a table's consumption that all keys together may reach. It is
	// above 1 since the two counts may put a request at a minute's edge into different
	// minutes.
	whole = 1.02
	// over is the share of a limit that a load must exceed. The excess over 1 allows for
	// rounding of fractions of units.
	over = 1 + 1e-9
)

// Range bounds an amount in units a second, as the mean of a minute.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Bounds are the least and the most that a key can have consumed.
type Bounds struct {
	WCU Range `json:"wcu"`
	RCU Range `json:"rcu"`
	// Share is the load as a part of what one partition serves, for the larger of writes
	// and reads: 1 is the limit.
	Share Range `json:"share"`
}

// consumed is a table's or index's consumption in one minute, in units. The amounts mean
// nothing unless known.
type consumed struct {
	write, read float64
	known       bool
}

// consumedIn returns CloudWatch's consumption in a minute. DynamoDB publishes no data
// point for zero consumption: if only one metric has a point, the other one is zero. If
// neither has, nothing is known.
func consumedIn(m corroboration.Minute) consumed {
	w, writes := m.Metrics[corroboration.ConsumedWrite]
	r, reads := m.Metrics[corroboration.ConsumedRead]
	return consumed{w, r, writes || reads}
}

// fits reports whether the values of all listed keys of a minute can be parts of the
// table's consumption. If not, the two count differently, and neither bounds the other.
func (c consumed) fits(values float64) bool {
	return c.known && values <= whole*(detect.WritesInReads*c.write+c.read)
}

// boundsOf returns the writes and reads that can make up a key's value V of one minute:
//
//	W ≥ (V − R of the table) / 3, W ≤ V/3, W ≤ W of the table
//	R ≥ V − 3 × W of the table,   R ≤ V,   R ≤ R of the table
//
// If the table's consumption is unknown, the value may be all writes, or all reads.
func (c consumed) boundsOf(value float64) Bounds {
	w, r := Range{High: value / detect.WritesInReads}, Range{High: value}
	if c.known {
		w = Range{(value - c.read) / detect.WritesInReads, min(w.High, c.write)}
		r = Range{value - detect.WritesInReads*c.write, min(r.High, c.read)}
	}
	b := Bounds{WCU: w.meanSecond(), RCU: r.meanSecond()}
	b.Share = b.shareOf(value / seconds)
	return b
}

func (r Range) meanSecond() Range {
	return Range{max(0, min(r.Low, r.High)) / seconds, r.High / seconds}
}

// shareOf returns the least and the most that a second's value can be of a limit, for the
// larger of writes and reads. Each unit is a write or a read, so a value above both limits
// together is over at least one.
func (b Bounds) shareOf(value float64) Range {
	limit := Decisive / seconds
	low, high := detect.WritesInReads*b.WCU.Low, detect.WritesInReads*b.WCU.High
	// The part of writes, in read units, with both dimensions as equal as possible.
	even := min(max(value/2, low), high)
	return Range{max(even, value-even) / limit, max(high, b.RCU.High) / limit}
}
