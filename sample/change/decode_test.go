package change_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
)

// TestUnits checks the price of writes by the Developer Guide, "DynamoDB read and write
// operations": PutItem, UpdateItem by the larger of the item before and after it, and
// DeleteItem.
func TestUnits(t *testing.T) {
	t.Parallel()
	const keys = `{"id":{"S":"1"}}`
	const kb = 1024
	for _, c := range []struct {
		story, record string
		wcu           sample.Milli
		bytes         int64
		estimated     bool
	}{
		{"put 1,024 bytes", record("INSERT", keys, "", sized(kb)), 1000, kb, false},
		{"put 1,025 bytes", record("INSERT", keys, "", sized(kb+1)), 2000, kb + 1, false},
		{"update 3.2 KB to 0.9 KB", record("MODIFY", keys, sized(3277), sized(922)), 4000, 3277, false},
		{"update 0.9 KB to 3.2 KB", record("MODIFY", keys, sized(922), sized(3277)), 4000, 3277, false},
		{"delete 1.6 KB", record("REMOVE", keys, sized(1638), ""), 2000, 1638, false},
		{"keys only", record("MODIFY", keys, "", ""), 1000, 0, true},
		{"an update of which only the new item is seen", record("MODIFY", keys, "", sized(3277)), 4000, 0, true},
		{"a delete of which nothing is seen", record("REMOVE", keys, "", ""), 1000, 0, true},
		{"a put with an old image, which says nothing", record("INSERT", keys, "null", sized(2*kb)), 2000, 2 * kb, false},
	} {
		k := decode(nil, c.record, 0)
		if len(k.records) != 1 || len(k.bad) > 0 {
			t.Errorf("%s: %s", c.story, k.reports())
			continue
		}
		if r := k.records[0]; r.WCU != c.wcu || r.RCU != 0 || r.Bytes != c.bytes || r.Estimated != c.estimated {
			t.Errorf("%s: %+v", c.story, r)
		}
	}
}

func TestTimeToLiveIsFree(t *testing.T) {
	t.Parallel()
	tables := sample.Schemas{"orders": {Indexes: map[string]sample.IndexSchema{"by-date": {KeySchema: sample.Keys("id")}}}}
	remove := record("REMOVE", `{"id":{"S":"1"}}`, sized(3000), "")
	for identity, want := range map[string]string{
		`{"type":"Service","principalId":"dynamodb.amazonaws.com"}`: "0",
		`{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}`: "0",
		`{"type":"Service","principalId":"dms.amazonaws.com"}`:      "3",
		`null`: "3",
	} {
		k := decode(tables, strings.Replace(remove, "{", `{"userIdentity":`+identity+",", 1), 0)
		got := k.reports()
		if strings.Count(got, "DeleteItem "+want) != 2 {
			t.Errorf("%s: %s, want two deletes of %s", identity, got, want)
		}
	}
}

// TestForms reads one change in each format that AWS and others write.
func TestForms(t *testing.T) {
	t.Parallel()
	const body = `"Keys":{"id":{"N":"7"}},"NewImage":{"id":{"N":"7"}},"SizeBytes":20,"StreamViewType":"NEW_AND_OLD_IMAGES"`
	const arn = `"eventSourceARN":"arn:aws:dynamodb:eu-west-1:123456789012:table/orders/stream/2026-11-21T02:27:12.185"`
	lambda := `{"eventID":"c4ca","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"eu-west-1","eventName":"INSERT",` +
		arn + `,"dynamodb":{"ApproximateCreationDateTime":1763692032,"SequenceNumber":"4421584500000000017450439091",` + body + `}}`
	kinesis := `{"awsRegion":"eu-west-1","eventID":"c4ca","eventName":"INSERT","userIdentity":null,"recordFormat":"application/json",` +
		`"tableName":"orders","dynamodb":{"ApproximateCreationDateTime":1763692032185,` + body + `},"eventSource":"aws:dynamodb"}`
	for _, c := range []struct {
		story, message string
		records        int
		time           int64
		account        string
	}{
		{"a Lambda event", `{"Records":[` + lambda + "," + lambda + `]}`, 2, 1763692032000, "123456789012"},
		{"a Lambda event, printed", "{\n  \"Records\": [\n" + lambda + "\n  ]\n}\n", 1, 1763692032000, "123456789012"},
		{"a list of records, as from EventBridge Pipes", "[" + lambda + ",\n" + lambda + "]", 2, 1763692032000, "123456789012"},
		{"one record", lambda, 1, 1763692032000, "123456789012"},
		{"Kinesis Data Streams for DynamoDB", kinesis, 1, 1763692032185, ""},
		{"in microseconds", strings.Replace(kinesis, "1763692032185", "1763692032185999", 1), 1, 1763692032185, ""},
		{"records line by line", kinesis + "\n" + kinesis + "\r\n\n", 2, 1763692032185, ""},
		{"a time with a fraction of a second", strings.Replace(kinesis, "1763692032185", "1763692032.185", 1), 1, 1763692032185, ""},
		{"a time in words", strings.Replace(kinesis, "1763692032185", `"2025-11-21T02:27:12.185Z"`, 1), 1, 1763692032185, ""},
		{"no time: the message's", strings.Replace(kinesis, "1763692032185", `null`, 1), 1, 1763692000000, ""},
		{"names in another case", strings.NewReplacer("Keys", "keys", "NewImage", "newImage", "Approx", "approx").Replace(kinesis), 1, 1763692032185, ""},
	} {
		k := decode(nil, c.message, 1763692000000)
		if len(k.records) != c.records || len(k.bad) > 0 {
			t.Errorf("%s: %s", c.story, k.reports())
			continue
		}
		for _, r := range k.records {
			want := sample.Record{
				Time: c.time, TimeFromMessage: c.time == 1763692000000, Table: "orders", PK: sample.Key{Type: "N", Text: "7"},
				Op: sample.PutItem, WCU: 1000, Bytes: 4, Rate: 1, N: 1, Account: c.account, Region: "eu-west-1", ID: "c4ca",
			}
			if got, wanted := r.AppendJSON(nil), want.AppendJSON(nil); string(got) != string(wanted) || r.Estimated {
				t.Errorf("%s:\n%s, want\n%s", c.story, got, wanted)
			}
		}
	}
}

