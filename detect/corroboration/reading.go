package corroboration

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// State is the outcome of the last attempt to read CloudWatch.
type State string

// The states. The empty one means that Keyheat has not asked yet.
const (
	Read   State = "read"
	NoData       = State(detect.UnreadNoData) // the request succeeded without data
	Denied       = State(detect.UnreadDenied)
	Failed       = State(detect.UnreadFailed)
)

// Reading is the metrics of a table or index, as read from CloudWatch.
type Reading struct {
	// State is the outcome of the last attempt, Message its error.
	State   State
	Message string
	// Through is the end of the last minute that was read with success; zero for none.
	Through time.Time
	// Minutes are the minutes with data, in the order of time.
	Minutes []Minute

	coverage *Coverage // kept, since every finding of the target needs it
}

// Minute is the data of one minute. Metrics omits a metric without a data point: that is
// not zero.
type Minute struct {
	At      time.Time
	Metrics map[detect.Metric]float64
	// Sampled is the consumption in the samples, in units; nil if they do not cover the
	// minute.
	Sampled *Units
}

// Units are write and read units of one minute.
type Units struct{ Write, Read float64 }

// side is one side of the load: the metrics about writes, or about reads.
type side struct {
	consumed, throttled, keyRange detect.Metric
	others                        []otherReason
	sampled                       func(Units) float64
}

// otherReason is a throttle metric that is not about a partition.
type otherReason struct {
	metric detect.Metric
	ground detect.Ground
	reason sample.ThrottleReason
}

var (
	writes = side{
		ConsumedWrite, WriteThrottles, WriteKeyRangeThrottles,
		[]otherReason{
			{WriteProvisionedThrottles, detect.GroundProvisioned, sample.Provisioned},
			{WriteAccountThrottles, detect.GroundAccountQuota, sample.AccountLimit},
			{WriteOnDemandThrottles, detect.GroundOwnMaximum, sample.MaxOnDemand},
		},
		func(u Units) float64 { return u.Write },
	}
	reads = side{
		ConsumedRead, ReadThrottles, ReadKeyRangeThrottles,
		[]otherReason{
			{ReadProvisionedThrottles, detect.GroundProvisioned, sample.Provisioned},
			{ReadAccountThrottles, detect.GroundAccountQuota, sample.AccountLimit},
			{ReadOnDemandThrottles, detect.GroundOwnMaximum, sample.MaxOnDemand},
		},
		func(u Units) float64 { return u.Read },
	}
)

func sideOf(f *detect.Finding) side { return detect.SideOf(f, writes, reads) }

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
func sum(minutes []Minute, metric detect.Metric) (all float64, known bool) {
	for _, m := range minutes {
		if v, has := m.Metrics[metric]; has {
			all, known = all+v, true
		}
	}
	return all, known
}

// mostCounted is far more than any table has in a minute, and small enough for exact
// sums.
const mostCounted = 1e12

// Countable reports whether a value may be the sum of a minute: a number from 0 to far
// more than any table can have.
func Countable(v float64) bool { return v >= 0 && v <= mostCounted }

// The metrics of a table, or of a global index.
const (
	ConsumedWrite detect.Metric = "ConsumedWriteCapacityUnits"
	ConsumedRead  detect.Metric = "ConsumedReadCapacityUnits"

	WriteThrottles detect.Metric = "WriteThrottleEvents"
	ReadThrottles  detect.Metric = "ReadThrottleEvents"

	WriteKeyRangeThrottles    detect.Metric = "WriteKeyRangeThroughputThrottleEvents"
	ReadKeyRangeThrottles     detect.Metric = "ReadKeyRangeThroughputThrottleEvents"
	WriteProvisionedThrottles detect.Metric = "WriteProvisionedThroughputThrottleEvents"
	ReadProvisionedThrottles  detect.Metric = "ReadProvisionedThroughputThrottleEvents"
	WriteAccountThrottles     detect.Metric = "WriteAccountLimitThrottleEvents"
	ReadAccountThrottles      detect.Metric = "ReadAccountLimitThrottleEvents"
	WriteOnDemandThrottles    detect.Metric = "WriteMaxOnDemandThroughputThrottleEvents"
	ReadOnDemandThrottles     detect.Metric = "ReadMaxOnDemandThroughputThrottleEvents"
)
