package tableinsights_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/analyze/tableinsights"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
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
			var out, said bytes.Buffer
			err := tableinsights.Run(t.Context(), settings(s), tableinsights.Options{
				Table: "orders", Last: time.Hour, Out: &out, Err: &said, Format: analyze.FormatJSON,
				Policy: func(detect.Target) detect.Policy { return detect.DefaultPolicy() },
			})
			if out.Len() == 0 {
				if err == nil {
					t.Errorf("%v of %s: neither a result nor an error", v, operation)
				}
				continue
			}
			var r tableinsights.Result
			if err := json.Unmarshal(out.Bytes(), &r); err != nil {
				t.Fatalf("%v of %s: %v: %s", v, operation, err, out.Bytes())
			}
			if r.KeyRange != nil && *r.KeyRange < 0 || r.Unlisted < 0 {
				t.Errorf("%v of %s: %+v", v, operation, r)
			}
			for _, k := range append(r.Keys, r.Items...) {
				if k.WCU.Low < 0 || k.RCU.Low < 0 {
					t.Errorf("%v of %s: %+v", v, operation, k)
				}
			}
		}
	}
}
