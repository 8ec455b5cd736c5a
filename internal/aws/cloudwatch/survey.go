package cloudwatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/keyheat/keyheat/detect/corroboration"
)

// SurveyReach is how far back CloudWatch Metrics Insights answers, and maxSeries how many series one
// answer has.
const (
	SurveyReach = 14 * 24 * time.Hour
	maxSeries   = 500
)

// Surveyed is a table or index some of whose requests were refused, by DynamoDB's own count.
type Surveyed struct {
	Region string `json:"region"`
	Table  string `json:"table"`
	Index  string `json:"index"`
	// HotWrites and HotReads are refused requests to single partitions, Writes and Reads all
	// refused ones.
	HotWrites float64 `json:"hot_partition_write_throttles"`
	HotReads  float64 `json:"hot_partition_read_throttles"`
	Writes    float64 `json:"write_throttles"`
	Reads     float64 `json:"read_throttles"`
	// HotHours are the hours with requests refused by single partitions, Worst is the one with the
	// most of them, and Newest the newest; zero for none.
	HotHours int       `json:"hot_hours"`
	Worst    time.Time `json:"worst_hour"`
	Newest   time.Time `json:"newest_hour"`

	hours map[time.Time]float64
}

// IsHot reports whether single partitions refused requests.
func (s *Surveyed) IsHot() bool { return s.HotWrites+s.HotReads > 0 }

// Survey is what CloudWatch says of all tables of an account and Region.
type Survey struct {
	// Refused are ordered by the requests that single partitions refused, and then by all refused
	// ones. Tables is how many tables had requests.
	Refused []Surveyed
	Tables  int
	// Cut reports that CloudWatch returned as many series as it does at most.
	Cut bool
}

// SurveyTables asks CloudWatch Metrics Insights which tables and indexes had requests refused
// between two times. It reads only. Its errors say what to allow; denied is not nothing.
func SurveyTables(ctx context.Context, api API, region string, from, to time.Time) (*Survey, error) {
	s := &Survey{}
	all := map[[2]string]*Surveyed{}
	for _, dimensions := range []string{"TableName", "TableName, GlobalSecondaryIndexName"} {
		for metric, total := range map[string]func(*Surveyed) *float64{
			"WriteKeyRangeThroughputThrottleEvents": func(r *Surveyed) *float64 { return &r.HotWrites },
			"ReadKeyRangeThroughputThrottleEvents":  func(r *Surveyed) *float64 { return &r.HotReads },
			"WriteThrottleEvents":                   func(r *Surveyed) *float64 { return &r.Writes },
			"ReadThrottleEvents":                    func(r *Surveyed) *float64 { return &r.Reads },
		} {
			err := s.ask(ctx, api, metric, dimensions, time.Hour, from, to, func(of [2]string, at time.Time, value float64) {
				r := all[of]
				if r == nil {
					r = &Surveyed{Region: region, Table: of[0], Index: of[1], hours: map[time.Time]float64{}}
					all[of] = r
				}
				if *total(r) += value; strings.Contains(metric, "KeyRange") {
					r.hours[at] += value
				}
			})
			if err != nil {
				return nil, err
			}
		}
	}
	tables := map[string]bool{}
	for _, metric := range []string{"ConsumedWriteCapacityUnits", "ConsumedReadCapacityUnits"} {
		if err := s.ask(ctx, api, metric, "TableName", 24*time.Hour, from, to, func(of [2]string, _ time.Time, _ float64) { tables[of[0]] = true }); err != nil {
			return nil, err
		}
	}
	s.Tables = len(tables)
	for r := range maps.Values(all) {
		r.sum()
		s.Refused = append(s.Refused, *r)
	}
	slices.SortFunc(s.Refused, func(a, b Surveyed) int {
		return cmp.Or(cmp.Compare(b.HotWrites+b.HotReads, a.HotWrites+a.HotReads), cmp.Compare(b.Writes+b.Reads, a.Writes+a.Reads), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index))
	})
	return s, nil
}

// sum finds the hours.
func (s *Surveyed) sum() {
	for _, at := range slices.SortedFunc(maps.Keys(s.hours), time.Time.Compare) {
		s.HotHours, s.Newest = s.HotHours+1, at
		if s.Worst.IsZero() || s.hours[at] > s.hours[s.Worst] {
			s.Worst = at
		}
	}
}

// ask passes each value above zero of a metric to found, with the table and index of its series.
func (s *Survey) ask(ctx context.Context, api API, metric, dimensions string, step time.Duration, from, to time.Time, found func(of [2]string, at time.Time, value float64)) error {
	in := &cloudwatch.GetMetricDataInput{
		StartTime: aws.Time(from), EndTime: aws.Time(to), ScanBy: types.ScanByTimestampAscending,
		MetricDataQueries: []types.MetricDataQuery{{
			Id: aws.String("q"), Period: aws.Int32(int32(step / time.Second)),
			Expression: aws.String(fmt.Sprintf(`SELECT SUM(%s) FROM SCHEMA("AWS/DynamoDB", %s) GROUP BY %s ORDER BY SUM() DESC LIMIT %d`, metric, dimensions, dimensions, maxSeries)),
		}},
	}
	series, seen := map[string]bool{}, map[string]bool{}
	for range maxPages {
		out, err := api.GetMetricData(ctx, in)
		if err != nil {
			_, text := meaning(err)
			return errors.New(text)
		}
		for _, r := range out.MetricDataResults {
			label := aws.ToString(r.Label)
			names := strings.Fields(label) // no name has a space
			if r.StatusCode == types.StatusCodeForbidden {
				return errors.New(denied)
			}
			if r.StatusCode == types.StatusCodeInternalError || len(names) != 1+strings.Count(dimensions, ",") {
				return fmt.Errorf("CloudWatch failed to read %s of %.300q", metric, label)
			}
			series[label] = true
			of := [2]string{names[0]}
			copy(of[1:], names[1:])
			for i, at := range r.Timestamps[:min(len(r.Timestamps), len(r.Values))] {
				if v := r.Values[i]; corroboration.Countable(v) && v > 0 {
					found(of, at.UTC(), v)
				}
			}
		}
		token := aws.ToString(out.NextToken)
		if token == "" {
			s.Cut = s.Cut || len(series) >= maxSeries
			return nil
		}
		if seen[token] {
			break
		}
		seen[token], in.NextToken = true, out.NextToken
	}
	return errors.New("GetMetricData: its pages have no end: does AWS_ENDPOINT_URL name the right server?")
}
