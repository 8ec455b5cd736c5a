package cloudwatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/sample"
)

// API are the operations of CloudWatch that this package uses; *cloudwatch.Client is one.
type API interface {
	GetMetricData(context.Context, *cloudwatch.GetMetricDataInput, ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error)
}

const (
	// maxQueries is how many metrics one GetMetricData may ask for.
	maxQueries = 500
	// maxPages bounds the pages of one answer.
	maxPages = 100
	period   = 60
)

type query struct {
	target sample.Target
	metric detect.Metric
}

// Result is one reading of a target.
type Result struct {
	State   corroboration.State
	Message string
	// Minutes have the reported metrics, in the order of time.
	Minutes []corroboration.Minute
}

// read asks for the metrics of targets between two times, in as many calls as that
// needs.
func read(ctx context.Context, api API, wanted []query, from, to time.Time) map[sample.Target]Result {
	gathered := make(map[sample.Target]*gathering)
	for _, q := range wanted {
		if gathered[q.target] == nil {
			gathered[q.target] = &gathering{minutes: make(map[time.Time]map[detect.Metric]float64)}
		}
	}
	for part := range slices.Chunk(wanted, maxQueries) {
		if err := readPart(ctx, api, part, from, to, gathered); err != nil {
			state, message := meaning(err)
			for _, q := range part {
				gathered[q.target].fail(state, message)
			}
		}
	}
	results := make(map[sample.Target]Result, len(gathered))
	for target, g := range gathered {
		results[target] = g.result()
	}
	return results
}

// gathering is the content of a target's pages so far.
type gathering struct {
	minutes map[time.Time]map[detect.Metric]float64
	state   corroboration.State
	message string
}

// fail records a failure; one that needs an operator stays over one that passes.
func (g *gathering) fail(state corroboration.State, message string) {
	if g.state != corroboration.Denied {
		g.state, g.message = state, message
	}
}

func (g *gathering) result() Result {
	r := Result{State: g.state, Message: g.message}
	for _, at := range slices.SortedFunc(maps.Keys(g.minutes), time.Time.Compare) {
		r.Minutes = append(r.Minutes, corroboration.Minute{At: at, Metrics: g.minutes[at]})
	}
	switch {
	case r.State != "":
	case len(r.Minutes) == 0:
		r.State = corroboration.NoData
	default:
		r.State = corroboration.Read
	}
	return r
}

// readPart reads the pages of at most maxQueries metrics. A metric whose data are
// partial goes on in the next page.
func readPart(ctx context.Context, api API, wanted []query, from, to time.Time, into map[sample.Target]*gathering) error {
	in := &cloudwatch.GetMetricDataInput{
		StartTime: aws.Time(from), EndTime: aws.Time(to), ScanBy: types.ScanByTimestampAscending,
	}
	for i, q := range wanted {
		in.MetricDataQueries = append(in.MetricDataQueries, types.MetricDataQuery{
			Id:         aws.String("m" + strconv.Itoa(i)),
			MetricStat: &types.MetricStat{Metric: metricOf(q), Period: aws.Int32(period), Stat: aws.String("Sum")},
		})
	}
	seen := make(map[string]bool)
	for range maxPages {
		out, err := api.GetMetricData(ctx, in)
		if err != nil {
			return err
		}
		for _, r := range out.MetricDataResults {
			i, err := strconv.Atoi(strings.TrimPrefix(aws.ToString(r.Id), "m"))
			if err != nil || i < 0 || i >= len(wanted) {
				return fmt.Errorf("GetMetricData: an answer to a question that was not asked: %.100q", aws.ToString(r.Id))
			}
			into[wanted[i].target].add(in, wanted[i].metric, &r, aws.ToString(out.NextToken) == "")
		}
		token := aws.ToString(out.NextToken)
		switch {
		case token == "":
			return nil
		case seen[token]: // each page is paid for
			return errors.New("GetMetricData: its pages go in circles: does AWS_ENDPOINT_URL name the right server?")
		}
		seen[token] = true
		in.NextToken = out.NextToken
	}
	return fmt.Errorf("GetMetricData: more than %d pages", maxPages)
}

