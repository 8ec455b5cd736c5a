package contributorinsights

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

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
	seconds = 60 // of a minute
)

// ErrReportDenied means that this role may not read reports.
var ErrReportDenied = errors.New("GetInsightRuleReport is denied: allow cloudwatch:GetInsightRuleReport to this role")

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

// Read returns a rule's counts from one minute up to another, exclusive.
func Read(ctx context.Context, api API, rule string, from, to time.Time) (Report, error) {
	out, err := api.GetInsightRuleReport(ctx, &cloudwatch.GetInsightRuleReportInput{
		RuleName: aws.String(rule), StartTime: aws.Time(from), EndTime: aws.Time(to),
		Period: aws.Int32(seconds), MaxContributorCount: aws.Int32(MostContributors), OrderBy: aws.String(orderBy),
	})
	if err != nil {
		return Report{}, awserror.Explain("GetInsightRuleReport", "CloudWatch", err, ErrReportDenied, ErrNoRule)
	}
	n, all := len(out.Contributors), aws.ToInt64(out.ApproximateUniqueCount)
	if n > MostContributors || all < 0 {
		return Report{}, errWrong("CloudWatch returned %d of %d keys, and %d were asked for", n, all, MostContributors)
	}
	var r Report
	for i := range out.Contributors {
		values, err := valuesOf(&out.Contributors[i], from, to)
		if err != nil {
			return Report{}, err
		}
		highest := 0.0
		for _, value := range values {
			highest = max(highest, value)
		}
		if i == 0 || highest < r.Unlisted {
			r.Unlisted = highest
		}
		if len(values) > 0 {
			r.Series = append(r.Series, contributors.Series{Keys: out.Contributors[i].Keys, Values: values})
		}
	}
	if n < MostContributors && all <= int64(n) {
		r.Unlisted = 0
	}
	return r, nil
}

func errWrong(format string, args ...any) error {
	return fmt.Errorf("GetInsightRuleReport: "+format+": does AWS_ENDPOINT_URL name the right server?", args...)
}

// valuesOf returns a key's values by minute, or the fault of an answer that is no report.
func valuesOf(c *types.InsightRuleContributor, from, to time.Time) (map[int64]float64, error) {
	if len(c.Keys) == 0 {
		return nil, errWrong("CloudWatch returned the load of a key without the key")
	}
	values := make(map[int64]float64)
	for _, p := range c.Datapoints {
		time, value := aws.ToTime(p.Timestamp), aws.ToFloat64(p.ApproximateValue)
		if !corroboration.Countable(value) {
			return nil, errWrong("CloudWatch returned %v for a key, which is no count", value)
		}
		if at := time.Unix() / seconds * seconds; !time.Before(from) && time.Before(to) {
			values[at] = max(values[at], value)
		}
	}
	return values, nil
}
