// Package cloudwatchtest is a small CloudWatch for tests: GetMetricData over HTTP in
// Smithy's RPC v2 CBOR, as the SDK speaks it, with what a test puts in. It keeps to
// the documented limits: 500 metrics a call, one period and statistic a metric, pages,
// and no data point where nothing was reported. It has Contributor Insights too, with
// what DynamoDB says of it.
package cloudwatchtest

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/smithy-go/encoding/cbor"
	"github.com/aws/smithy-go/middleware"

	"github.com/keyheat/keyheat/internal/aws/awserror"
)

const (
	protocol   = "rpc-v2-cbor"
	service    = "/service/GraniteServiceVersion20100801/operation/"
	maxQueries = 500
)

// Metric names a metric of a table, or of an index of it.
type Metric struct{ Table, Index, Name string }

// Failure is what a call returns in place of data.
type Failure struct {
	Status        int
	Code, Message string
}

// Server is a CloudWatch. It is safe for use by many goroutines.
type Server struct {
	URL string

	insights
	mu     sync.Mutex
	points map[Metric]map[int64][]float64 // by minute
	status map[Metric]string              // other than Complete
	fail   []Failure                      // of the next calls
	raw    map[string]http.HandlerFunc    // by operation
	page   int                            // data points a page, 0 for all
	calls  int
	asked  int
}

// New returns a server that ends with the test.
func New(t testing.TB) *Server {
	s := &Server{points: map[Metric]map[int64][]float64{}, status: map[Metric]string{}}
	web := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

// Client returns the SDK's client of the server.
func (s *Server) Client() *cloudwatch.Client {
	return cloudwatch.New(cloudwatch.Options{
		Region: "eu-west-1", BaseEndpoint: aws.String(s.URL), Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", ""),
		Retryer: onlyConnections(), APIOptions: []func(*middleware.Stack) error{awserror.LimitResponse},
	})
}

// onlyConnections retries nothing but a connection that ended, as the SDK's own retryer
// does: the server may close one while the client still reads from it.
func onlyConnections() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.Retryables = []retry.IsErrorRetryable{retry.RetryableConnectionError{}}
		o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
	})
}

// Put reports a value of a metric in a minute, as DynamoDB does: several add up.
func (s *Server) Put(m Metric, at time.Time, value float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.points[m] == nil {
		s.points[m] = map[int64][]float64{}
	}
	minute := at.Unix() / 60 * 60
	s.points[m][minute] = append(s.points[m][minute], value)
}

// Status sets the status of a metric's results: Forbidden, InternalError, PartialData
// or Complete.
func (s *Server) Status(m Metric, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status[m] = status
}

// Fail makes the next calls fail, one with each failure.
func (s *Server) Fail(with ...Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = append(s.fail, with...)
}

// Pages bounds the data points of one page.
func (s *Server) Pages(points int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.page = points
}

// Asked returns how many calls there were, and how many metrics the first pages of them
// asked for, which is what CloudWatch bills.
func (s *Server) Asked() (calls, metrics int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls, s.asked
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if f, fails := s.failing[operationOf(r)]; fails {
		s.refuseAny(w, r, f)
		return
	}
	if raw := s.raw[operationOf(r)]; raw != nil {
		raw(w, r)
		return
	}
	if len(s.fail) > 0 {
		f := s.fail[0]
		s.fail = s.fail[1:]
		refuse(w, f)
		return
	}
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		s.serveTables(w, r, target)
		return
	}
	operation := map[string]func(cbor.Map) (cbor.Map, *Failure){
		"GetMetricData": s.getMetricData, "GetInsightRuleReport": s.getInsightRuleReport,
	}[strings.TrimPrefix(r.URL.Path, service)]
	if r.Method != http.MethodPost || operation == nil || r.Header.Get("Smithy-Protocol") != protocol {
		refuse(w, Failure{http.StatusNotFound, "UnknownOperationException", "this server does not know " + r.URL.Path + " in " + protocol})
		return
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, Failure{http.StatusBadRequest, "SerializationException", err.Error()})
		return
	}
	in, err := cbor.Decode(text)
	request, isMap := in.(cbor.Map)
	if err != nil || !isMap {
		refuse(w, Failure{http.StatusBadRequest, "SerializationException", fmt.Sprint(err)})
		return
	}
	out, failure := operation(request)
	if failure != nil {
		refuse(w, *failure)
		return
	}
	answer(w, http.StatusOK, out)
}

// Raw answers an operation in the place of the server, whatever is asked for.
func (s *Server) Raw(operation string, with http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.raw == nil {
		s.raw = map[string]http.HandlerFunc{}
	}
	s.raw[operation] = with
}

// Reply returns what answers with a value, for [Server.Raw]: CloudWatch's in CBOR, DynamoDB's,
// which are texts, in JSON.
func Reply(body any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if text, is := body.(string); is {
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			_, _ = io.WriteString(w, text)
			return
		}
		answer(w, http.StatusOK, body.(cbor.Value))
	}
}

// Endless answers with so many bytes as the client takes, up to a gigabyte, and counts them.
// The answer begins with a text of that length, as CBOR and JSON have them.
func Endless(taken *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the connection ends early
		const size = 1 << 30
		begin := "\x7a\x40\x00\x00\x00" // the length in four bytes
		if r.Header.Get("X-Amz-Target") != "" {
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			begin = `{"a":"`
		} else {
			w.Header().Set("Smithy-Protocol", protocol)
			w.Header().Set("Content-Type", "application/cbor")
		}
		_, err := io.WriteString(w, begin)
		for block := strings.Repeat("a", 64<<10); err == nil && taken.Load() < size; {
			_, err = io.WriteString(w, block)
			taken.Add(int64(len(block)))
		}
	}
}

