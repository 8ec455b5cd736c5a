package cloudwatch_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	awscloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/internal/aws/cloudwatch"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/sample"
)

// metricData is an answer with values of the first metric that was asked for.
func metricData(times, values cbor.List) cbor.Map {
	return cbor.Map{"MetricDataResults": cbor.List{cbor.Map{"Id": cbor.String("m0"), "StatusCode": cbor.String("Complete"), "Timestamps": times, "Values": values}}}
}

func timeOf(seconds float64) cbor.Value { return &cbor.Tag{ID: 1, Value: cbor.Float64(seconds)} }

// TestAttacksByMetrics gives each answer to GetMetricData: whatever it is, the store has counts
// of the time that was asked for only, and a message that does nothing but be read.
func TestAttacksByMetrics(t *testing.T) {
	t.Parallel()
	const protocol = "does not speak CloudWatch's protocol"
	now := float64(time.Now().Add(-10 * time.Minute).Unix())
	value := func(v cbor.Value) http.HandlerFunc {
		return cloudwatchtest.Reply(metricData(cbor.List{timeOf(now)}, cbor.List{v}))
	}
	at := func(seconds float64) http.HandlerFunc {
		return cloudwatchtest.Reply(metricData(cbor.List{timeOf(seconds)}, cbor.List{cbor.Float64(7)}))
	}
	refusal := func(code, message string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			cloudwatchtest.Reply(cbor.Map{"__type": cbor.String("a#" + code), "message": cbor.String(message)})(w, r)
		}
	}
	var circle atomic.Int64
	var taken atomic.Int64
	var many, manyValues cbor.List
	for i := range 100_000 {
		many, manyValues = append(many, timeOf(now-float64(60*i))), append(manyValues, cbor.Float64(1))
	}
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		state   corroboration.State
		message string
		minutes int // at most
	}{
		"a count":                {value(cbor.Float64(7)), corroboration.Read, "", 1},
		"NaN":                    {value(cbor.Float64(math.NaN())), corroboration.Failed, "returned NaN for", 0},
		"infinite":               {value(cbor.Float64(math.Inf(1))), corroboration.Failed, "returned +Inf for", 0},
		"negative":               {value(cbor.Float64(-0.5)), corroboration.Failed, "returned -0.5 for", 0},
		"more than all there is": {value(cbor.Float64(1e308)), corroboration.Failed, "returned 1e+308 for", 0},
		"a text for a count":     {value(cbor.String("7")), corroboration.Failed, protocol, 0},
		"the year 1":             {at(-62135596800), corroboration.NoData, "", 0},
		"the year 9999":          {at(253402300799), corroboration.NoData, "", 0},
		"a time beyond all":      {at(1e300), corroboration.NoData, "", 0},
		"a time that is no time": {at(math.NaN()), corroboration.NoData, "", 0},
		"next hour":              {at(now + 3600), corroboration.NoData, "", 0},
		"more counts than times": {cloudwatchtest.Reply(metricData(cbor.List{timeOf(now)}, manyValues)), corroboration.Read, "", 1},
		"more times than counts": {cloudwatchtest.Reply(metricData(many, cbor.List{cbor.Float64(1)})), corroboration.Read, "", 1},
		"100,000 minutes":        {cloudwatchtest.Reply(metricData(many, manyValues)), corroboration.Read, "", 24 * 60},
		"a metric nobody asked":  {cloudwatchtest.Reply(cbor.Map{"MetricDataResults": cbor.List{cbor.Map{"Id": cbor.String("m-1" + strings.Repeat("\x00", 1<<20))}}}), corroboration.Failed, "was not asked", 0},
		"a metric without name":  {cloudwatchtest.Reply(cbor.Map{"MetricDataResults": cbor.List{cbor.Map{}}}), corroboration.Failed, "was not asked", 0},
		"one token again":        {cloudwatchtest.Reply(cbor.Map{"NextToken": cbor.String("a")}), corroboration.Failed, "go in circles", 0},
		"tokens without end": {func(w http.ResponseWriter, r *http.Request) {
			cloudwatchtest.Reply(cbor.Map{"NextToken": cbor.String(fmt.Sprint(circle.Add(1)))})(w, r)
		}, corroboration.Failed, "more than 100 pages", 0},
		"a text for all":          {cloudwatchtest.Reply(cbor.String("x")), corroboration.Failed, protocol, 0},
		"nothing":                 {cloudwatchtest.Reply(cbor.Map{}), corroboration.NoData, "", 0},
		"an error that is markup": {refusal("\x1b[2J\x00", "\u202e\x00\xff"+strings.Repeat("x", 1<<20)), corroboration.Failed, "xxx", 0},
		"an expired error":        {refusal("ExpiredToken\x00\x1b", ""), corroboration.Failed, "ExpiredToken", 0},
		"a gigabyte":              {cloudwatchtest.Endless(&taken), corroboration.Failed, "does AWS_ENDPOINT_URL name", 0}, // the SDK does not always say why it stopped
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, cloudwatch.Config{})
			s.sampled(false, orders)
			s.server.Raw("GetMetricData", c.answer)
			s.pass()
			read, minutes := s.read(orders), s.minutes(orders)
			if read.State != string(c.state) || !strings.Contains(read.Message, c.message) || len(minutes) > c.minutes || c.state == corroboration.Read && len(minutes) == 0 {
				t.Errorf("%s with %d minutes: %.300q", read.State, len(minutes), read.Message)
			}
			if wrong := hostile.Fault(read.Message); wrong != "" || len(read.Message) > 2000 {
				t.Errorf("the message has %s: %.300q", wrong, read.Message)
			}
			for _, m := range minutes {
				for metric, v := range m.Metrics {
					if !corroboration.Countable(v) || m.Minute.After(time.Now()) || m.Minute.Before(time.Now().Add(-25*time.Hour)) {
						t.Errorf("%s is %v at %s", metric, v, m.Minute)
					}
				}
			}
		})
	}
	if taken.Load() > 4*awserror.MaxResponse {
		t.Errorf("of a gigabyte %d MiB were read", taken.Load()>>20)
	}
}

// TestNoReadingShowsATextRaw: the SDK repeats a Region that it refuses, and a sample may have
// named it.
func TestNoReadingShowsATextRaw(t *testing.T) {
	t.Parallel()
	m := hostile.New(10)
	of := sample.Target{Region: m.Text(), Table: m.Text()}
	api := awscloudwatch.New(awscloudwatch.Options{Region: of.Region, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), RetryMaxAttempts: 1})
	got, _ := cloudwatch.ReadTarget(t.Context(), api, of, time.Unix(0, 0), time.Unix(60, 0))
	if wrong := hostile.FaultOfSentence(got.Message); wrong != "" || got.State != corroboration.Failed {
		t.Errorf("%s lets %s through: %q", got.State, wrong, got.Message)
	}
}
