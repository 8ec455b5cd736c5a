package corroboration_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/sample"
)

// byOperation returns the metrics of a minute in which updates were throttled, a put took
// long, and reads were not throttled.
func byOperation() map[detect.Metric]float64 {
	m := consumed(120_000)
	m[corroboration.ThrottledMetric(sample.UpdateItem).Metric()] = 12_340
	m[corroboration.ThrottledMetric(sample.DeleteItem).Metric()] = 0
	m[corroboration.Latency(sample.PutItem).Metric()] = 8
	m[corroboration.MaxLatency(sample.PutItem).Metric()] = 41.3
	m[corroboration.ThrottledMetric(sample.Query).Metric()] = 7
	return m
}

// TestOperationsAtThePeak: a finding has what was throttled, and how long requests took, in
// the minute of its highest second, and null for what has no data point.
func TestOperationsAtThePeak(t *testing.T) {
	t.Parallel()
	r := reading(60, func(i int) map[detect.Metric]float64 {
		if i == 12 {
			return byOperation()
		}
		return consumed(120_000)
	})
	for story, c := range map[string]struct {
		kind       detect.Subject
		peak       int
		operations string
	}{
		"writes": {
			detect.KeyWrites, 12,
			`[{"operation":"Query","throttled":7,"latency_ms":null,"latency_max_ms":null},` +
				`{"operation":"PutItem","throttled":null,"latency_ms":8,"latency_max_ms":41.3},` +
				`{"operation":"UpdateItem","throttled":12340,"latency_ms":null,"latency_max_ms":null},` +
				`{"operation":"DeleteItem","throttled":0,"latency_ms":null,"latency_max_ms":null}]`,
		},
		"reads": {detect.KeyReads, 12, `"Query"`},
		"a minute that was not read by operation": {detect.KeyWrites, 11, "null"},
		"a minute that was not read":              {detect.KeyWrites, 70, "null"},
	} {
		f := hot(10, 14, 1200)
		f.Subject, f.Peak.At = c.kind, minuteAt(c.peak)
		got := corroboration.Assess(&f, r)
		text, err := json.Marshal(got.Operations)
		if err != nil || !strings.Contains(string(text), c.operations) {
			t.Errorf("%s: %s, %v", story, text, err)
		}
	}
}

// TestOperationsOfATable: a table's view says what its operations had in the newest
// complete minute, while that is of the last minutes.
func TestOperationsOfATable(t *testing.T) {
	t.Parallel()
	for story, c := range map[string]struct {
		minute int
		shown  bool
	}{
		"complete": {54, true}, "may still grow": {57, false}, "long ago": {30, false},
	} {
		r := reading(60, func(i int) map[detect.Metric]float64 {
			if i == c.minute {
				return byOperation()
			}
			return consumed(120_000)
		})
		got := corroboration.Judge(orders, r)
		if shown := len(got.Operations) == 4 && got.Minute.Equal(minuteAt(54)); shown != c.shown || (got.Minute == nil) == c.shown {
			t.Errorf("%s: %+v", story, got)
		}
	}
}

// TestMetricsByOperation: a metric by operation is known by its name again, and others are
// not taken for one.
func TestMetricsByOperation(t *testing.T) {
	t.Parallel()
	for _, op := range corroboration.Operations {
		for _, b := range []corroboration.OperationMetric{corroboration.ThrottledMetric(op), corroboration.Latency(op), corroboration.MaxLatency(op)} {
			if got, ok := corroboration.ParseOperationMetric(b.Metric()); !ok || got != b {
				t.Errorf("%s is %+v, %t", b.Metric(), got, ok)
			}
		}
	}
	for _, m := range []detect.Metric{corroboration.ConsumedWrite, "", "ThrottledRequests/Update/Sum", "ThrottledRequests/UpdateItem"} {
		if b, ok := corroboration.ParseOperationMetric(m); ok {
			t.Errorf("%q is %+v", m, b)
		}
	}
}
