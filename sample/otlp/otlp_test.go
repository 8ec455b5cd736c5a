package otlp_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/otlp"
)

// heard keeps a decoder's results.
type heard struct {
	records []sample.Record
	bad     []string
}

func (h *heard) Record(r *sample.Record) { h.records = append(h.records, r.Clone()) }

func (h *heard) Bad(reason sample.RejectReason, excerpt []byte) {
	h.bad = append(h.bad, string(reason)+" "+string(excerpt))
}

func decode(message []byte) (h heard) {
	otlp.NewDecoder().Decode(message, 0, &h)
	return h
}

// line writes what matters of a record.
func line(r *sample.Record) string {
	text := fmt.Sprintf("%s %s %s/%s", r.Op, r.Target().Name(), r.PK, r.SK)
	if r.RCU > 0 {
		text += fmt.Sprintf(" rcu %g", float64(r.RCU)/1000)
	}
	if r.WCU > 0 {
		text += fmt.Sprintf(" wcu %g", float64(r.WCU)/1000)
	}
	if r.Estimated {
		text += " estimated"
	}
	if r.Read != sample.Eventual {
		text += " " + r.Read.String()
	}
	if r.Conflicts > 0 {
		text += fmt.Sprintf(" conflict %d", r.Conflicts)
	}
	if r.ConditionsFailed > 0 {
		text += fmt.Sprintf(" condition %d", r.ConditionsFailed)
	}
	if r.Throttle != "" {
		text += " throttled " + r.Throttle
	}
	if r.Rate != 1 {
		text += fmt.Sprintf(" rate %g", r.Rate)
	}
	if r.IsCallerOnly() {
		text += " caller only"
	}
	return text
}