// TestKeyVectors holds the decoder to the examples that all decoders share.
func TestKeyVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../testdata/keys.json")
	must.Succeed(t, err)
	var file struct {
		Keys []struct {
			Name, Type, Text string
			JSON             json.RawMessage
			Also             []json.RawMessage
			Bad              sample.RejectReason
		}
	}
	must.Succeed(t, json.Unmarshal(text, &file))
	tried := 0
	for _, v := range file.Keys {
		for _, spelling := range append([]json.RawMessage{v.JSON}, v.Also...) {
			if spelling[0] != '{' { // no spelling of a stream
				continue
			}
			tried++
			k := decode(nil, record("INSERT", `{"id":`+string(spelling)+`}`, "", ""), 0)
			switch {
			case v.Bad != "":
				sameReasons(t, k.bad, v.Bad)
			case len(k.records) != 1 || k.records[0].PK != sample.Key{Type: v.Type, Text: v.Text}:
				t.Errorf("%s: %s gave %s", v.Name, spelling, k.reports())
			}
		}
	}
	if tried < 30 {
		t.Errorf("only %d spellings tried", tried)
	}
}

// TestWhichKeyIsWhich separates the partition key from the sort key.
func TestWhichKeyIsWhich(t *testing.T) {
	t.Parallel()
	both := `{"order":{"N":"7"},"customer":{"S":"ann"}}`
	for _, c := range []struct {
		story, keys, want string
		schema            sample.Schema
	}{
		{"one key is the partition key", `{"id":{"S":"a"}}`, " a/ UpdateItem 1", sample.Schema{}},
		{"of two nobody knows", both, "bad key_schema_not_configured", sample.Schema{}},
		{"unless it is configured", both, " ann/7 UpdateItem 1", sample.Schema{KeySchema: sample.Keys("customer", "order")}},
		{"the one left over is the sort key", both, " 7/ann UpdateItem 1", sample.Schema{KeySchema: sample.Keys("order")}},
		{"keys other than configured", both, "bad key_schema_not_configured", sample.Schema{KeySchema: sample.Keys("customer", "date")}},
		{"the partition key is not among them", both, "bad key_schema_not_configured", sample.Schema{KeySchema: sample.Keys("id")}},
		{"one key where two are configured", `{"customer":{"S":"a"}}`, "bad key_schema_not_configured", sample.Schema{KeySchema: sample.Keys("customer", "order")}},
		{"three keys", `{"a":{"S":"a"},"b":{"S":"b"},"c":{"S":"c"}}`, "bad bad_key", sample.Schema{}},
		{"none", `{}`, "bad no_key", sample.Schema{}},
		{"a key too long", `{"id":{"S":"` + strings.Repeat("x", 2049) + `"}}`, "bad key_too_long", sample.Schema{}},
	} {
		if got := decode(sample.Schemas{"orders": c.schema}, record("MODIFY", c.keys, "", ""), 0).reports(); got != c.want {
			t.Errorf("%s: %q, want %q", c.story, got, c.want)
		}
	}
	if hint := change.Hint(change.RejectKeySchema); !strings.Contains(hint, "tables.NAME.partition_key") {
		t.Errorf("the hint %q does not say what to configure", hint)
	}
}

