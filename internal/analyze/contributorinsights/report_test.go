package contributorinsights_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"github.com/keyheat/keyheat/internal/analyze/contributorinsights"
	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/internal/testsupport/cloudwatchtest"
	"github.com/keyheat/keyheat/sample"
)

const accessed = "DynamoDBContributorInsights-PKC-orders-1576629651520"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// documented is the answer that the AWS CLI's documents show of get-insight-rule-report.
const documented = `{
	"KeyLabels": ["PartitionKey"], "AggregationStatistic": "Sum", "AggregateValue": 0.5, "ApproximateUniqueCount": 1,
	"Contributors": [{"Keys": ["RequestID"], "ApproximateAggregateValue": 0.5, "Datapoints": [{"Timestamp": "2024-10-13T21:00:00+00:00", "ApproximateValue": 0.5}]}]
}`

// TestTheDocumentedExample holds the fake to the documents: the same data give the same
// answer through the SDK's client.
func TestTheDocumentedExample(t *testing.T) {
	t.Parallel()
	var want cloudwatch.GetInsightRuleReportOutput
	must(t, json.Unmarshal([]byte(documented), &want))
	s := cloudwatchtest.New(t)
	at := time.Date(2024, 10, 13, 21, 0, 0, 0, time.UTC)
	s.Contribute("Rule-A", at, 0.5, "RequestID")
	got, err := s.Client().GetInsightRuleReport(t.Context(), &cloudwatch.GetInsightRuleReportInput{
		RuleName: aws.String("Rule-A"), StartTime: aws.Time(at), EndTime: aws.Time(at.Add(15 * time.Minute)), Period: aws.Int32(300),
	})
	must(t, err)
	got.ResultMetadata = want.ResultMetadata
	a, b := text(t, got), text(t, &want)
	if a != b {
		t.Errorf("the fake answers\n%s, the documents say\n%s", a, b)
	}
	// What the documents refuse for DynamoDB's rules.
	_, err = s.Client().GetInsightRuleReport(t.Context(), &cloudwatch.GetInsightRuleReportInput{
		RuleName: aws.String("Rule-A"), StartTime: aws.Time(at), EndTime: aws.Time(at.Add(time.Hour)), Period: aws.Int32(60), MaxContributorCount: aws.Int32(26),
	})
	if err == nil || !strings.Contains(err.Error(), "at most 25") {
		t.Errorf("26 contributors: %v", err)
	}
}

// text is an answer as JSON, whose times are all UTC.
func text(t *testing.T, out *cloudwatch.GetInsightRuleReportOutput) string {
	t.Helper()
	for i := range out.Contributors {
		for n := range out.Contributors[i].Datapoints {
			p := &out.Contributors[i].Datapoints[n]
			p.Timestamp = aws.Time(p.Timestamp.UTC())
		}
	}
	all, err := json.Marshal(out)
	must(t, err)
	return string(all)
}

// TestReportsAreComplete: a report has every minute of the keys that it lists, and no other
// key had more than its bound in any minute.
func TestReportsAreComplete(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys int
		mean float64
		idle int  // in how many of four minutes a key has nothing
		all  bool // whether a report lists all keys
	}{{20, 1e5, 3, true}, {contributorinsights.MostContributors - 1, 1e5, 3, true}, {300, 9000, 3, false}, {300, 60_000, 3, false}, {60, 300_000, 0, false}} {
		t.Run(fmt.Sprintf("%d keys of %g, idle %d", c.keys, c.mean, c.idle), func(t *testing.T) {
			t.Parallel()
			const span = 90
			random := rand.New(rand.NewPCG(uint64(c.keys), uint64(c.mean)))
			s := cloudwatchtest.New(t)
			type keyMinute struct {
				key string
				at  int64
			}
			truth := map[keyMinute]float64{}
			for k := range c.keys {
				for m := range span {
					if random.IntN(4) < c.idle {
						continue
					}
					at, key, value := noon.Add(time.Duration(m)*time.Minute), fmt.Sprint("k", k), random.ExpFloat64()*c.mean
					s.Contribute(accessed, at, value, key)
					truth[keyMinute{key, at.Unix()}] = value
				}
			}
			got, err := contributorinsights.Read(t.Context(), s.Client(), accessed, noon, noon.Add(span*time.Minute))
			must(t, err)
			listed := map[string]bool{}
			for _, series := range got.Series {
				listed[series.Keys[0]] = true
				for at, value := range series.Values {
					if want := truth[keyMinute{series.Keys[0], at}]; want != value {
						t.Fatalf("%s has %g at %d, and is reported with %g", series.Keys[0], want, at, value)
					}
					delete(truth, keyMinute{series.Keys[0], at})
				}
			}
			for at, value := range truth {
				if listed[at.key] || value > got.Unlisted {
					t.Errorf("%v had %g, and is not listed; the bound is %g", at, value, got.Unlisted)
				}
			}
			if c.all != (got.Unlisted == 0) || len(got.Series) != min(c.keys, contributorinsights.MostContributors) {
				t.Errorf("%d keys are listed, and others had up to %g", len(got.Series), got.Unlisted)
			}
		})
	}
}

