package cloudtrail_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/reasons"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
	"github.com/keyheat/keyheat/sample/cloudtrail"
)

// recorder is a handler that keeps samples.
type recorder struct {
	records []sample.Record
	bad     []sample.RejectReason
}

func (k *recorder) Record(r *sample.Record) { k.records = append(k.records, r.Clone()) }

func (k *recorder) Bad(reason sample.RejectReason, _ []byte) { k.bad = append(k.bad, reason) }

// reports formats each sample in a line: target, key and operation, units.
func (k *recorder) reports() string {
	var all []string
	for _, r := range k.records {
		text := fmt.Sprintf("%s/%s %s/%s %s %g %g", r.Table, r.Index, r.PK, r.SK, r.Op, float64(r.RCU)/1000, float64(r.WCU)/1000)
		if r.Throttle != "" {
			text += " throttled"
		}
		all = append(all, text+strings.Repeat(" conflict", int(r.Conflicts))+strings.Repeat(" condition", int(r.ConditionsFailed)))
	}
	for _, reason := range k.bad {
		all = append(all, "bad "+string(reason))
	}
	return strings.Join(all, "; ")
}

func decode(message string) *recorder {
	k := &recorder{}
	tables := sample.Schemas{"Music": {KeySchema: sample.Keys("Artist", "SongTitle")}}
	cloudtrail.NewDecoder(tables).Decode([]byte(message), 0, k)
	return k
}

// event returns a data event in the form of the Developer Guide's examples.
func event(name, request, more string) string {
	return fmt.Sprintf(`{"eventVersion":"1.06","userIdentity":{"type":"AssumedRole","arn":"arn:aws:sts::111122223333:assumed-role/users/bob"},`+
		`"eventTime":"2026-11-21T02:27:12Z","eventSource":"dynamodb.amazonaws.com","eventName":%q,"awsRegion":"us-west-2",`+
		`"requestParameters":%s,"responseElements":null,%s"eventID":"a954","readOnly":false,`+
		`"resources":[{"accountId":"111122223333","type":"AWS::DynamoDB::Table","ARN":"arn:aws:dynamodb:us-west-2:123456789012:table/Music"}],`+
		`"recipientAccountId":"111122223333","eventCategory":"Data"}`, name, request, more)
}

const song = `"tableName":"Music","key":{"Artist":"No One You Know","SongTitle":"Call Me Today"}`