// TestRecordedSDKs decodes what the instrumentations of four SDKs exported.
func TestRecordedSDKs(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]struct {
		caller string
		lines  []string
		bad    []string
	}{
		"go.pb": {"checkout-go", []string{
			"PutItem eu-west-1/orders customer#7/order#1 wcu 1 estimated",
			"GetItem eu-west-1/orders customer#7/order#1 rcu 1 estimated strong",
			"UpdateItem eu-west-1/orders customer#7/order#1 wcu 1 estimated",
			"PutItem eu-west-1/orders customer#7/order#1 wcu 1 estimated condition 1",
			"Query eu-west-1/orders / rcu 0.5 estimated caller only",
			"Scan eu-west-1/orders / rcu 0.5 estimated",
			"BatchWriteItem eu-west-1/orders / wcu 1 estimated caller only",
			"PutItem eu-west-1/throttled customer#7/ wcu 1 estimated throttled ProvisionedThroughputExceededException",
		}, []string{"failed_span DynamoDB.GetItem"}},
		"python.pb": {"checkout-py", []string{
			"PutItem eu-west-1/orders customer#7/order#1 wcu 2 estimated", // a total, which may include indexes
			"GetItem eu-west-1/orders customer#7/order#1 rcu 1 strong",
			"UpdateItem eu-west-1/orders customer#7/order#1 wcu 1 estimated",
			"PutItem eu-west-1/orders customer#7/order#1 wcu 1 estimated condition 1",
			"Query eu-west-1/orders / rcu 0.5 caller only",
			"Scan eu-west-1/orders / rcu 0.5",
			"BatchWriteItem eu-west-1/orders / wcu 1 estimated caller only",
			"PutItem eu-west-1/throttled customer#7/ wcu 1 estimated throttled ProvisionedThroughputExceededException",
		}, []string{"not_dynamodb DynamoDB.CreateTable", "not_dynamodb DynamoDB.CreateTable", "failed_span DynamoDB.GetItem"}},
		"python-sampled.pb": {"checkout-py", []string{
			// The sampler drops the attributes that a span starts with. Its name has the operation,
			// and its capacity the table.
			"GetItem orders customer#7/ rcu 0.5 rate 0.25", "GetItem orders customer#7/ rcu 0.5 rate 0.25",
		}, nil},
		"java.pb": {"checkout-java", []string{ // it records no Region
			"PutItem orders customer#7/order#1 wcu 1 estimated",
			"GetItem orders customer#7/order#1 rcu 1 strong",
			"UpdateItem orders customer#7/order#1 wcu 1 estimated",
			"PutItem orders customer#7/order#1 wcu 1 estimated condition 1",
			"Query orders / rcu 0.5 caller only",
			"Scan orders / rcu 0.5",
			"BatchWriteItem orders / wcu 1 estimated caller only",
			"PutItem throttled customer#7/ wcu 1 estimated throttled ProvisionedThroughputExceededException",
		}, []string{"failed_span DynamoDb.GetItem"}},
		"node.json": {"checkout-node", []string{
			"PutItem eu-west-1/orders customer#7/order#1 wcu 2 estimated",
			"GetItem eu-west-1/orders customer#7/order#1 rcu 1 strong",
			"UpdateItem eu-west-1/orders customer#7/order#1 wcu 1 estimated",
			"PutItem eu-west-1/orders customer#7/order#1 wcu 1 estimated condition 1",
			"Query eu-west-1/orders / rcu 0.5 caller only",
			"Scan eu-west-1/orders / rcu 0.5",
			"BatchWriteItem eu-west-1/orders / wcu 1 estimated caller only",
			"PutItem eu-west-1/throttled customer#7/ wcu 1 estimated throttled ProvisionedThroughputExceededException",
		}, []string{"failed_span DynamoDB.GetItem"}},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			message, err := os.ReadFile("testdata/" + file)
			must.Succeed(t, err)
			h := decode(message)
			var lines []string
			ids := map[string]bool{}
			for i := range h.records {
				r := &h.records[i]
				lines = append(lines, line(r))
				ids[r.ID] = true
				if r.Caller != want.caller || r.Time/1000 != 1795547750 && !slices.Contains([]string{"2026-11-24", "2026-11-27"}, time.UnixMilli(r.Time).UTC().Format(time.DateOnly)) || len(r.ID) < 16 {
					t.Errorf("caller %q, time %d, id %q", r.Caller, r.Time, r.ID)
				}
				if (r.Call != "") != (r.Rate < 1) {
					t.Errorf("call %q at rate %g", r.Call, r.Rate)
				}
			}
			if !slices.Equal(lines, want.lines) {
				t.Errorf("records\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want.lines, "\n"))
			}
			if !slices.Equal(h.bad, want.bad) {
				t.Errorf("bad %q, want %q", h.bad, want.bad)
			}
			if len(ids) != len(lines) {
				t.Errorf("%d ids of %d records", len(ids), len(lines))
			}
		})
	}
}

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

func list(key string, values ...string) *commonpb.KeyValue {
	all := &commonpb.ArrayValue{}
	for _, v := range values {
		all.Values = append(all.Values, text("", v).Value)
	}
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: all}}}
}

// put is a span of a PutItem with a key.
func put(more ...*commonpb.KeyValue) *tracepb.Span {
	return spanOf("PutItem", "orders", append(more, text("keyheat.partition_key", "a"))...)
}

func spanOf(op, table string, more ...*commonpb.KeyValue) *tracepb.Span {
	attributes := []*commonpb.KeyValue{text("db.system", "dynamodb"), text("rpc.method", op)}
	if table != "" {
		attributes = append(attributes, list("aws.dynamodb.table_names", table))
	}
	return &tracepb.Span{
		TraceId: []byte("0123456789abcdef"), SpanId: []byte("01234567"), Name: "DynamoDB." + op, StartTimeUnixNano: 1795547750393626157,
		Attributes: append(attributes, more...),
	}
}

// with changes a span.
func with(s *tracepb.Span, change func(*tracepb.Span)) *tracepb.Span {
	change(s)
	return s
}

