package cloudwatchtest

import (
	"cmp"
	"encoding/json"
	"hash/crc32"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/smithy-go/encoding/cbor"
)

// The documented limits of reports of DynamoDB's rules.
const (
	mostContributors = 25
	longestReport    = 24 * time.Hour
)

// Insights is what DynamoDB says of a table's or index's Contributor Insights.
type Insights struct {
	Status, Mode string
	Rules        []string
	// Failure is the name and the description of what failed.
	Failure [2]string
}

// insights are the state of Contributor Insights.
type insights struct {
	rules   map[string]*rule
	tables  map[[2]string]Insights // by table and index
	failing map[string]Failure     // by operation
}

// rule is what one rule counted.
type rule struct {
	state  string
	counts []contribution
}

// contribution is one observation.
type contribution struct {
	id     string
	keys   []string
	minute int64
	value  float64
}

// Describe sets what DynamoDB says of a table, or of an index of it.
func (s *Server) Describe(table, index string, in Insights) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tables == nil {
		s.tables = map[[2]string]Insights{}
	}
	s.tables[[2]string{table, index}] = in
	for _, name := range in.Rules {
		s.ruleOf(name)
	}
}

func (s *Server) ruleOf(name string) *rule {
	if s.rules == nil {
		s.rules = map[string]*rule{}
	}
	if s.rules[name] == nil {
		s.rules[name] = &rule{state: "ENABLED"}
	}
	return s.rules[name]
}

// Contribute adds what a rule counts of a key in a minute.
func (s *Server) Contribute(ruleName string, at time.Time, value float64, keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.ruleOf(ruleName)
	r.counts = append(r.counts, contribution{strings.Join(keys, "\x00"), keys, at.Unix() / 60 * 60, value})
}

// Disable disables a rule, which counts nothing any more; Remove takes one away.
func (s *Server) Disable(ruleName string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ruleOf(ruleName).state = "DISABLED"
}

// Remove is described at Disable.
func (s *Server) Remove(ruleName string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rules, ruleName)
}

// FailAll makes all calls of an operation fail.
func (s *Server) FailAll(operation string, with Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing == nil {
		s.failing = map[string]Failure{}
	}
	s.failing[operation] = with
}

// operationOf names what a request asks for.
func operationOf(r *http.Request) string {
	if target := r.Header.Get("X-Amz-Target"); target != "" {
		return target[strings.LastIndexByte(target, '.')+1:]
	}
	return r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
}

// refuseAny refuses a request in the protocol in which it was made.
func (s *Server) refuseAny(w http.ResponseWriter, r *http.Request, f Failure) {
	if r.Header.Get("X-Amz-Target") == "" {
		refuse(w, f)
		return
	}
	answerTables(w, f.Status, map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + f.Code, "message": f.Message})
}

// serveTables answers what is asked of DynamoDB. The caller holds mu.
func (s *Server) serveTables(w http.ResponseWriter, r *http.Request, target string) {
	var in struct{ TableName, IndexName string }
	err := json.NewDecoder(r.Body).Decode(&in)
	if err != nil || target != "DynamoDB_20120810.DescribeContributorInsights" {
		s.refuseAny(w, r, Failure{http.StatusBadRequest, "UnknownOperationException", target})
		return
	}
	of, known := s.tables[[2]string{in.TableName, in.IndexName}]
	if !known {
		s.refuseAny(w, r, Failure{http.StatusBadRequest, "ResourceNotFoundException", "Requested resource not found"})
		return
	}
	out := map[string]any{"TableName": in.TableName, "ContributorInsightsStatus": of.Status}
	if in.IndexName != "" {
		out["IndexName"] = in.IndexName
	}
	if len(of.Rules) > 0 {
		out["ContributorInsightsRuleList"] = of.Rules
	}
	if of.Mode != "" {
		out["ContributorInsightsMode"] = of.Mode
	}
	if of.Failure[0] != "" {
		out["FailureException"] = map[string]string{"ExceptionName": of.Failure[0], "ExceptionDescription": of.Failure[1]}
	}
	answerTables(w, http.StatusOK, out)
}

// answerTables writes a response as DynamoDB does, with a checksum that the SDK compares.
func answerTables(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(text)), 10))
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// reportRequest is a request for a report.
type reportRequest struct {
	rule     string
	from, to int64
	period   int64
	most     int64
	maximum  bool
}