func TestEvents(t *testing.T) {
	t.Parallel()
	const on = "Music/ No One You Know/Call Me Today "
	for _, c := range []struct{ story, event, want string }{
		{"a put", event("PutItem", `{`+song+`,"item":["Artist","SongTitle"]}`, ""), on + "PutItem 0 1"},
		{"an update", event("UpdateItem", `{`+song+`}`, ""), on + "UpdateItem 0 1"},
		{"a failed condition costs the same", event("DeleteItem", `{`+song+`}`, `"errorCode":"ConditionalCheckFailedException",`), on + "DeleteItem 0 1 condition"},
		{"a read", event("GetItem", `{`+song+`}`, ""), on + "GetItem 0.5 0"},
		{"a strongly consistent read", event("GetItem", `{`+song+`,"consistentRead":true}`, ""), on + "GetItem 1 0"},
		{"a table by its ARN", event("GetItem", `{"tableName":"arn:aws:dynamodb:us-west-2:123456789012:table/One","key":{"id":7}}`, ""), "One/ 7/ GetItem 0.5 0"},
		{"typed keys", event("GetItem", `{"tableName":"One","key":{"id":{"N":"7.0"}}}`, ""), "One/ 7/ GetItem 0.5 0"},
		{"a scan reads the table", event("Scan", `{"tableName":"Music","indexName":"by-year"}`, ""), "Music/by-year / Scan 0.5 0"},
		{"a transaction is many writes, each twice the price", event("TransactWriteItems",
			`{"requestItems":[{"operation":"Put",`+song+`},{"operation":"ConditionCheck","TableName":"One","Key":{"id":"a"}},{"operation":"Put","tableName":"One"}]}`, ""),
			on + "TransactWriteItems 0 2; One/ a/ TransactWriteItems 0 2; bad transaction_without_key"},
		{"a transaction of reads", event("TransactGetItems", `{"requestItems":[{`+song+`}]}`, ""), on + "TransactGetItems 2 0"},
		{"a transaction that was cancelled at unknown cost", event("TransactWriteItems", `{"requestItems":[{`+song+`}]}`, `"errorCode":"TransactionCanceledException",`), "bad failed_request"},
		{"a cancelled transaction names the reason of each item, in their order", event("TransactWriteItems",
			`{"requestItems":[{`+song+`},{"tableName":"One","key":{"id":"a"}},{"tableName":"One","key":{"id":"b"}},{"tableName":"One","key":{"id":"c"}},{"tableName":"One","key":{"id":"d"}}]}`,
			`"errorCode":"TransactionCanceledException","errorMessage":"Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict, ConditionalCheckFailed, ThrottlingError, ValidationError]",`),
			on + "TransactWriteItems 0 1; One/ a/ TransactWriteItems 0 0 conflict; One/ b/ TransactWriteItems 0 1 condition; One/ c/ TransactWriteItems 0 2 throttled; bad failed_request"},
		{"a cancelled transaction with more reasons than items", event("TransactWriteItems", `{"requestItems":[{`+song+`}]}`,
			`"errorCode":"TransactionCanceledException","errorMessage":"Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]",`), "bad failed_request"},
		{"a transaction without items", event("TransactWriteItems", `{}`, ""), "bad transaction_without_key"},
		{"a query", event("Query", `{"tableName":"Music","keyConditionExpression":"Artist = :a"}`, ""), "bad query_without_key"},
		{"a batch", event("BatchWriteItem", `{"requestItems":{"Music":[]}}`, ""), "bad batch_without_key"},
		{"a statement", event("ExecuteStatement", `{"statement":"SELECT * FROM Music WHERE Artist = 'No One You Know'"}`, ""), "bad statement_without_key"},
		{"a refusal", event("GetItem", `{`+song+`}`, `"errorCode":"AccessDenied",`), "bad failed_request"},
		{"no request", event("GetItem", `null`, ""), "bad no_key"},
		{"a key and no table", event("GetItem", `{"key":{"id":"a"}}`, ""), "bad no_table"},
		{"an empty key", event("GetItem", `{"tableName":"One","key":{"id":""}}`, ""), "bad bad_key"},
		{"a key that is no key", event("GetItem", `{"tableName":"One","key":{"id":null}}`, ""), "bad bad_key"},
		{"a typed key that is none", event("GetItem", `{"tableName":"One","key":{"id":{"BOOL":true}}}`, ""), "bad bad_key"},
		{"two keys of an unknown table", event("GetItem", `{"tableName":"Two","key":{"a":"1","b":"2"}}`, ""), "bad key_schema_not_configured"},
		{"a change to the table itself", event("UpdateTable", `{"tableName":"Music"}`, ""), "bad not_data_event"},
		{"another service", strings.Replace(event("GetItem", `{`+song+`}`, ""), "dynamodb.amazonaws", "s3.amazonaws", 1), "bad not_data_event"},
		{"no time", strings.Replace(event("GetItem", `{`+song+`}`, ""), "2026-11-21T02:27:12Z", "today", 1), "bad bad_time"},
		{"a request of another shape", event("GetItem", `[]`, ""), "bad bad_text"},
		{"no event", `{"a":1}`, "bad not_data_event"},
	} {
		if got := decode(c.event).reports(); got != c.want {
			t.Errorf("%s: %q, want %q", c.story, got, c.want)
		}
	}
}