func request(service string, spans ...*tracepb.Span) *tracepb.TracesData {
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource:   &resourcepb.Resource{Attributes: []*commonpb.KeyValue{text("service.name", service)}},
		ScopeSpans: []*tracepb.ScopeSpans{{Spans: spans}},
	}}}
}

// TestSpans has one span a row, in protobuf and in JSON.
func TestSpans(t *testing.T) {
	t.Parallel()
	capacity := func(json ...string) *commonpb.KeyValue { return list("aws.dynamodb.consumed_capacity", json...) }
	state := func(s string) *tracepb.Span { return with(put(), func(p *tracepb.Span) { p.TraceState = s }) }
	failure := func(op string, message string) *tracepb.Span {
		return with(spanOf(op, "orders", text("keyheat.partition_key", "a")), func(p *tracepb.Span) {
			p.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: message}
		})
	}
	number := &commonpb.KeyValue{Key: "keyheat.partition_key", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: 42}}}
	binary := &commonpb.KeyValue{Key: "keyheat.partition_key", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BytesValue{BytesValue: []byte{1, 2}}}}
	for _, s := range []struct {
		name string
		span *tracepb.Span
		want string // lines of records, or the reject reason
	}{
		{"a put", put(), "PutItem orders a/ wcu 1 estimated"},
		{"the newest convention", &tracepb.Span{Name: "x", StartTimeUnixNano: 1795547750393626157, Attributes: []*commonpb.KeyValue{
			text("db.system.name", "aws.dynamodb"), text("rpc.method", "DynamoDB/GetItem"), text("keyheat.partition_key", "a"), list("aws.dynamodb.table_names", "orders"),
		}}, "GetItem orders a/ rcu 0.5 estimated"},
		{"a service without a system", &tracepb.Span{Name: "x", StartTimeUnixNano: 1795547750393626157, Attributes: []*commonpb.KeyValue{
			text("rpc.method", "GetItem"), text("rpc.service", "DynamoDB"), text("keyheat.partition_key", "a"), text("aws.table.name", "orders"),
		}}, "GetItem orders a/ rcu 0.5 estimated"},
		{"a name alone", &tracepb.Span{Name: "DynamoDB.GetItem", StartTimeUnixNano: 1795547750393626157, Attributes: []*commonpb.KeyValue{
			text("keyheat.partition_key", "a"), list("aws.dynamodb.table_names", "orders"),
		}}, "GetItem orders a/ rcu 0.5 estimated"},
		{"an operation in the name alone", &tracepb.Span{Name: "DynamoDB.GetItem", StartTimeUnixNano: 1795547750393626157, Attributes: []*commonpb.KeyValue{
			text("rpc.service", "DynamoDB"), text("keyheat.partition_key", "a"), list("aws.dynamodb.table_names", "orders"),
		}}, "GetItem orders a/ rcu 0.5 estimated"},
		{"another database", &tracepb.Span{Name: "x", Attributes: []*commonpb.KeyValue{text("db.system", "redis"), text("db.operation", "GetItem")}}, "not_dynamodb"},
		{"an operation without data", spanOf("DescribeTable", "orders"), "not_dynamodb"},
		{"a number as the key", spanOf("PutItem", "orders", number), "PutItem orders 42/ wcu 1 estimated"},
		{"bytes as the key", spanOf("PutItem", "orders", binary), "PutItem orders AQI=/ wcu 1 estimated"},
		{"a list as the key", spanOf("PutItem", "orders", list("keyheat.partition_key", "a")), "bad_key"},
		{"an empty key", spanOf("PutItem", "orders", text("keyheat.partition_key", "")), "bad_key"},
		{"a key that is too long", spanOf("PutItem", "orders", text("keyheat.partition_key", strings.Repeat("k", 2049))), "key_too_long"},
		{"an ARN as the table", spanOf("PutItem", "arn:aws:dynamodb:eu-west-1:123456789012:table/orders", text("keyheat.partition_key", "a")), "PutItem 123456789012/eu-west-1/orders a/ wcu 1 estimated"},
		{"no table", spanOf("PutItem", ""), "no_table"},
		{"a table with an impossible name", spanOf("PutItem", "a b"), "bad_table"},
		{"no time", with(put(), func(p *tracepb.Span) { p.StartTimeUnixNano = 0 }), "bad_time"},
		{"a time beyond all", with(put(), func(p *tracepb.Span) { p.StartTimeUnixNano = 1<<64 - 1 }), "PutItem orders a/ wcu 1 estimated"}, // 2262: the collector refuses it
		{"two tables", spanOf("BatchGetItem", "", list("aws.dynamodb.table_names", "orders", "users"), capacity(`{"TableName":"users","CapacityUnits":3}`), text("keyheat.partition_key", "a")),
			"BatchGetItem orders / rcu 0.5 estimated caller only\nBatchGetItem users / rcu 3 caller only"},
		{"a transaction, whose tables only its capacity names", spanOf("TransactWriteItems", "", capacity(`{"TableName":"orders","CapacityUnits":4}`, `{"TableName":"users","CapacityUnits":2}`)),
			"TransactWriteItems orders / wcu 4 estimated caller only\nTransactWriteItems users / wcu 2 estimated caller only"},
		{"a statement without units", spanOf("ExecuteStatement", "orders", text("keyheat.partition_key", "a")), "no_op"},
		{"a statement with units", spanOf("ExecuteStatement", "orders", text("keyheat.partition_key", "a"), capacity(`{"TableName":"orders","CapacityUnits":2,"WriteCapacityUnits":2}`)), "ExecuteStatement orders a/ wcu 2 estimated"},
		{"capacity by index", put(capacity(`{"TableName":"orders","CapacityUnits":6,"Table":{"CapacityUnits":2},"LocalSecondaryIndexes":{"l":{"CapacityUnits":1}},"GlobalSecondaryIndexes":{"g":{"CapacityUnits":3}}}`)), "PutItem orders a/ wcu 3"},
		{"a query of a global index", spanOf("Query", "orders", text("aws.dynamodb.index_name", "by-date"), text("keyheat.partition_key", "a"), capacity(`{"TableName":"orders","CapacityUnits":3,"GlobalSecondaryIndexes":{"by-date":{"CapacityUnits":3}}}`)), "Query orders/by-date a/ rcu 3"},
		{"a query of a local index", spanOf("Query", "orders", text("aws.dynamodb.index_name", "l"), text("keyheat.partition_key", "a"), capacity(`{"TableName":"orders","CapacityUnits":3,"Table":{"CapacityUnits":1},"LocalSecondaryIndexes":{"l":{"CapacityUnits":2}}}`)), "Query orders a/ rcu 3"},
		{"capacity that is cut off", put(capacity(`{"TableName":"ord`)), "PutItem orders a/ wcu 1 estimated"},
		{"capacity below nothing", put(capacity(`{"TableName":"orders","CapacityUnits":-1}`)), "bad_units"},
		{"capacity without end", put(capacity(`{"TableName":"orders","CapacityUnits":1e300}`)), "bad_units"},
		{"a threshold of 3/4", state("ot=th:c"), "PutItem orders a/ wcu 1 estimated rate 0.25"},
		{"a threshold beside others", state("congo=t61,ot=rv:1234567890abcd;th:8"), "PutItem orders a/ wcu 1 estimated rate 0.5"},
		{"the threshold of all", state("ot=th:0"), "PutItem orders a/ wcu 1 estimated"},
		{"a threshold of 14 digits", state("ot=th:ffffffffffffff"), "bad_rate"},
		{"a threshold that is none", state("ot=th:xyz"), "PutItem orders a/ wcu 1 estimated"},
		{"a threshold that is too long", state("ot=th:0123456789abcdef"), "PutItem orders a/ wcu 1 estimated"},
		{"another vendor's threshold", state("vendor=th:c"), "PutItem orders a/ wcu 1 estimated"},
		{"a throttled request", failure("PutItem", "ThrottlingException: slow down"), "PutItem orders a/ wcu 1 estimated throttled ThrottlingException"},
		{"DynamoDB's own reason", failure("PutItem", "ThrottlingException: TableWriteKeyRangeThroughputExceeded at arn:aws:dynamodb:eu-west-1:1:table/orders"), "PutItem orders a/ wcu 1 estimated throttled TableWriteKeyRangeThroughputExceeded"},
		{"a message without an exception", failure("PutItem", "The level of configured provisioned throughput for the table was exceeded."), "PutItem orders a/ wcu 1 estimated throttled ThrottlingException"},
		{"a failed condition", failure("PutItem", "ConditionalCheckFailedException: no"), "PutItem orders a/ wcu 1 estimated condition 1"},
		{"a cancelled transaction", failure("TransactWriteItems", "TransactionCanceledException: [ConditionalCheckFailed, None]"), "TransactWriteItems orders a/ wcu 1 estimated"},
		{"a transaction in conflict with another", failure("TransactWriteItems", "TransactionCanceledException: [TransactionConflict, None]"), "failed_span"},
		{"a write in conflict with a transaction", failure("PutItem", "TransactionConflictException: Transaction is ongoing for the item"), "PutItem orders a/ estimated conflict 1"},
		{"a transaction of one item, in conflict", failure("TransactWriteItems", "TransactionCanceledException: [TransactionConflict]"), "TransactWriteItems orders a/ estimated conflict 1"},
		{"a transaction with a throttled item", failure("TransactWriteItems", "TransactionCanceledException: [ThrottlingError, None]"), "TransactWriteItems orders a/ wcu 2 estimated throttled ThrottlingError"},
		{"a timeout", failure("PutItem", "yes, it took too long"), "failed_span"},
		{"a status of HTTP", put(&commonpb.KeyValue{Key: "http.response.status_code", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: 500}}}), "failed_span"},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			data := request("web", s.span)
			protobuf, err := proto.Marshal(data)
			must.Succeed(t, err)
			json, err := protojson.Marshal(data)
			must.Succeed(t, err)
			for form, message := range map[string][]byte{"protobuf": protobuf, "JSON": json} {
				h := decode(message)
				var got []string
				for i := range h.records {
					got = append(got, line(&h.records[i]))
				}
				for _, bad := range h.bad {
					reason, _, _ := strings.Cut(bad, " ")
					got = append(got, reason)
				}
				if all := strings.Join(got, "\n"); all != s.want {
					t.Errorf("%s: %s\nwant %s", form, all, s.want)
				}
			}
		})
	}
}

