package otlp_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample/otlp"
)

// TestItemCollectionsAsKeys: the metrics name the key of tables in the setting alone, in the
// forms that the instrumentations of Python, Java and Node write: testdata/README.md.
func TestItemCollectionsAsKeys(t *testing.T) {
	t.Parallel()
	const metrics = "aws.dynamodb.item_collection_metrics"
	python := func(key string) *tracepb.Span {
		return spanOf("PutItem", "orders", text(metrics, `{"ItemCollectionKey": {"pk": `+key+`}, "SizeEstimateRangeGB": [0, 1]}`))
	}
	node := func(key string) *tracepb.Span {
		return spanOf("UpdateItem", "orders", list(metrics, `{"ItemCollectionKey":{"pk":`+key+`},"SizeEstimateRangeGB":[0,1]}`))
	}
	java := func(key string) *tracepb.Span {
		return spanOf("DeleteItem", "orders", text(metrics, `{"ItemCollectionKey":{"pk":`+key+`},"SizeEstimateRangeGB":[0.0,1.0]}`))
	}
	const none = "PutItem orders / wcu 1 estimated caller only"
	for _, s := range []struct {
		name string
		span *tracepb.Span
		want string
	}{
		{"a text", python(`{"S": "customer#7"}`), "PutItem orders customer#7/ wcu 1 estimated"},
		{"a text of Java", java(`{"S":"customer#7"}`), "DeleteItem orders customer#7/ wcu 1 estimated"},
		{"a text of boto3's resource", python(`"customer#7"`), "PutItem orders customer#7/ wcu 1 estimated"},
		{"a text in a list", node(`{"S":"customer#7"}`), "UpdateItem orders customer#7/ wcu 1 estimated"},
		{"a number", node(`{"N":"42"}`), "UpdateItem orders 42/ wcu 1 estimated"},
		{"a number of Python", python(`{"N": "42"}`), "PutItem orders 42/ wcu 1 estimated"},
		{"bytes of JavaScript", node(`{"B":{"0":1,"1":2}}`), "UpdateItem orders AQI=/ wcu 1 estimated"},
		{"bytes of Java", java(`{"B":"AQI="}`), "DeleteItem orders AQI=/ wcu 1 estimated"},
		{"an attribute comes first", with(python(`{"S": "b"}`), func(s *tracepb.Span) { s.Attributes = append(s.Attributes, text("keyheat.partition_key", "a")) }), "PutItem orders a/ wcu 1 estimated"},
		{"another table", spanOf("PutItem", "carts", text(metrics, `{"ItemCollectionKey": {"pk": {"S": "a"}}}`)), "PutItem carts / wcu 1 estimated caller only"},
		{"a batch, whose metrics are by table", spanOf("BatchWriteItem", "orders", text(metrics, `{"orders": [{"ItemCollectionKey": {"pk": {"S": "a"}}}]}`)), "BatchWriteItem orders / wcu 1 estimated caller only"},
		{"JSON that is cut off", python(`{"S": "cust`), none},
		{"no JSON", spanOf("PutItem", "orders", text(metrics, "customer#7")), none},
		{"a key of two attributes", python(`{"S": "a"}, "sk": {"S": "b"}`), none},
		{"a value without a type", python(`{}`), none},
		{"a number that is none", python(`{"N": "many"}`), none},
		{"bytes with a gap", python(`{"B": {"0": 1, "7": 2}}`), none},
		{"bytes above 255", python(`{"B": {"0": 256}}`), none},
		{"a list as the key", python(`{"L": []}`), none},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			message, err := proto.Marshal(request("web", s.span))
			must.Succeed(t, err)
			var on heard
			d := otlp.NewDecoder()
			d.SetItemCollections(map[string]bool{"orders": true})
			d.Decode(message, 0, &on)
			if len(on.records) != 1 || line(&on.records[0]) != s.want {
				t.Errorf("%+v %q, want %s", on.records, on.bad, s.want)
			}
			off := decode(message)
			if len(off.records) != 1 || s.name != "an attribute comes first" && !off.records[0].IsCallerOnly() {
				t.Errorf("without the setting: %+v %q", off.records, off.bad)
			}
		})
	}
}
