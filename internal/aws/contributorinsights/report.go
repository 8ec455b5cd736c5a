package contributorinsights

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsretry "github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/smithy-go"
	"github.com/cenkalti/backoff/v5"

	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/daemon/retry"
)

// API are the operations of CloudWatch that this package uses; *cloudwatch.Client is one.
type API interface {
	GetInsightRuleReport(context.Context, *cloudwatch.GetInsightRuleReportInput, ...func(*cloudwatch.Options)) (*cloudwatch.GetInsightRuleReportOutput, error)
	DescribeInsightRules(context.Context, *cloudwatch.DescribeInsightRulesInput, ...func(*cloudwatch.Options)) (*cloudwatch.DescribeInsightRulesOutput, error)
}

const (
	// MostContributors is how many keys a report of DynamoDB's rules may list: more are an
	// error, though the API's own limit is 100. Source: Guide, "CloudWatch Contributor
	// Insights for DynamoDB: how it works".
	MostContributors = 25
	// Longest is the longest time of a report. Source: CloudWatch User Guide, "View
	// Contributor Insights reports".
	Longest = 24 * time.Hour
	// Price is the cost of one report in US dollars, in most Regions: the price of one
	// metric. Source: Amazon CloudWatch pricing, metrics requested with GetMetricData and
	// GetInsightRuleReport.
	Price = 0.01 / 1000

	orderBy = "Maximum"
	// tries bounds how often a throttled call is made, throttledFirst and throttledMost
	// are the pauses between: CloudWatch takes 20 reports a second of an account and Region.
	tries                         = 10
	throttledFirst, throttledMost = 200 * time.Millisecond, 5 * time.Second
	// maxPages bounds the pages of rules, of 500 each.
	maxPages = 20
)

// ErrReportDenied means that this role may not read reports.
var ErrReportDenied = errors.New("GetInsightRuleReport is denied: allow cloudwatch:GetInsightRuleReport to this role")

// ErrRulesDenied means that this role may not ask for the state of rules.
var ErrRulesDenied = errors.New("DescribeInsightRules is denied: allow cloudwatch:DescribeInsightRules to this role")

// ErrThrottled means that CloudWatch refused a report again and again.
var ErrThrottled = errors.New("CloudWatch takes no more reports of this account and region at the moment: try again later, or with a shorter time")

// ErrNoRule means that a rule is gone since it was asked for.
var ErrNoRule = errors.New("CloudWatch no longer has the rule: Contributor Insights was disabled, or its mode was changed, at this moment: try again")

// Report is a rule's counts over a time.
type Report struct {
	// Series are the listed keys, with the minutes of each.
	Series []contributors.Series
	// Unlisted is the most that a key can have had in a minute without being listed in
	// it; zero if all keys are listed.
	Unlisted float64
	// Open is in how many minutes more keys had enough than a report lists.
	Open int
}

// Reader reads reports and counts its calls. It is for one goroutine.
type Reader struct {
	// API is CloudWatch.
	API API
	// Calls are the reports that were asked for; Throttled of them were refused, and asked
	// for again.
	Calls, Throttled int64
}

// Read returns a rule's counts from one minute up to another, exclusive. In minutes
// without a listing, a key had at most enough, except in the minutes that Open counts.
func (r *Reader) Read(ctx context.Context, rule string, from, to time.Time, enough float64) (Report, error) {
	g := gathering{values: map[string]map[int64]float64{}, keys: map[string][]string{}}
	if err := r.read(ctx, rule, from, to, enough, &g); err != nil {
		return Report{}, err
	}
	return g.report(), nil
}