func metricOf(q query) *types.Metric {
	m := &types.Metric{
		Namespace: aws.String(namespace), MetricName: aws.String(string(q.metric)),
		Dimensions: []types.Dimension{{Name: aws.String(tableDimension), Value: aws.String(q.target.Table)}},
	}
	if q.target.Index != "" {
		m.Dimensions = append(m.Dimensions, types.Dimension{Name: aws.String(indexDimension), Value: aws.String(q.target.Index)})
	}
	return m
}

// add takes a page's data points of a metric, of the time that was asked for. Partial data
// without another page are all that there will be.
func (g *gathering) add(asked *cloudwatch.GetMetricDataInput, m detect.Metric, r *types.MetricDataResult, last bool) {
	for i, at := range r.Timestamps {
		if i >= len(r.Values) {
			break
		}
		if at.Before(*asked.StartTime) || !at.Before(*asked.EndTime) {
			continue
		}
		if !corroboration.Countable(r.Values[i]) {
			g.fail(corroboration.Failed, fmt.Sprintf("CloudWatch returned %v for %s, which is no count", r.Values[i], m))
			continue
		}
		at = at.UTC().Truncate(time.Minute)
		if g.minutes[at] == nil {
			g.minutes[at] = make(map[detect.Metric]float64)
		}
		g.minutes[at][m] = r.Values[i]
	}
	switch r.StatusCode {
	case types.StatusCodeForbidden:
		g.fail(corroboration.Denied, denied)
	case types.StatusCodeInternalError:
		g.fail(corroboration.Failed, fmt.Sprintf("CloudWatch failed to read %s", m))
	case types.StatusCodePartialData:
		if last {
			g.fail(corroboration.Failed, fmt.Sprintf("CloudWatch returned a part of %s only", m))
		}
	}
}

// denied is the remedy.
const denied = "allow cloudwatch:GetMetricData to this role"

// meaning returns the state of a target after a failed call, and a sentence about it.
func meaning(err error) (corroboration.State, string) {
	if wrong := awserror.Unreadable(err, "CloudWatch"); wrong != nil {
		return corroboration.Failed, wrong.Error()
	}
	var failed smithy.APIError
	if !errors.As(err, &failed) {
		return corroboration.Failed, awserror.Inert(err).Error()
	}
	switch code := failed.ErrorCode(); {
	case strings.HasPrefix(code, "AccessDenied"), code == "UnauthorizedOperation":
		return corroboration.Denied, denied
	case code == "ExpiredToken", code == "ExpiredTokenException", code == "InvalidClientTokenId", code == "UnrecognizedClientException":
		return corroboration.Failed, code + ": the AWS credentials are not valid (any more): renew them"
	default:
		return corroboration.Failed, awserror.Text(failed)
	}
}

// ReadTarget asks for all metrics of one table or index between two times, the end left out,
// once and without a store. It returns how many metrics these are.
func ReadTarget(ctx context.Context, api API, of sample.Target, from, to time.Time) (Result, int) {
	var wanted []query
	for _, m := range watched {
		wanted = append(wanted, query{of, m})
	}
	return read(ctx, api, wanted, from, to)[of], len(wanted)
}

// Probe asks for one metric of a table that need not exist, and returns why CloudWatch
// may not be read; nil when it may.
func Probe(ctx context.Context, api API) error {
	to := time.Now().Truncate(time.Minute)
	asked := query{sample.Target{Table: "keyheat-check"}, corroboration.ConsumedWrite}
	results := read(ctx, api, []query{asked}, to.Add(-time.Minute), to)
	if r := results[asked.target]; r.State == corroboration.Denied || r.State == corroboration.Failed {
		return errors.New(r.Message)
	}
	return nil
}
