package contributorinsights_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/analyze/contributorinsights"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
)

// TestAttacksByCounts gives values that are no counts beside sound ones, from CloudWatch and from
// Contributor Insights: there is an error, or the whole result is JSON without a negative load.
func TestAttacksByCounts(t *testing.T) {
	t.Parallel()
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e308, 1e12} {
		for _, operation := range []string{"GetMetricData", "GetInsightRuleReport"} {
			w, s := newWorld(1, 3, true), cloudwatchtest.New(t)
			w.put(s, true)
			at := &cbor.Tag{ID: 1, Value: cbor.Float64(time.Now().Add(-10 * time.Minute).Unix())}
			if operation == "GetMetricData" {
				var all cbor.List
				for _, id := range []string{"m0", "m1", "m2", "m3"} {
					all = append(all, cbor.Map{"Id": cbor.String(id), "StatusCode": cbor.String("Complete"), "Timestamps": cbor.List{at}, "Values": cbor.List{cbor.Float64(v)}})
				}
				s.Raw(operation, cloudwatchtest.Reply(cbor.Map{"MetricDataResults": all}))
			} else {
				s.Raw(operation, cloudwatchtest.Reply(cbor.Map{"Contributors": cbor.List{cbor.Map{
					"Keys": cbor.List{cbor.String("acme")}, "Datapoints": cbor.List{cbor.Map{"Timestamp": at, "ApproximateValue": cbor.Float64(v)}},
				}}}))
			}
			var out bytes.Buffer
			err := contributorinsights.Run(t.Context(), settings(s), contributorinsights.Source{Table: "orders", Last: time.Hour}, analyze.Options{Out: &out, Format: analyze.FormatJSON, Policy: policy})
			if out.Len() == 0 {
				if err == nil {
					t.Errorf("%v of %s: neither a result nor an error", v, operation)
				}
				continue
			}
			var r analyze.Result
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Fatalf("%v of %s: %v: %s", v, operation, err, out.Bytes())
			}
			for _, k := range r.Findings {
				if k.Mean.WCU.Low < 0 || k.Mean.RCU.Low < 0 {
					t.Errorf("%v of %s: %+v", v, operation, k)
				}
			}
		}
	}
}

// TestNoNameIsShownRaw judges keys of a table and index whose every name is an attack, as
// text and as JSON, until each case was given.
func TestNoNameIsShownRaw(t *testing.T) {
	t.Parallel()
	m, given := hostile.New(7), map[detect.Case]int{}
	loads := []float64{0, 600, 6000, 100_000, 150_000, 179_000, 198_000, 280_000}
	for n := range 60 {
		s, target := cloudwatchtest.New(t), detect.Target{Table: m.Text()}
		if m.Odds(2) {
			target.Index = m.Text()
		}
		rules := []string{accessed, strings.Replace(accessed, "PKC", "PKT", 1), strings.Replace(accessed, "PKC", "SKC", 1)}
		s.Describe(target.Table, target.Index, cloudwatchtest.Insights{Status: "ENABLED", Rules: rules[n%2:]})
		at := time.Now().UTC().Truncate(time.Minute).Add(-20 * time.Minute)
		put := func(metric detect.Metric, value float64) {
			s.Put(cloudwatchtest.Metric{Table: target.Table, Index: target.Index, Name: string(metric)}, at, value)
		}
		put(corroboration.ConsumedWrite, 70_000)
		if m.Odds(2) {
			put(corroboration.ConsumedRead, 210_000)
		}
		if m.Odds(2) {
			put(corroboration.WriteKeyRangeThrottles, 90)
		}
		if m.Odds(6) {
			s.FailAll("GetMetricData", cloudwatchtest.Failure{Status: 400, Code: m.Text(), Message: m.Text()})
		}
		key, value := m.Text(), loads[n%len(loads)]
		s.Contribute(accessed, at, value, key)
		s.Contribute(rules[2], at, value/float64(1+n%3), key, m.Text())
		if m.Odds(2) {
			s.Contribute(rules[1], at, 90, key)
			s.Contribute(rules[1], at, 7, key+"2")
		}
		for _, format := range contributorinsights.Formats() {
			var out bytes.Buffer
			err := contributorinsights.Run(t.Context(), settings(s), contributorinsights.Source{Table: target.Table, Index: target.Index, Last: time.Hour},
				analyze.Options{Out: &out, Format: format, FailOn: detect.Info, Policy: policy})
			if err != nil {
				if wrong := hostile.FaultOfSentence(err.Error()); wrong != "" {
					t.Fatalf("an error lets %s through: %q", wrong, err)
				}
			}
			if errors.Is(err, analyze.ErrNothingJudged) {
				continue
			}
			if format != analyze.FormatJSON {
				if wrong := hostile.Fault(out.String()); wrong != "" && format == analyze.FormatTable {
					t.Fatalf("the table lets %s through: %q", wrong, out.String())
				}
				continue
			}
			var r analyze.Result
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Fatalf("%v: %s", err, out.Bytes())
			}
			for i := range r.Findings {
				given[r.Findings[i].Case]++
			}
		}
	}
	for _, c := range []detect.Case{casebook.HotKey, casebook.HotItem, casebook.IndexKey, casebook.NearLimit, casebook.SharedPartition, casebook.NoReason} {
		if given[c] == 0 {
			t.Errorf("no finding is %s: %v", c, given)
		}
	}
}
