package otlp

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/keyheat/keyheat/sample"
)

// maxTables bounds the tables of a request. Source: API reference, BatchGetItem: at most 100
// items.
const maxTables = 100

// request is a span's request, as its attributes describe it.
type request struct {
	caller, trace, id string
	rate              float64 // 0 if unknown

	start                      int64 // Unix milliseconds
	system, service, operation string
	tables                     []string
	capacities                 []capacity
	index, region, awsID       string
	strong                     bool
	pk, sk                     sample.Key
	badKey                     bool
	collections                []string // item collection metrics, as JSON
	// status is HTTP's, 0 if unknown. failed is what the span itself says; errors are all texts
	// about errors.
	status int64
	failed bool
	errors []string
}

func (q *request) read(s *tracepb.Span) {
	q.start = int64(min(s.StartTimeUnixNano, math.MaxInt64) / 1e6)
	for _, a := range s.Attributes {
		q.set(a.GetKey(), a.GetValue())
	}
	if q.operation == "" { // some samplers drop a span's first attributes
		service, operation, _ := strings.Cut(s.Name, ".")
		q.operation = operation
		if q.system+q.service == "" {
			q.service = service
		}
	}
	for _, e := range s.Events {
		if e.Name != "exception" {
			continue
		}
		q.failed = q.failed || q.status/100 != 2 // no trace of an attempt that was repeated
		for _, a := range e.Attributes {
			if a.Key == "exception.type" || a.Key == "exception.message" {
				q.errors = append(q.errors, a.GetValue().GetStringValue())
			}
		}
	}
	if s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR {
		q.failed = true
		q.errors = append(q.errors, s.Status.Message)
	}
	q.failed = q.failed || q.status >= 400
}

// set reads an attribute by its name in one of the semantic conventions.
func (q *request) set(name string, v *commonpb.AnyValue) {
	switch name {
	case "db.system", "db.system.name":
		q.system = v.GetStringValue()
	case "rpc.service":
		q.service = v.GetStringValue()
	case "rpc.method": // since 1.39 with the service: DynamoDB/PutItem
		service, operation, both := strings.Cut(v.GetStringValue(), "/")
		if !both {
			service, operation = q.service, service
		}
		q.service, q.operation = service, operation
	case "db.operation", "db.operation.name":
		q.operation = cmp.Or(q.operation, v.GetStringValue())
	case "aws.dynamodb.table_names", "aws.table.name":
		q.tables = append(q.tables, texts(v)...)
	case "aws.dynamodb.consumed_capacity":
		q.capacities = parseCapacities(texts(v))
	case "aws.dynamodb.item_collection_metrics":
		q.collections = texts(v)
	case "aws.dynamodb.index_name":
		q.index = v.GetStringValue()
	case "aws.dynamodb.consistent_read":
		q.strong = v.GetBoolValue()
	case "aws.region", "cloud.region":
		q.region = v.GetStringValue()
	case "aws.request_id", "aws.request.id", "aws.requestId":
		q.awsID = v.GetStringValue()
	case "http.response.status_code", "http.status_code":
		q.status = v.GetIntValue()
	case "error.type":
		q.failed = true
		q.errors = append(q.errors, v.GetStringValue())
	case "keyheat.partition_key":
		q.pk = q.key(v)
	case "keyheat.sort_key":
		q.sk = q.key(v)
	}
}

// texts returns a text, or the texts of an array.
func texts(v *commonpb.AnyValue) (all []string) {
	if text := v.GetStringValue(); text != "" {
		return []string{text}
	}
	for _, element := range v.GetArrayValue().GetValues() {
		all = append(all, element.GetStringValue())
	}
	return all
}

// key returns the key of an attribute. Its type is the attribute's.
func (q *request) key(v *commonpb.AnyValue) sample.Key {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return sample.KeyString(v.StringValue)
	case *commonpb.AnyValue_BytesValue:
		return sample.KeyBinary(v.BytesValue)
	case *commonpb.AnyValue_IntValue:
		if k, err := sample.KeyNumber(strconv.FormatInt(v.IntValue, 10)); err == nil {
			return k
		}
	}
	q.badKey = true
	return sample.Key{}
}

// identify returns the tables of a data operation, or the reason to reject the span.
func (q *request) identify() ([]string, sample.RejectReason) {
	_, known := sample.ParseOp(q.operation)
	if !known || q.system != "dynamodb" && q.system != "aws.dynamodb" && !strings.EqualFold(q.service, "DynamoDB") {
		return nil, RejectNotRequest
	}
	tables := q.tables
	if len(tables) == 0 { // no instrumentation names the tables of a transaction
		for _, c := range q.capacities {
			tables = append(tables, c.TableName)
		}
	}
	switch {
	case q.badKey:
		return nil, sample.RejectBadKey
	case len(tables) == 0:
		return nil, sample.RejectNoTable
	}
	return tables[:min(len(tables), maxTables)], ""
}

