package contributorinsights

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/aws/awserror"
)

// API is the operation of CloudWatch that this package uses; *cloudwatch.Client has it.
type API interface {
	GetInsightRuleReport(context.Context, *cloudwatch.GetInsightRuleReportInput, ...func(*cloudwatch.Options)) (*cloudwatch.GetInsightRuleReportOutput, error)
}

const (
	// MostContributors is how many keys a report of DynamoDB's rules may list: more are an
	// error, though the API's own limit is 100. Source: Guide, "CloudWatch Contributor
	// Insights for DynamoDB: how it works".
	MostContributors = 25
	// Longest is the longest time of a report. Source: CloudWatch User Guide, "View
	// Contributor Insights reports".
	Longest = 24 * time.Hour
	// price is the cost of one report in US dollars, in most Regions: the price of one
	// metric. Source: Amazon CloudWatch pricing, metrics requested with GetMetricData and
	// GetInsightRuleReport.
	price = 0.01 / 1000

	orderBy = "Maximum"
)

// ErrReportDenied means that this role may not read reports.
var ErrReportDenied = errors.New("GetInsightRuleReport is denied: allow cloudwatch:GetInsightRuleReport to this role")

// ErrThrottled means that CloudWatch throttled the requests for a report.
var ErrThrottled = errors.New("CloudWatch throttles requests for reports of this account and region: try again in a minute")

// ErrNoRule means that a rule is gone since it was asked for.
var ErrNoRule = errors.New("CloudWatch no longer has the rule: Contributor Insights was disabled, or its mode was changed, at this moment: try again")

// Report is a rule's counts over a time.
type Report struct {
	// Series are the listed keys, with the minutes of each.
	Series []contributors.Series
	// Unlisted is the most that an unlisted key can have had in any minute; zero if all
	// keys are listed.
	Unlisted float64
}

// Reader reads reports and counts its calls. It is for one goroutine.
type Reader struct {
	// API is CloudWatch.
	API API
	// Calls counts the requested reports.
	Calls int64
}

// Read returns a rule's counts from one minute up to another, exclusive.
func (r *Reader) Read(ctx context.Context, rule string, from, to time.Time) (Report, error) {
	r.Calls++
	out, err := r.API.GetInsightRuleReport(ctx, &cloudwatch.GetInsightRuleReportInput{
		RuleName: aws.String(rule), StartTime: aws.Time(from), EndTime: aws.Time(to),
		Period: aws.Int32(60), MaxContributorCount: aws.Int32(MostContributors), OrderBy: aws.String(orderBy),
	})
	var failed smithy.APIError
	if errors.As(err, &failed) {
		if _, throttled := retry.DefaultThrottleErrorCodes[failed.ErrorCode()]; throttled {
			return Report{}, ErrThrottled // after the SDK's own repetitions
		}
	}
	if err != nil {
		return Report{}, awserror.Explain("GetInsightRuleReport", "CloudWatch", err, ErrReportDenied, ErrNoRule)
	}
	if err := check(out); err != nil {
		return Report{}, err
	}
	return newReport(out, from, to), nil
}

// check returns the fault of an answer that is no report.
func check(out *cloudwatch.GetInsightRuleReportOutput) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("GetInsightRuleReport: "+format+": does AWS_ENDPOINT_URL name the right server?", args...)
	}
	if n := len(out.Contributors); n > MostContributors {
		return wrong("CloudWatch returned %d keys, and %d were asked for", n, MostContributors)
	}
	if n := aws.ToInt64(out.ApproximateUniqueCount); n < 0 {
		return wrong("CloudWatch counts %d keys", n)
	}
	for i := range out.Contributors {
		if len(out.Contributors[i].Keys) == 0 {
			return wrong("CloudWatch returned the load of a key without the key")
		}
		for _, p := range out.Contributors[i].Datapoints {
			if v := aws.ToFloat64(p.ApproximateValue); !corroboration.Countable(v) {
				return wrong("CloudWatch returned %v for a key, which is no count", v)
			}
		}
	}
	return nil
}

// newReport returns the values of a time. The listed keys have the highest minutes of all,
// so the lowest of their highest minutes bounds unlisted keys.
func newReport(out *cloudwatch.GetInsightRuleReportOutput, from, to time.Time) (r Report) {
	known := make(map[string]map[int64]float64)
	for i := range out.Contributors {
		c := &out.Contributors[i]
		id := strings.Join(c.Keys, "\x00")
		values := known[id]
		if values == nil {
			values = make(map[int64]float64)
			known[id] = values
			r.Series = append(r.Series, contributors.Series{Keys: c.Keys, Values: values})
		}
		highest := 0.0
		for _, p := range c.Datapoints {
			time, value := aws.ToTime(p.Timestamp), aws.ToFloat64(p.ApproximateValue)
			if time.Before(from) || !time.Before(to) {
				continue
			}
			at := time.Unix() / 60 * 60
			values[at] = max(values[at], value)
			highest = max(highest, value)
		}
		if i == 0 || highest < r.Unlisted {
			r.Unlisted = highest
		}
	}
	if n := len(out.Contributors); n < MostContributors && aws.ToInt64(out.ApproximateUniqueCount) <= int64(n) {
		r.Unlisted = 0
	}
	return r
}