// A trail's file is one object with all its events. A throttled request counts
// as demand.
func TestAFile(t *testing.T) {
	t.Parallel()
	get := event("GetItem", `{`+song+`}`, "")
	throttled := event("UpdateItem", `{`+song+`}`, `"errorCode":"ProvisionedThroughputExceededException",`)
	k := decode(`{"Records":[` + get + "," + throttled + `]}`)
	if len(k.records) != 2 || len(k.bad) > 0 {
		t.Fatal(k.reports())
	}
	want := `{"ts":1795228032000,"table":"Music","pk":"No One You Know","sk":"Call Me Today","op":"UpdateItem",` +
		`"throttle":"ProvisionedThroughputExceededException","calls":1,"caller":"arn:aws:sts::111122223333:assumed-role/users/bob",` +
		`"account":"123456789012","region":"us-west-2","id":"a954"}`
	if got := string(k.records[1].AppendJSON(nil)); got != want || !k.records[1].Estimated {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	k = decode(event("TransactGetItems", `{"requestItems":[{`+song+`},{`+song+`}]}`, ""))
	if len(k.records) != 2 || k.records[0].Calls != 0.5 || k.records[1].Calls != 0.5 {
		t.Errorf("a call of two items is %+v", k.records)
	}
	k = decode(get)
	if k.records[0].Throttle != "" || k.records[0].Op != sample.GetItem {
		t.Errorf("%+v", k.records[0])
	}
}

// FuzzDecode checks that every decoded record of any message is sound.
func FuzzDecode(f *testing.F) {
	for _, message := range []string{
		event("PutItem", `{`+song+`}`, ""), event("TransactGetItems", `{"requestItems":[{`+song+`},null,{}]}`, ""),
		`{"Records":[` + event("Scan", `{"tableName":"Music"}`, `"errorCode":"ThrottlingException",`) + `]}`, `{"eventName":"GetItem","requestParameters":{"key":{"a":1e5}}}`,
	} {
		f.Add([]byte(message))
	}
	known := make(map[sample.RejectReason]bool)
	for _, r := range append(append(reasons.OfSample(), reasons.OfCloudTrail()...), change.RejectKeySchema) {
		known[r] = true
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		k := decode(string(message))
		for _, r := range k.records {
			if reason := r.Check(); reason != "" || !r.Estimated || r.RCU+r.WCU == 0 {
				t.Fatalf("a record that is %q: %+v", reason, r)
			}
		}
		for _, reason := range k.bad {
			if !known[reason] {
				t.Fatalf("reason %q is not listed", reason)
			}
		}
	})
}

// TestWhereATableIs takes a table's account and Region from its ARN, and else the
// account from the event's resources and the Region from the event; the schema is
// the one of that Region.
func TestWhereATableIs(t *testing.T) {
	t.Parallel()
	tables := sample.Schemas{
		"Music": {KeySchema: sample.Keys("Artist", "SongTitle")}, "eu-west-1/Music": {KeySchema: sample.Keys("SongTitle", "Artist")},
	}
	const key = `,"key":{"Artist":"A","SongTitle":"S"}}`
	for table, want := range map[string]sample.Record{
		"Music": {Account: "123456789012", Region: "us-west-2", PK: sample.KeyString("A")},
		"arn:aws:dynamodb:eu-west-1:210987654321:table/Music": {Account: "210987654321", Region: "eu-west-1", PK: sample.KeyString("S")},
	} {
		k := &recorder{}
		cloudtrail.NewDecoder(tables).Decode([]byte(event("GetItem", `{"tableName":"`+table+`"`+key, "")), 0, k)
		if len(k.records) != 1 {
			t.Fatalf("%s: %s", table, k.reports())
		}
		if r := k.records[0]; r.Table != "Music" || r.Account != want.Account || r.Region != want.Region || r.PK != want.PK {
			t.Errorf("%s is read as %s with the key %s", table, r.Target().Name(), r.PK)
		}
	}
}
