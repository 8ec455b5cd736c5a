package format_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/cloudtrail"
	"github.com/keyheat/keyheat/sample/mapped"
	"github.com/keyheat/keyheat/sample/otlp"
)

// errorVector is an error of ../testdata/errors.json, with the record of its request.
type errorVector struct {
	Name, Op, Code, Message string
	Units                   sample.Milli
	Throttle                string // a part of it
	Conflict                int64
	ConditionFailed         int64 `json:"condition_failed"`
}

// TestErrorVectors holds the foreign formats to one reading of DynamoDB's errors.
func TestErrorVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../testdata/errors.json")
	must.Succeed(t, err)
	var file struct{ Errors []errorVector }
	if err := json.Unmarshal(text, &file); err != nil || len(file.Errors) < 10 {
		t.Fatalf("%d errors: %v", len(file.Errors), err)
	}
	for _, v := range file.Errors {
		for name, decode := range map[string]func(*errorVector) []sample.Record{"a file": ofFile, "a span": ofSpan, "a trail": ofTrail} {
			records := decode(&v)
			if v.Throttle == "" && v.Conflict+v.ConditionFailed == 0 {
				if len(records) > 0 {
					t.Errorf("%s, of %s: %+v", v.Name, name, records[0])
				}
				continue
			}
			if len(records) != 1 {
				t.Errorf("%s, of %s: %d records", v.Name, name, len(records))
				continue
			}
			r := &records[0]
			if r.RCU+r.WCU != v.Units || r.Conflicts != v.Conflict || r.ConditionsFailed != v.ConditionFailed || (r.Throttle != "") != (v.Throttle != "") || !strings.Contains(r.Throttle, v.Throttle) {
				t.Errorf("%s, of %s: %+v", v.Name, name, r)
			}
		}
	}
}

// kept keeps good records.
type kept struct{ records []sample.Record }

func (k *kept) Record(r *sample.Record)           { k.records = append(k.records, r.Clone()) }
func (*kept) Bad(_ sample.RejectReason, _ []byte) {}

func ofFile(v *errorVector) []sample.Record {
	var k kept
	mapped.NewDecoder(mapped.Mapping{Fields: map[string]string{"throttle": "error"}}, nil).Decode(fmt.Appendf(nil,
		`{"ts":1763692032185,"table":"orders","pk":"a","op":%q,"error":%q}`, v.Op, v.Code+": "+v.Message), 0, &k)
	return k.records
}

func ofSpan(v *errorVector) []sample.Record {
	var k kept
	otlp.NewDecoder().Decode(fmt.Appendf(nil, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"DynamoDB.%s","startTimeUnixNano":"1763692032185000000",
		"attributes":[{"key":"rpc.service","value":{"stringValue":"DynamoDB"}},{"key":"aws.dynamodb.table_names","value":{"stringValue":"orders"}},{"key":"keyheat.partition_key","value":{"stringValue":"a"}}],
		"status":{"code":2},"events":[{"name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":%q}},{"key":"exception.message","value":{"stringValue":%q}}]}]}]}]}]}`,
		v.Op, "com.amazonaws.dynamodb.v20120810#"+v.Code, v.Message), 0, &k)
	return k.records
}

func ofTrail(v *errorVector) []sample.Record {
	request := `"tableName":"orders","key":{"id":"a"}`
	if strings.HasPrefix(v.Op, "Transact") {
		request = `"requestItems":[{` + request + `}]`
	}
	var k kept
	cloudtrail.NewDecoder(nil).Decode(fmt.Appendf(nil, `{"eventSource":"dynamodb.amazonaws.com","eventName":%q,"eventTime":"2026-11-21T02:27:12Z","eventID":"e","requestParameters":{%s},"errorCode":%q,"errorMessage":%q}`,
		v.Op, request, v.Code, v.Message), 0, &k)
	return k.records
}