func refuse(w http.ResponseWriter, f Failure) {
	answer(w, f.Status, cbor.Map{"__type": cbor.String("com.amazonaws.cloudwatch#" + f.Code), "message": cbor.String(f.Message)})
}

func answer(w http.ResponseWriter, status int, body cbor.Value) {
	w.Header().Set("Smithy-Protocol", protocol)
	w.Header().Set("Content-Type", "application/cbor")
	w.WriteHeader(status)
	_, _ = w.Write(cbor.Encode(body))
}

// point is one data point of a query's result.
type point struct {
	query  int
	minute int64
	value  float64
}

// getMetricData answers a call. The caller holds mu.
func (s *Server) getMetricData(in cbor.Map) (cbor.Map, *Failure) {
	queries, _ := in["MetricDataQueries"].(cbor.List)
	if len(queries) == 0 || len(queries) > maxQueries {
		return nil, &Failure{http.StatusBadRequest, "ValidationError", fmt.Sprintf("The collection MetricDataQueries must have a size between 1 and %d", maxQueries)}
	}
	from, err1 := cbor.AsTime(in["StartTime"])
	to, err2 := cbor.AsTime(in["EndTime"])
	if err1 != nil || err2 != nil || !from.Before(to) {
		return nil, &Failure{http.StatusBadRequest, "ValidationError", "The parameter StartTime must be less than the parameter EndTime."}
	}
	if first, _ := queries[0].(cbor.Map); first["Expression"] != nil {
		return s.selected(queries, from, to)
	}
	var points []point
	parsed := make([]query, len(queries))
	for i, q := range queries {
		var ok bool
		if parsed[i], ok = parse(q); !ok {
			return nil, &Failure{http.StatusBadRequest, "ValidationError", fmt.Sprintf("The query %d has no Id, no Metric, another Period than 60, or another statistic than Sum", i)}
		}
		for _, p := range s.pointsOf(parsed[i], from, to) {
			points = append(points, point{i, p.minute, p.value})
		}
	}
	begin := 0
	if token, given := in["NextToken"].(cbor.String); given {
		n, err := strconv.Atoi(string(token))
		if err != nil || n > len(points) {
			return nil, &Failure{http.StatusBadRequest, "InvalidNextToken", "The next token is invalid."}
		}
		begin = n
	} else {
		s.asked += len(queries)
	}
	end := len(points)
	if s.page > 0 {
		end = min(end, begin+s.page)
	}
	return s.pageOf(parsed, points, begin, end), nil
}

// pageOf returns one page: the points from begin to end, and every metric, whose data are
// partial while more of them follow.
func (s *Server) pageOf(queries []query, points []point, begin, end int) cbor.Map {
	var results cbor.List
	for i, q := range queries {
		timestamps, values, more := cbor.List{}, cbor.List{}, false
		for n, p := range points {
			if p.query != i {
				continue
			}
			if n >= begin && n < end {
				timestamps = append(timestamps, &cbor.Tag{ID: 1, Value: cbor.Float64(p.minute)})
				values = append(values, cbor.Float64(p.value))
			}
			more = more || n >= end
		}
		status := cmp.Or(s.status[q.metric], "Complete")
		if more {
			status = "PartialData"
		}
		results = append(results, cbor.Map{
			"Id": cbor.String(q.id), "Label": cbor.String(q.metric.Name), "StatusCode": cbor.String(status), "Timestamps": timestamps, "Values": values,
		})
	}
	out := cbor.Map{"MetricDataResults": results, "Messages": cbor.List{}}
	if end < len(points) {
		out["NextToken"] = cbor.String(strconv.Itoa(end))
	}
	return out
}

// query is one metric that is asked for.
type query struct {
	id     string
	metric Metric
	period int64
}

func parse(v cbor.Value) (q query, ok bool) {
	m, _ := v.(cbor.Map)
	stat, _ := m["MetricStat"].(cbor.Map)
	metric, _ := stat["Metric"].(cbor.Map)
	id, _ := m["Id"].(cbor.String)
	name, _ := metric["MetricName"].(cbor.String)
	namespace, _ := metric["Namespace"].(cbor.String)
	statistic, _ := stat["Stat"].(cbor.String)
	period, err := cbor.AsInt64(stat["Period"])
	q = query{id: string(id), period: period, metric: Metric{Name: string(name)}}
	dimensions, _ := metric["Dimensions"].(cbor.List)
	for _, d := range dimensions {
		of, _ := d.(cbor.Map)
		dimension, _ := of["Name"].(cbor.String)
		value, _ := of["Value"].(cbor.String)
		switch dimension {
		case "TableName":
			q.metric.Table = string(value)
		case "GlobalSecondaryIndexName":
			q.metric.Index = string(value)
		}
	}
	return q, err == nil && period == 60 && id != "" && name != "" && namespace == "AWS/DynamoDB" && statistic == "Sum" && strings.ToLower(string(id[:1])) == string(id[:1])
}

// pointsOf returns a metric's points from one time to another, which is left out.
func (s *Server) pointsOf(q query, from, to time.Time) (all []point) {
	if s.status[q.metric] == "Forbidden" {
		return nil
	}
	for minute, values := range s.points[q.metric] {
		if minute < from.Unix() || minute >= to.Unix() {
			continue
		}
		sum := 0.0
		for _, v := range values {
			sum += v
		}
		all = append(all, point{0, minute, sum})
	}
	slices.SortFunc(all, func(a, b point) int { return cmp.Compare(a.minute, b.minute) })
	return all
}
