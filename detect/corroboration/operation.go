package corroboration

import (
	"fmt"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
)

// Operations are those that a table's metrics by operation are read of: all that read or
// write by their name. PartiQL's three are left out: a fixed list is paid whether a table
// has such requests or not, and their names do not tell reads from writes.
var Operations = []sample.Op{
	sample.GetItem, sample.BatchGetItem, sample.Query, sample.Scan, sample.TransactGetItems,
	sample.PutItem, sample.UpdateItem, sample.DeleteItem, sample.BatchWriteItem, sample.TransactWriteItems,
}

// ByOperation is a figure of one operation on a table. DynamoDB has none of an index: its
// requests are those of its table.
type ByOperation struct {
	// Name is DynamoDB's name of the metric.
	Name      string
	Operation sample.Op
	// Statistic is how the minute's requests are summed up.
	Statistic string
}

// ThrottledMetric is how many requests of an operation were throttled. A batch counts once all
// of its items were.
func ThrottledMetric(op sample.Op) ByOperation { return ByOperation{"ThrottledRequests", op, "Sum"} }

// Latency is how long successful requests of an operation took on average, in
// milliseconds within DynamoDB: the network and the client are not in it.
func Latency(op sample.Op) ByOperation {
	return ByOperation{"SuccessfulRequestLatency", op, "Average"}
}

// MaxLatency is how long the longest successful request of an operation took, in
// milliseconds.
func MaxLatency(op sample.Op) ByOperation {
	return ByOperation{"SuccessfulRequestLatency", op, "Maximum"}
}

// Metric returns the name that a minute's figure has, such as
// SuccessfulRequestLatency/PutItem/Average.
func (b ByOperation) Metric() detect.Metric {
	return detect.Metric(b.Name + "/" + b.Operation.String() + "/" + b.Statistic)
}

// ParseByOperation returns what a metric is by operation; ok is false of one that is not.
func ParseByOperation(m detect.Metric) (b ByOperation, ok bool) {
	parts := strings.Split(string(m), "/")
	if len(parts) != 3 {
		return b, false
	}
	op, ok := sample.ParseOp(parts[1])
	return ByOperation{parts[0], op, parts[2]}, ok
}

// operationsOf returns a minute's figures by operation, in the order of Operations; nil
// where it has none.
func operationsOf(m Minute) (all []detect.OperationMinute) {
	figure := func(b ByOperation) *float64 {
		if v, has := m.Metrics[b.Metric()]; has {
			return &v
		}
		return nil
	}
	for _, op := range Operations {
		o := detect.OperationMinute{
			Operation: op.String(), Throttled: figure(ThrottledMetric(op)), Latency: figure(Latency(op)), MaxLatency: figure(MaxLatency(op)),
		}
		if o.Throttled != nil || o.Latency != nil || o.MaxLatency != nil {
			all = append(all, o)
		}
	}
	return all
}

// atPeak returns the figures by operation of the minute of a finding's highest second.
func atPeak(f *detect.Finding, r *Reading) []detect.OperationMinute {
	for _, m := range r.minutesBetween(f.Peak.At, f.Peak.At) {
		return operationsOf(m)
	}
	return nil
}

// lately returns the figures by operation of the newest minute that is complete, and
// when that was; none where it is not of the last minutes.
func lately(r *Reading) (all []detect.OperationMinute, at time.Time) {
	final := r.Through.Add(-Delay)
	for _, m := range r.minutesBetween(final.Add(-recentMinutes*time.Minute), final) {
		if of := operationsOf(m); of != nil {
			all, at = of, m.At
		}
	}
	return all, at
}

// wordsOf says figures by operation, of those that are wanted; empty where there is
// nothing to say.
func wordsOf(all []detect.OperationMinute, wanted func(sample.Op) bool) string {
	var throttled, took []string
	for _, o := range all {
		if op, _ := sample.ParseOp(o.Operation); !wanted(op) {
			continue
		}
		if o.Throttled != nil {
			n := "no"
			if *o.Throttled > 0 {
				n = count(*o.Throttled)
			}
			throttled = append(throttled, n+" "+o.Operation)
		}
		if o.Latency != nil && o.MaxLatency != nil {
			took = append(took, fmt.Sprintf("%s requests took %s ms on average, %s ms at most", o.Operation, wording.About(*o.Latency), wording.About(*o.MaxLatency)))
		}
	}
	var said []string
	if len(throttled) > 0 {
		said = append(said, "DynamoDB throttled "+wording.List(throttled)+" requests")
	}
	if len(took) > 0 {
		said = append(said, "successful "+strings.Join(took, "; "))
	}
	return strings.Join(said, "; ")
}