// TestIDs: a request id names a span, or else its own id, written alike in both forms.
func TestIDs(t *testing.T) {
	t.Parallel()
	json := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","traceState":"ot=th:8","startTimeUnixNano":"1795547750393626157","attributes":[{"key":"db.system","value":{"stringValue":"dynamodb"}},{"key":"rpc.method","value":{"stringValue":"PutItem"}},{"key":"aws.dynamodb.table_names","value":{"arrayValue":{"values":[{"stringValue":"orders"}]}}},{"key":"keyheat.partition_key","value":{"stringValue":"a"}}],"unknownField":[1]}]}]}]}`
	h := decode([]byte(json))
	if len(h.records) != 1 || h.records[0].ID != "eee19b7ec3c1b174" || h.records[0].Call != "5b8efff798038103d269b633813fc60c" || h.records[0].Caller != "" {
		t.Errorf("%+v %q", h.records, h.bad)
	}
	message, err := proto.Marshal(request("unknown_service:node", with(put(), func(s *tracepb.Span) { s.TraceState = "ot=th:8" }), put(text("aws.request_id", "ABC"))))
	must.Succeed(t, err)
	h = decode(message)
	if len(h.records) != 2 || h.records[0].ID != "3031323334353637" || h.records[0].Call != "30313233343536373839616263646566" || h.records[1].ID != "ABC" || h.records[0].Caller != "" {
		t.Errorf("%+v %q", h.records, h.bad)
	}
}

