package keyheatjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
)

// TestAppendJSONUnits checks that AppendJSON writes exactly the units that decoding would not
// compute.
func TestAppendJSONUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story string
		r     sample.Record
		want  string
	}{
		{"as reported", sample.Record{Op: sample.UpdateItem, WCU: 2000}, `"op":"UpdateItem","wcu":2`},
		{"a write that cost nothing", sample.Record{Op: sample.DeleteItem}, `"op":"DeleteItem","wcu":0`},
		{"a read that cost nothing", sample.Record{Op: sample.GetItem}, `"op":"GetItem","rcu":0`},
		{"a write that also read", sample.Record{Op: sample.TransactWriteItems, RCU: 125}, `"op":"TransactWriteItems","rcu":0.125,"wcu":0`},
		{"no operation", sample.Record{RCU: 500}, `"rcu":0.5`},
		{"no operation and no units", sample.Record{}, `"wcu":0`},
		{"an estimate that any decoder repeats", sample.Record{Op: sample.PutItem, WCU: 2000, Bytes: 1025, Estimated: true},
			`"op":"PutItem","bytes":1025`},
		{"an estimate from what the record does not hold", sample.Record{Op: sample.PutItem, WCU: 9000, Bytes: 1025, Estimated: true},
			`"op":"PutItem","wcu":9,"bytes":1025`},
		{"an estimate of nothing", sample.Record{Op: sample.PutItem, Estimated: true}, `"op":"PutItem","wcu":0`},
	} {
		c.r.Time, c.r.Table, c.r.PK, c.r.Rate, c.r.N = 1763692032185, "orders", sample.KeyString("a"), 1, 1
		line := string(c.r.AppendJSON(nil))
		if want := `{"ts":1763692032185,"table":"orders","pk":"a",` + c.want + `}`; line != want {
			t.Errorf("%s: %s\nwant %s", c.story, line, want)
		}
		k := decode(line, 0)
		if len(k.records) != 1 || k.records[0].RCU != c.r.RCU || k.records[0].WCU != c.r.WCU {
			t.Errorf("%s: %s came back as %+v", c.story, line, *k)
		}
	}
}

// TestAppendJSONStaysInItsLine checks that records with any text give JSON without a line end.
func TestAppendJSONStaysInItsLine(t *testing.T) {
	t.Parallel()
	r := sample.Record{
		Time: 1763692032185, Table: "orders", Caller: "t\r\n\x00\u2028\"\\", PK: sample.KeyString("\xffa"), Op: sample.GetItem,
		Rate: 1, N: 1, Attrs: map[string]string{"b\n": "2", "a": "\x7f"},
	}
	line := r.AppendJSON(nil)
	if !json.Valid(line) || strings.ContainsAny(string(line), "\r\n") {
		t.Fatalf("line %s", line)
	}
	k := decode(string(line), 0)
	if len(k.records) != 1 || k.records[0].Caller != r.Caller || k.records[0].PK.Text != "\ufffda" {
		t.Errorf("line %s came back as %+v", line, *k)
	}
	if !strings.Contains(string(line), `"attrs":{"a":`) {
		t.Errorf("attributes are not in order: %s", line)
	}
}

func TestAppendJSONLeavesTheMessagesTime(t *testing.T) {
	t.Parallel()
	r := sample.Record{Time: 5, TimeFromMessage: true, Table: "orders", Op: sample.Scan, RCU: 500, Rate: 1, N: 1}
	line := string(r.AppendJSON(nil))
	if want := `{"table":"orders","op":"Scan","rcu":0.5}`; line != want {
		t.Errorf("line %s, want %s", line, want)
	}
}