// read asks for a time and, where that leaves too much open, for its halves.
func (r *Reader) read(ctx context.Context, rule string, from, to time.Time, enough float64, into *gathering) error {
	out, err := r.ask(ctx, rule, from, to)
	if err == nil {
		err = check(out)
	}
	if err != nil {
		return err
	}
	unlisted := into.add(out, from, to)
	minutes := int(to.Sub(from) / time.Minute)
	if unlisted <= enough || minutes < 2 {
		if unlisted > enough {
			into.open++
		}
		into.unlisted = max(into.unlisted, unlisted)
		return nil
	}
	half := from.Add(time.Duration(minutes/2) * time.Minute)
	if err := r.read(ctx, rule, from, half, enough, into); err != nil {
		return err
	}
	return r.read(ctx, rule, half, to, enough, into)
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

// ask makes one call, again where it is throttled.
func (r *Reader) ask(ctx context.Context, rule string, from, to time.Time) (*cloudwatch.GetInsightRuleReportOutput, error) {
	in := &cloudwatch.GetInsightRuleReportInput{
		RuleName: aws.String(rule), StartTime: aws.Time(from), EndTime: aws.Time(to),
		Period: aws.Int32(60), MaxContributorCount: aws.Int32(MostContributors), OrderBy: aws.String(orderBy),
	}
	out, err := backoff.Retry(ctx, func() (*cloudwatch.GetInsightRuleReportOutput, error) {
		r.Calls++
		out, err := r.API.GetInsightRuleReport(ctx, in)
		if err == nil {
			return out, nil
		}
		told := meaning("GetInsightRuleReport", err, ErrReportDenied, ErrNoRule)
		if !isThrottled(err) {
			return nil, backoff.Permanent(told)
		}
		r.Throttled++
		return nil, fmt.Errorf("%w (%w)", ErrThrottled, told)
	}, backoff.WithBackOff(retry.NewBackOff(throttledFirst, throttledMost)), backoff.WithMaxTries(tries), backoff.WithMaxElapsedTime(0))
	return out, retry.Cause(err)
}

// isThrottled reports whether CloudWatch takes no more calls at the moment.
func isThrottled(err error) bool {
	var failed smithy.APIError
	if !errors.As(err, &failed) {
		return false
	}
	_, known := awsretry.DefaultThrottleErrorCodes[failed.ErrorCode()]
	return known
}

// States returns the state of each rule, ENABLED or DISABLED: an empty report may come
// from a rule that does not count.
func (r *Reader) States(ctx context.Context) (map[string]string, error) {
	states, in := map[string]string{}, &cloudwatch.DescribeInsightRulesInput{}
	for range maxPages {
		out, err := r.API.DescribeInsightRules(ctx, in)
		if err != nil {
			return nil, meaning("DescribeInsightRules", err, ErrRulesDenied, ErrNoRule)
		}
		for i := range out.InsightRules {
			states[aws.ToString(out.InsightRules[i].Name)] = aws.ToString(out.InsightRules[i].State)
		}
		if in.NextToken = out.NextToken; aws.ToString(in.NextToken) == "" {
			return states, nil
		}
	}
	return nil, fmt.Errorf("DescribeInsightRules: more than %d pages", maxPages)
}

// Probe asks for a report of a rule that does not exist, and returns why reports may not be
// read; nil when they may.
func (r *Reader) Probe(ctx context.Context) error {
	to := time.Now().Truncate(time.Minute)
	_, err := r.ask(ctx, prefix+string(AccessedKeys)+"-keyheat-check", to.Add(-time.Minute), to)
	if errors.Is(err, ErrNoRule) {
		return nil
	}
	return err
}

// ExplainDisabled returns a sentence, with the remedy, if one of these rules does not
// count; empty if they all count or CloudWatch gives no state.
func (r *Reader) ExplainDisabled(ctx context.Context, s *Setup, rules ...Rule) string {
	states, err := r.States(ctx)
	if err != nil {
		return ""
	}
	for _, rule := range rules {
		if name := s.Rules[rule]; states[name] == "DISABLED" {
			return "the rule " + name + " is disabled in CloudWatch: aws cloudwatch enable-insight-rules --rule-names " + name
		}
	}
	return ""
}

// gathering is the sum of the reports so far.
type gathering struct {
	keys     map[string][]string
	values   map[string]map[int64]float64
	order    []string
	unlisted float64
	open     int
}

// add adds a report, and returns the most that a key can have had in one of its minutes
// without being listed: the listed keys have the highest minutes of all.
func (g *gathering) add(out *cloudwatch.GetInsightRuleReportOutput, from, to time.Time) (unlisted float64) {
	for i := range out.Contributors {
		c := &out.Contributors[i]
		id := strings.Join(c.Keys, "\x00")
		if g.values[id] == nil {
			g.keys[id], g.values[id] = c.Keys, map[int64]float64{}
			g.order = append(g.order, id)
		}
		highest := 0.0
		for _, p := range c.Datapoints {
			if of := aws.ToTime(p.Timestamp); of.Before(from) || !of.Before(to) {
				continue
			}
			at, value := aws.ToTime(p.Timestamp).Unix()/60*60, aws.ToFloat64(p.ApproximateValue)
			g.values[id][at] = max(g.values[id][at], value)
			highest = max(highest, value)
		}
		if i == 0 || highest < unlisted {
			unlisted = highest
		}
	}
	if n := len(out.Contributors); n < MostContributors && aws.ToInt64(out.ApproximateUniqueCount) <= int64(n) {
		return 0
	}
	return unlisted
}

func (g *gathering) report() Report {
	r := Report{Unlisted: g.unlisted, Open: g.open}
	for _, id := range g.order {
		r.Series = append(r.Series, contributors.NewSeries(g.keys[id], g.values[id]))
	}
	return r
}