// TestBrokenMessages: a broken message counts nothing, and a broken span leaves its neighbours.
func TestBrokenMessages(t *testing.T) {
	t.Parallel()
	good, err := proto.Marshal(request("web", put(), put()))
	must.Succeed(t, err)
	large := with(put(), func(s *tracepb.Span) { s.Name = strings.Repeat("n", 1<<20) })
	largeBeside, err := proto.Marshal(request("web", put(), large))
	must.Succeed(t, err)
	deep := strings.Repeat(`{"arrayValue":{"values":[`, 1000) + strings.Repeat(`]}}`, 1000)
	for _, m := range []struct {
		name, message string
		good          int
		bad           string
	}{
		{"nothing", "", 0, "empty"},
		{"no span", "{}", 0, "empty"},
		{"cut off", string(good[:len(good)-3]), 0, "syntax"},
		{"text", "hello", 0, "syntax"},
		{"JSON cut off", `{"resourceSpans":[{"scopeSpans":[{"spans":[{}`, 0, "syntax"},
		{"JSON of another shape", `{"resourceSpans":{}}`, 0, "syntax"},
		{"a span that is none", `{"resourceSpans":[{"scopeSpans":[{"spans":[7]}]}]}`, 0, "syntax"},
		{"an attribute without a value", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"db.system"},null]}]}]}]}`, 0, ""},
		{"a span nested without end", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"attributes":[{"key":"x","value":` + deep + `}]}]}]}]}`, 0, "syntax"},
		{"a span that is too large", string(largeBeside), 1, "too_large"},
	} {
		h := decode([]byte(m.message))
		if len(h.records) != m.good || len(h.bad) != 1 || m.bad != "" && !strings.HasPrefix(h.bad[0], m.bad+" ") {
			t.Errorf("%s: %d records, bad %q", m.name, len(h.records), h.bad)
		}
	}
}