// record returns the record of one of the request's tables, or the reason to reject it. The key
// is known if it is the only table.
func (d *Decoder) record(q *request, table string, only bool) (sample.Record, sample.RejectReason) {
	r := sample.Record{Time: q.start, Region: q.region, Index: q.index, Rate: 1, N: 1, Caller: q.caller, ID: cmp.Or(q.awsID, q.id)}
	r.Op, _ = sample.ParseOp(q.operation)
	r.Locate(table)
	if only {
		r.PK, r.SK = q.pk, q.sk
		if named, _ := sample.Lookup(d.itemCollections, r.Target()); named && q.pk == (sample.Key{}) {
			r.PK = collectionKey(q.collections)
		}
	}
	switch {
	case r.Op == sample.TransactGetItems:
		r.Read = sample.Transactional
	case r.Op.IsRead() && q.strong:
		r.Read = sample.Strong
	}
	if configured, ok := sample.Lookup(d.rates, r.Target()); ok {
		r.Rate = configured
	}
	if q.rate > 0 {
		r.Rate = q.rate
	}
	if r.Rate < 1 {
		r.Call = q.trace
	}
	if q.failed {
		if r.Throttle = throttleText(q.errors); r.Throttle == "" && q.lostBy() == "" {
			return r, RejectFailed
		}
	}
	if !q.charge(&r, only) {
		return r, sample.RejectNoOp
	}
	if q.failed && r.Throttle == "" {
		r.End(q.lostBy())
	}
	return r, check(&r)
}

// check is Record.Check, which also accepts a record that only names its caller.
func check(r *sample.Record) sample.RejectReason {
	if !r.IsCallerOnly() || r.Caller == "" {
		return r.Check()
	}
	keyed := *r
	keyed.PK = sample.KeyString("any")
	return keyed.Check()
}

// lostBy returns the code of the conflict or the failed condition that ended a request's item, or
// "" for an error of unknown cost. A span has one key: different reasons of several items do not
// tell which is its own. It was prepared and not committed, if all were.
func (q *request) lostBy() string {
	for _, text := range q.errors {
		codes := sample.ParseCancellation(text)
		if codes == nil {
			continue
		}
		if code := codeOf(text); code != "" || slices.ContainsFunc(codes, func(code string) bool { return code != "None" && codeOf(code) != "ConditionalCheckFailed" }) {
			return code
		}
		return "None"
	}
	for _, text := range q.errors {
		if code := codeOf(text); code != "" {
			return code
		}
	}
	return ""
}

func codeOf(text string) string {
	switch sample.ParseLost(text) {
	case sample.EndedInConflict:
		return "TransactionConflict"
	case sample.EndedByCondition:
		return "ConditionalCheckFailed"
	}
	return ""
}

// shortestThrottle is the length of the shortest name of a throttle, "Throttling". Shorter words
// of a message, such as "yes", mean nothing.
const shortestThrottle = 10

// throttleText returns the best name of a throttle among texts about errors: DynamoDB's reason,
// or else the exception. It is empty if no text is about throttling.
func throttleText(errors []string) (exception string) {
	for _, text := range errors {
		for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return !unicode.IsLetter(c) }) {
			throttle, known := sample.ParseThrottle(word)
			switch {
			case len(word) < shortestThrottle || !known || throttle == "":
			case sample.ParseThrottleReason(word, "") != sample.ThrottleUnknown:
				return word
			default:
				exception = cmp.Or(exception, word)
			}
		}
		if throttle, known := sample.ParseThrottle(text); known && throttle != "" && len(text) >= shortestThrottle {
			exception = cmp.Or(exception, "ThrottlingException") // a message without a name
		}
	}
	return exception
}

// rateOf returns the sampling rate of a tracestate with a rejection threshold T of 56 bits:
// 1-T/2^56. It is 0 if there is none. Source: "TraceState: Probability Sampling".
func rateOf(tracestate string) float64 {
	const digits = 14
	for entry := range strings.SplitSeq(tracestate, ",") {
		fields, ours := strings.CutPrefix(strings.TrimSpace(entry), "ot=")
		if !ours {
			continue
		}
		for field := range strings.SplitSeq(fields, ";") {
			threshold, ours := strings.CutPrefix(field, "th:")
			if !ours || threshold == "" || len(threshold) > digits {
				continue
			}
			t, err := strconv.ParseUint(threshold+strings.Repeat("0", digits-len(threshold)), 16, 64)
			if err != nil {
				return 0
			}
			return float64(1<<56-t) / (1 << 56)
		}
	}
	return 0
}

// isUnnamed reports whether a service has no name of its own.
func isUnnamed(service string) bool {
	return service == "" || service == "unknown_service" || strings.HasPrefix(service, "unknown_service:")
}