// TestBadRecords checks the reject reason of bad records. The good record behind each always
// counts.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	good := record("INSERT", `{"id":{"S":"1"}}`, "", sized(100))
	change := func(from, to string) string { return strings.Replace(good, from, to, 1) }
	for _, c := range []struct {
		story, record string
		want          sample.RejectReason
	}{
		{"no JSON", `{"eventName":`, sample.RejectSyntax},
		{"a text with a line end", "{\"eventName\":\"INS\n", sample.RejectSyntax},
		{"no object", `7`, sample.RejectNotObject},
		{"words", `hello`, sample.RejectSyntax},
		{"a bare bracket", `}`, sample.RejectSyntax},
		{"too deep", strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), sample.RejectTooDeep},
		{"half a surrogate pair", change(`"S":"1"`, `"S":"\ud83d"`), sample.RejectBadUTF8},
		{"a pair of wrong halves", change(`"S":"1"`, `"S":"\ud83d\u0041"`), sample.RejectBadUTF8},
		{"invalid UTF-8", change(`"S":"1"`, "\"S\":\"\xff\""), sample.RejectBadUTF8},
		{"Keyheat's own form", `{"ts":1763692032185,"table":"orders","pk":"a","wcu":1}`, "not_stream_record"},
		{"an event of another name", change("INSERT", "insert"), sample.RejectBadOp},
		{"no table", change(`"tableName":"orders",`, ""), sample.RejectNoTable},
		{"a table that is no text", change(`"tableName":"orders"`, `"tableName":7`), sample.RejectBadText},
		{"no time anywhere", change(`"ApproximateCreationDateTime":1763692032`, `"SizeBytes":1`), sample.RejectNoTime},
		{"a time before DynamoDB", change("1763692032", "1"), sample.RejectBadTime},
		{"a negative time", change("1763692032", "-1"), sample.RejectBadTime},
		{"a time beyond all", change("1763692032", "1e300"), sample.RejectBadTime},
		{"a time that is none", change("1763692032", `"yesterday"`), sample.RejectBadTime},
		{"keys that are no attributes", change(`"Keys":{"id":{"S":"1"}}`, `"Keys":[]`), sample.RejectBadKey},
		{"an image that is none", change(`"body":{"S"`, `"body":{"s"`), "bad_image"},
		{"an item that no table holds", record("INSERT", `{"id":{"S":"1"}}`, "", sized(500<<10)), sample.RejectTooLarge},
	} {
		k := decode(nil, c.record+"\n"+good, 0)
		if len(k.records) != 1 || len(k.bad) != 1 || k.bad[0] != c.want {
			t.Errorf("%s: %s, want %s and one good", c.story, k.reports(), c.want)
		}
	}
	sameReasons(t, decode(nil, " \n", 0).bad, sample.RejectEmpty)
}

// TestListsKeepTheirGoodRecords reads broken arrays and counts their good records.
func TestListsKeepTheirGoodRecords(t *testing.T) {
	t.Parallel()
	good := record("INSERT", `{"id":{"S":"1"}}`, "", "")
	for _, c := range []struct {
		story, message string
		records        int
		bad            []sample.RejectReason
	}{
		{"an empty one", "[ ]\n" + good, 1, nil},
		{"with something else in it", "[" + good + ",7," + good + "]", 2, []sample.RejectReason{sample.RejectNotObject}},
		{"cut off", "[" + good + "," + good[:40], 1, []sample.RejectReason{sample.RejectSyntax}},
		{"cut off behind a comma", "[" + good + ",", 1, []sample.RejectReason{sample.RejectSyntax}},
		{"with elements that nothing divides", "[" + good + good + "]\n" + good, 2, []sample.RejectReason{sample.RejectSyntax}},
		{"broken over lines, another behind it", "[\n" + good + ",\n{]\n" + good + "]\n[" + good + "]", 2, []sample.RejectReason{sample.RejectSyntax}},
		{"an object over lines, broken", "{\n\"a\":1,,\n}\n" + good, 1, []sample.RejectReason{sample.RejectSyntax}},
		{"Records that are none", `{"Records":7}`, 0, []sample.RejectReason{change.RejectNotChange}},
		{"no Records", `{"Records":[]}`, 0, nil},
	} {
		k := decode(nil, c.message, 0)
		if len(k.records) != c.records {
			t.Errorf("%s: %s", c.story, k.reports())
		}
		sameReasons(t, k.bad, c.bad...)
	}
}