// TestRatesOfTables: a configured rate is for spans without a threshold.
func TestRatesOfTables(t *testing.T) {
	t.Parallel()
	message, err := proto.Marshal(request("web", put(), with(put(), func(s *tracepb.Span) { s.TraceState = "ot=th:8" })))
	must.Succeed(t, err)
	var h heard
	d := otlp.NewDecoder()
	d.SetRates(map[string]float64{"orders": 0.1})
	d.Decode(message, 0, &h)
	if len(h.records) != 2 || h.records[0].Rate != 0.1 || h.records[1].Rate != 0.5 {
		t.Errorf("%+v %q", h.records, h.bad)
	}
}

// FuzzTraces checks that every message is accounted for, and every record passes Check or only
// names a caller. Messages in protobuf mean the same in JSON.
func FuzzTraces(f *testing.F) {
	for _, file := range []string{"go.pb", "python.pb", "python-sampled.pb", "java.pb", "node.json"} {
		message, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(message)
	}
	f.Add([]byte(`{"resourceSpans":[{"resource":{},"scopeSpans":[{"spans":[{"attributes":[null]}]}]}]}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		h := decode(message)
		if len(h.records)+len(h.bad) == 0 {
			t.Fatal("the message vanished")
		}
		for i := range h.records {
			r := &h.records[i]
			if reason := r.Check(); reason != "" && (reason != sample.RejectNoKey || !r.IsCallerOnly() || r.Caller == "") {
				t.Fatalf("%+v is %s", r, reason)
			}
		}
		var data tracepb.TracesData
		if strings.HasPrefix(string(message), "{") || proto.Unmarshal(message, &data) != nil {
			return
		}
		json, err := protojson.Marshal(&data)
		if err != nil || len(h.bad) > 0 { // what is bad may be too deep or too large in one form alone
			return
		}
		other := decode(json)
		for i := range other.records {
			if i < len(h.records) && line(&h.records[i]) != line(&other.records[i]) {
				t.Fatalf("%s is in JSON %s", line(&h.records[i]), line(&other.records[i]))
			}
		}
	})
}
