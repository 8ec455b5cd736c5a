package format_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
)

// delivered is a request of Firehose with these records.
func delivered(records ...string) string {
	var data []string
	for _, r := range records {
		data = append(data, `{"data":"`+base64.StdEncoding.EncodeToString([]byte(r))+`"}`)
	}
	return `{"requestId":"1","timestamp":1763692040000,"records":[` + strings.Join(data, ",") + `]}`
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	must.Succeed(t, err)
	must.Succeed(t, w.Close())
	return b.String()
}

// logged is a batch of CloudWatch Logs with these messages, a second apart.
func logged(messages ...string) string {
	var events []string
	for i, m := range messages {
		text, _ := json.Marshal(m)
		events = append(events, fmt.Sprintf(`{"id":"e%d","timestamp":%d,"message":%s}`, i, 1763692032000+1000*i, text))
	}
	return `{"messageType":"DATA_MESSAGE","owner":"111122223333","logGroup":"/aws/lambda/orders","logStream":"2026/11/21/[$LATEST]0","subscriptionFilters":["keyheat"],"logEvents":[` + strings.Join(events, ",") + `]}`
}

// taken describes samples by table, time, and id if they have one.
type taken []string

func (t *taken) Record(r *sample.Record) {
	text := fmt.Sprintf("%s@%d", r.Table, r.Time%100_000)
	if r.ID != "" {
		text += "#" + r.ID
	}
	if r.TimeFromMessage {
		text += "?"
	}
	*t = append(*t, text)
}
func (t *taken) Bad(reason sample.RejectReason, _ []byte) { *t = append(*t, string(reason)) }

func TestFirehoseDeliversWhatPeopleSend(t *testing.T) {
	t.Parallel()
	noTime := `{"table":"orders","pk":"a","op":"PutItem","wcu":1}`
	events := `{"version":"0","id":"7","detail-type":"AWS API Call via CloudTrail","source":"aws.dynamodb","detail":` + trail + `}`
	span := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"DynamoDB.PutItem","startTimeUnixNano":"1763692032185000000","attributes":[{"key":"db.system","value":{"stringValue":"dynamodb"}},{"key":"rpc.method","value":{"stringValue":"PutItem"}},{"key":"aws.table.name","value":{"stringValue":"spans"}},{"key":"keyheat.partition_key","value":{"stringValue":"a"}}]}]}]}]}`
	inJSON := func(message string) string {
		text, _ := json.Marshal(message)
		return `{"timestamp":"2026-11-21T02:27:12Z","level":"INFO","requestId":"r","message":` + string(text) + `}`
	}
	const start = "START RequestId: 8f5 Version: $LATEST\n"
	for _, c := range []struct{ story, body, want string }{
		{"direct puts", delivered(keyheat, keyheat+"\n"+keyheat), "orders@32185 orders@32185 orders@32185"},
		{"a direct put without a time", delivered(noTime), "orders@40000?"},
		{"a Kinesis stream of changes", delivered(stream), "changes@32185"},
		{"EventBridge's CloudTrail events", delivered(events), "trail@32000"},
		{"spans", delivered(span), "spans@32185"},
		{"log lines among others", delivered(zipped(t, logged(start, keyheat+"\n", "END"))), "orders@32185#e1/1"},
		{"a logger's prefix", delivered(zipped(t, logged("2026-11-21T02:27:12.185Z\t8f5\tINFO\t"+keyheat))), "orders@32185#e0/1"},
		{"Lambda's JSON lines", delivered(zipped(t, logged(`{"level":"INFO","message":`+keyheat+`}`, inJSON(keyheat)))), "orders@32185#e0/1 orders@32185#e1/1"},
		{"several lines in an event", delivered(zipped(t, logged(keyheat+"\n"+keyheat))), "orders@32185#e0/1 orders@32185#e0/2"},
		{"several lines in a JSON message", delivered(zipped(t, logged(inJSON(keyheat+"\n"+keyheat)))), "orders@32185#e0/1 orders@32185#e0/2"},
		{"the time of the event", delivered(zipped(t, logged(noTime, noTime))), "orders@32000#e0/1 orders@33000#e1/1"},
		{"two batches in a record", delivered(zipped(t, logged(keyheat)) + zipped(t, logged(keyheat))), "orders@32185#e0/1 orders@32185#e0/1"},
		{"logs that Firehose decompressed", delivered(logged(keyheat)), "orders@32185#e0/1"},
		{"lines that Firehose took out of logs", delivered(start + keyheat + "\nEND\n"), "orders@32185"},
		{"logs without samples", delivered(zipped(t, logged(start, "REPORT", "{", `{"level":"INFO"}`))), ""},
		{"a probe of CloudWatch Logs", delivered(zipped(t, `{"messageType":"CONTROL_MESSAGE","owner":"CloudwatchLogs","logEvents":[{"id":"","timestamp":1,"message":"CWL CONTROL MESSAGE: Checking health of destination Firehose."}]}`)), ""},
		{"a record without a sample", delivered("hello", keyheat), "no_sample orders@32185"},
		{"a bad sample in a log", delivered(zipped(t, logged(strings.Replace(keyheat, `"wcu":1`, `"wcu":-1`, 1)))), "bad_units"},
		{"no base64", `{"records":[{"data":"!"}]}`, "no_sample"},
		{"half of a compressed record", delivered(zipped(t, logged(keyheat))[:40]), "no_sample"},
		{"no records", `{"records":[]}`, ""},
		{"another body", `{"a":1}`, "syntax"},
		{"no JSON", "hello", "syntax"},
	} {
		var got taken
		format.NewDecoder(format.Firehose, nil).Decode([]byte(c.body), 1763692040000, &got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.story, strings.Join(got, " "), c.want)
		}
	}
}

// TestFirehoseBoundsWhatItInflates: a record must not become more than 16 MiB, nor the records of
// a request more than 128 MiB, and samples beside them count.
func TestFirehoseBoundsWhatItInflates(t *testing.T) {
	t.Parallel()
	bomb, half := zipped(t, strings.Repeat(" ", 17<<20)), zipped(t, strings.Repeat(" ", 15<<20))
	var got taken
	format.NewDecoder(format.Firehose, nil).Decode([]byte(delivered(bomb, keyheat)), 0, &got)
	if want := (taken{"too_large", "orders@32185"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	got = nil
	format.NewDecoder(format.Firehose, nil).Decode([]byte(delivered(half, half, half, half, half, half, half, half, half, keyheat)), 0, &got)
	want := append(slices.Repeat(taken{"no_sample"}, 8), "too_large", "orders@32185")
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
