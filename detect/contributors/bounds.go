package contributors

import (
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
)

// Decisive is the value of a minute up to which no key was over a limit in the minute's
// mean, whatever it is made of.
const Decisive = float64(detect.PartitionRead) / 1000 * seconds

const (
	// seconds are those of a minute.
	seconds = 60
	// whole is the part of a table's consumption above which keys have more than there
	// is. Both counts may put a request at a minute's edge into different minutes.
	whole = 1.02
	// over is the share of a limit above which a load is over it: the arithmetic of
	// fractions of units leaves less than what is beyond 1.
	over = 1 + 1e-9
)

// Range are the least and the most of an amount, in units a second, as the mean of a
// minute.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Bounds are what a key can have consumed.
type Bounds struct {
	WCU Range `json:"wcu"`
	RCU Range `json:"rcu"`
}

// consumed is what a table or index consumed in one minute, in units. Nothing is known
// of one that is not known.
type consumed struct {
	write, read float64
	known       bool
}

// consumedIn returns what CloudWatch says of a minute. DynamoDB publishes no data point of what
// was not consumed at all: where one of both has a point, the other one's absence is zero;
// where neither has, nothing is known.
func consumedIn(m corroboration.Minute) consumed {
	w, writes := m.Metrics[corroboration.ConsumedWrite]
	r, reads := m.Metrics[corroboration.ConsumedRead]
	return consumed{w, r, writes || reads}
}

// fits reports whether the values of all listed keys of a minute can be parts of what the
// table consumed. Where they cannot the two do not count the same, and nothing follows
// from the one for the other.
func (c consumed) fits(values float64) bool {
	return c.known && values <= whole*(detect.WritesInReads*c.write+c.read)
}

// boundsOf returns what a key's value of one minute can be made of:
//
//	W ≥ (V − R of the table) / 3, W ≤ V/3, W ≤ W of the table
//	R ≥ V − 3 × W of the table,   R ≤ V,   R ≤ R of the table
//
// Where nothing is known of the table, it may be all writes, or all reads.
func (c consumed) boundsOf(value float64) Bounds {
	w, r := Range{High: value / detect.WritesInReads}, Range{High: value}
	if c.known {
		w = Range{(value - c.read) / detect.WritesInReads, min(w.High, c.write)}
		r = Range{value - detect.WritesInReads*c.write, min(r.High, c.read)}
	}
	return Bounds{w.aSecond(), r.aSecond()}
}

// aSecond returns the mean second of a minute's amounts.
func (r Range) aSecond() Range {
	return Range{max(0, min(r.Low, r.High)) / seconds, r.High / seconds}
}

// shares returns the least and the most that a value can be of a limit, the larger of
// writes and reads deciding. What is not write is read: a value of more than both limits
// together is over one of them, whichever it is.
func (b Bounds) shares(value float64) Range {
	limit := Decisive / seconds
	value /= seconds
	low, high := detect.WritesInReads*b.WCU.Low, detect.WritesInReads*b.WCU.High
	// The part that is writes, in read units, where both dimensions are nearest to equal.
	even := min(max(value/2, low), high)
	return Range{max(even, value-even) / limit, max(high, b.RCU.High) / limit}
}

// Point is a key's value in one minute.
type Point struct {
	At    time.Time
	Value float64
}

// Series is what a rule reports of one key: a partition key or, with its sort key, an
// item. Minutes in which it is not listed are not in Points, which is not zero.
type Series struct {
	Keys   []string
	Points []Point
}

// NewSeries returns the values of a key, by the Unix time in which a minute begins.
func NewSeries(keys []string, values map[int64]float64) Series {
	s := Series{Keys: keys}
	for _, at := range slices.Sorted(maps.Keys(values)) {
		s.Points = append(s.Points, Point{detect.TimeOf(at), values[at]})
	}
	return s
}