// TestReportFailures: each says what is wrong, and what to do.
func TestReportFailures(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]error{
		"AccessDeniedException": contributorinsights.ErrReportDenied, "AccessDenied": contributorinsights.ErrReportDenied,
		"ResourceNotFoundException": contributorinsights.ErrNoRule, "ExpiredTokenException": awserror.ErrExpired,
		"UnrecognizedClientException": awserror.ErrInvalid, "InternalServiceFault": nil, "ThrottlingException": nil,
	} {
		s := cloudwatchtest.New(t)
		s.FailAll("GetInsightRuleReport", cloudwatchtest.Failure{Status: 400, Code: code, Message: "no"})
		_, err := contributorinsights.Read(t.Context(), s.Client(), accessed, noon, noon.Add(time.Hour))
		if err == nil || want != nil && !errors.Is(err, want) || want == nil && !strings.Contains(err.Error(), code) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func tables(s *cloudwatchtest.Server) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(s.URL), Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""), Retryer: aws.NopRetryer{},
		APIOptions: []func(*middleware.Stack) error{awserror.LimitResponse},
	})
}

// TestSetup: what to do where Contributor Insights counts nothing.
func TestSetup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in   cloudwatchtest.Insights
		says string // empty where it is enabled
	}{
		"all keys":       {cloudwatchtest.Insights{Status: "ENABLED", Rules: []string{accessed, strings.Replace(accessed, "PKC", "PKT", 1)}}, ""},
		"throttled keys": {cloudwatchtest.Insights{Status: "ENABLED", Rules: []string{strings.Replace(accessed, "PKC", "PKT", 1)}}, ""},
		"no rules":       {cloudwatchtest.Insights{Status: "ENABLED"}, "counts nothing (ENABLED): enable it"},
		"disabled":       {cloudwatchtest.Insights{Status: "DISABLED"}, "--table-name orders --index-name by-status --contributor-insights-action ENABLE --contributor-insights-mode ACCESSED_AND_THROTTLED_KEYS"},
		"enabling":       {cloudwatchtest.Insights{Status: "ENABLING"}, "counts nothing (ENABLING)"},
		"disabling":      {cloudwatchtest.Insights{Status: "DISABLING", Rules: []string{accessed}}, "counts nothing (DISABLING)"},
		"failed": {cloudwatchtest.Insights{Status: "FAILED", Failure: [2]string{"LimitExceededException", "Per-account limit reached."}},
			"counts nothing (FAILED, LimitExceededException: Per-account limit reached.)"},
	} {
		s := cloudwatchtest.New(t)
		s.Describe("orders", "by-status", c.in)
		got, err := contributorinsights.Describe(t.Context(), tables(s), sample.Target{Table: "orders", Index: "by-status"})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if len(c.in.Rules) == 2 && got[contributorinsights.AccessedKeys] != accessed {
			t.Errorf("%s: the rules are %v", name, got)
		}
	}
}

// TestDescribeFailures: a table that is not there, and one that may not be asked for.
func TestDescribeFailures(t *testing.T) {
	t.Parallel()
	s := cloudwatchtest.New(t)
	if _, err := contributorinsights.Describe(t.Context(), tables(s), sample.Target{Table: "order"}); err == nil || !strings.Contains(err.Error(), "no such table or index") {
		t.Error(err)
	}
	for code, want := range map[string]error{"AccessDeniedException": contributorinsights.ErrDenied, "ExpiredTokenException": awserror.ErrExpired} {
		s.FailAll("DescribeContributorInsights", cloudwatchtest.Failure{Status: 400, Code: code, Message: "no"})
		if _, err := contributorinsights.Describe(t.Context(), tables(s), sample.Target{Table: "orders"}); !errors.Is(err, want) {
			t.Errorf("%s: %v", code, err)
		}
	}
}
