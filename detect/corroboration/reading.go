package corroboration

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// State is how the last attempt to read CloudWatch ended.
type State string

// The states. The empty one means that it was not asked yet.
const (
	Read   State = "read"
	NoData State = "no_data" // the request succeeded, and told nothing
	Denied State = "denied"
	Failed State = "failed"
)

// Reading is what CloudWatch said of a table or index.
type Reading struct {
	// State is that of the last attempt, Message what was wrong with it.
	State   State
	Message string
	// Through is the end of the last minute that was asked for with success; zero
	// for none.
	Through time.Time
	// Minutes are those with data, in the order of time.
	Minutes []Minute
	// Use is what CloudWatch counted of an index over days; the zero Use where that is
	// not known.
	Use Use

	coverage *Coverage // once it was asked for: every finding of the target asks
}

// Minute is what is known of one minute. A metric without a data point is not in
// Metrics: that is not zero.
type Minute struct {
	At      time.Time
	Metrics map[detect.Metric]float64
	// Sampled is what the samples say was consumed, in units; nil where they do
	// not cover the minute.
	Sampled *Units
}

// Units are write and read units of one minute.
type Units struct{ Write, Read float64 }

// side is one dimension of the load: the metrics that are about writes, or reads.
type side struct {
	consumed, throttled, keyRange detect.Metric
	others                        []otherCause
	sampled                       func(Units) float64
	includes                      func(sample.Op) bool
	noun                          string
}

// otherCause is a throttle metric that is not about a partition.
type otherCause struct {
	metric detect.Metric
	name   string
}

var (
	writes = side{
		ConsumedWrite, WriteThrottles, WriteKeyRangeThrottles,
		[]otherCause{
			{WriteProvisionedThrottles, "provisioned throughput"},
			{WriteAccountThrottles, "the account's limit"},
			{WriteOnDemandThrottles, "the on-demand maximum"},
		},
		func(u Units) float64 { return u.Write }, sample.Op.IsWrite, "write",
	}
	reads = side{
		ConsumedRead, ReadThrottles, ReadKeyRangeThrottles,
		[]otherCause{
			{ReadProvisionedThrottles, "provisioned throughput"},
			{ReadAccountThrottles, "the account's limit"},
			{ReadOnDemandThrottles, "the on-demand maximum"},
		},
		func(u Units) float64 { return u.Read }, sample.Op.IsRead, "read",
	}
)

// sideOf returns the dimension that a kind is about.
func sideOf(k detect.Kind) side { return detect.Side(k, writes, reads) }

// minutesBetween returns the minutes from one time to another, both included.
func (r *Reading) minutesBetween(from, to time.Time) (minutes []Minute) {
	from, to = from.Truncate(time.Minute), to.Truncate(time.Minute)
	for _, m := range r.Minutes {
		if !m.At.Before(from) && !m.At.After(to) {
			minutes = append(minutes, m)
		}
	}
	return minutes
}

// sum adds up a metric; known reports whether any minute has it.
func sum(minutes []Minute, of detect.Metric) (all float64, known bool) {
	for _, m := range minutes {
		if v, has := m.Metrics[of]; has {
			all, known = all+v, true
		}
	}
	return all, known
}
