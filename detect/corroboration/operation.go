package corroboration

import (
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Operations are the operations whose metrics Keyheat reads: all whose names tell reads
// from writes. PartiQL's three are left out. A fixed list costs the same for tables
// without such requests, and their names do not tell reads from writes.
var Operations = []sample.Op{
	sample.GetItem, sample.BatchGetItem, sample.Query, sample.Scan, sample.TransactGetItems,
	sample.PutItem, sample.UpdateItem, sample.DeleteItem, sample.BatchWriteItem, sample.TransactWriteItems,
}

// OperationMetric is a metric of one operation on a table. DynamoDB has none for an
// index: its requests count for its table.
type OperationMetric struct {
	// Name is DynamoDB's name of the metric.
	Name      string
	Operation sample.Op
	// Statistic is the sum, mean or maximum over the minute's requests, in CloudWatch's
	// words.
	Statistic string
}

// ThrottledMetric counts an operation's throttled requests. A batch counts only if all of
// its items were throttled.
func ThrottledMetric(op sample.Op) OperationMetric {
	return OperationMetric{"ThrottledRequests", op, "Sum"}
}

// Latency is the mean time of an operation's successful requests, in milliseconds within
// DynamoDB: it excludes the network and the client.
func Latency(op sample.Op) OperationMetric {
	return OperationMetric{"SuccessfulRequestLatency", op, "Average"}
}

// MaxLatency is the time of an operation's longest successful request, in milliseconds.
func MaxLatency(op sample.Op) OperationMetric {
	return OperationMetric{"SuccessfulRequestLatency", op, "Maximum"}
}

// Metric returns the name of a minute's figure, such as
// SuccessfulRequestLatency/PutItem/Average.
func (b OperationMetric) Metric() detect.Metric {
	return detect.Metric(b.Name + "/" + b.Operation.String() + "/" + b.Statistic)
}

// ParseOperationMetric parses the name of a metric by operation; ok is false for other
// metrics.
func ParseOperationMetric(m detect.Metric) (b OperationMetric, ok bool) {
	parts := strings.Split(string(m), "/")
	if len(parts) != 3 {
		return b, false
	}
	op, ok := sample.ParseOp(parts[1])
	return OperationMetric{parts[0], op, parts[2]}, ok
}

// operationsOf returns a minute's figures by operation, in the order of Operations; nil
// if it has none.
func operationsOf(m Minute) (all []detect.OperationMinute) {
	figure := func(b OperationMetric) *float64 {
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

// peakOperations returns the figures by operation for the minute of a finding's highest
// second.
func peakOperations(f *detect.Finding, r *Reading) []detect.OperationMinute {
	for _, m := range r.minutesBetween(f.Peak.At, f.Peak.At) {
		return operationsOf(m)
	}
	return nil
}

// latestOperations returns the figures by operation of the newest complete minute, and
// its time. It returns none if the minute is not among the last recentMinutes.
func latestOperations(r *Reading) (all []detect.OperationMinute, at time.Time) {
	final := r.Through.Add(-Delay)
	for _, m := range r.minutesBetween(final.Add(-recentMinutes*time.Minute), final) {
		if operations := operationsOf(m); operations != nil {
			all, at = operations, m.At
		}
	}
	return all, at
}