// parseReport reads a request, and refuses what the API does.
func parseReport(in cbor.Map) (q reportRequest, f *Failure) {
	name, _ := in["RuleName"].(cbor.String)
	from, err1 := cbor.AsTime(in["StartTime"])
	to, err2 := cbor.AsTime(in["EndTime"])
	period, err3 := cbor.AsInt64(in["Period"])
	most, order := int64(10), cbor.String("Sum")
	if given := in["MaxContributorCount"]; given != nil {
		most, _ = cbor.AsInt64(given)
	}
	if given, is := in["OrderBy"].(cbor.String); is {
		order = given
	}
	wrong := ""
	switch {
	case name == "" || err1 != nil || err2 != nil || err3 != nil:
		wrong = "RuleName, StartTime, EndTime and Period are required"
	case !from.Before(to) || to.Sub(from) > longestReport:
		wrong = "The time range must be more than nothing, and at most 24 hours"
	case period < 60 || period%60 != 0:
		wrong = "Period must be a multiple of 60"
	case most < 1 || most > mostContributors:
		wrong = "DynamoDB's rules have at most 25 contributors"
	case order != "Sum" && order != "Maximum":
		wrong = "OrderBy must be Sum or Maximum"
	}
	if wrong != "" {
		return q, &Failure{http.StatusBadRequest, "InvalidParameterValue", wrong}
	}
	return reportRequest{string(name), from.Unix(), to.Unix(), period, most, order == "Maximum"}, nil
}

// listed is one contributor of a report.
type listed struct {
	keys   []string
	points map[int64]float64
	rank   float64
}

// getInsightRuleReport answers a call. The caller holds mu.
func (s *Server) getInsightRuleReport(in cbor.Map) (cbor.Map, *Failure) {
	q, failure := parseReport(in)
	if failure != nil {
		return nil, failure
	}
	r := s.rules[q.rule]
	if r == nil {
		return nil, &Failure{http.StatusNotFound, "ResourceNotFoundException", "The rule " + q.rule + " does not exist"}
	}
	byKey, aggregate := map[string]*listed{}, 0.0
	for _, c := range r.counts {
		if c.minute < q.from || c.minute >= q.to || r.state != "ENABLED" {
			continue
		}
		l := byKey[c.id]
		if l == nil {
			l = &listed{keys: c.keys, points: map[int64]float64{}}
			byKey[c.id] = l
		}
		at := q.from + (c.minute-q.from)/q.period*q.period
		if q.maximum {
			l.points[at] = max(l.points[at], c.value)
			l.rank = max(l.rank, c.value)
		} else {
			l.points[at] += c.value
			l.rank += c.value
		}
		aggregate += c.value
	}
	all := make([]*listed, 0, len(byKey))
	for _, l := range byKey {
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b *listed) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(strings.Join(a.keys, "\x00"), strings.Join(b.keys, "\x00")))
	})
	labels, contributors := cbor.List{cbor.String("PartitionKey")}, cbor.List{}
	for _, l := range all[:min(len(all), int(q.most))] {
		if len(l.keys) > len(labels) {
			labels = append(labels, cbor.String("SortKey"))
		}
		contributors = append(contributors, l.form())
	}
	return cbor.Map{
		"KeyLabels": labels, "AggregationStatistic": cbor.String("Sum"), "AggregateValue": cbor.Float64(aggregate),
		"ApproximateUniqueCount": cbor.Uint(len(all)), "Contributors": contributors,
	}, nil
}

// form is the contributor as the API's documents show one.
func (l *listed) form() cbor.Map {
	keys, points := cbor.List{}, cbor.List{}
	for _, k := range l.keys {
		keys = append(keys, cbor.String(k))
	}
	minutes := make([]int64, 0, len(l.points))
	for at := range l.points {
		minutes = append(minutes, at)
	}
	slices.Sort(minutes)
	for _, at := range minutes {
		points = append(points, cbor.Map{
			"Timestamp": &cbor.Tag{ID: 1, Value: cbor.Float64(at)}, "ApproximateValue": cbor.Float64(l.points[at]),
		})
	}
	return cbor.Map{"Keys": keys, "ApproximateAggregateValue": cbor.Float64(l.rank), "Datapoints": points}
}
