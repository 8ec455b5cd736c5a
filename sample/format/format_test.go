package format_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/reasons"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/sample/samplepb"
)

const (
	keyheat = `{"ts":1763692032185,"table":"orders","pk":"a","op":"PutItem","wcu":1}`
	stream  = `{"eventName":"INSERT","eventSource":"aws:dynamodb","tableName":"changes","dynamodb":{"ApproximateCreationDateTime":1763692032185,"Keys":{"id":{"S":"a"}}}}`
	trail   = `{"eventTime":"2026-11-21T02:27:12Z","eventSource":"dynamodb.amazonaws.com","eventName":"GetItem","requestParameters":{"tableName":"trail","key":{"id":"a"}}}`
)

// tables are the tables of the good samples, and the reasons of the bad ones.
type tables []string

func (t *tables) Record(r *sample.Record)                  { *t = append(*t, r.Table) }
func (t *tables) Bad(reason sample.RejectReason, _ []byte) { *t = append(*t, string(reason)) }

func TestFormsAreDetected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story, message string
		want           format.Format
		found          string
	}{
		{"Keyheat JSON", keyheat + "\n" + keyheat, format.Keyheat, "orders orders"},
		{"an array of it", "[" + keyheat + "]", format.Keyheat, "orders"},
		{"with another form's names in it", strings.Replace(keyheat, "{", `{"dynamodb":{},"eventSource":"",`, 1), format.Keyheat, "orders"},
		{"stream records", stream + "\n" + stream, format.Stream, "changes changes"},
		{"an array of them", "\xef\xbb\xbf[\n" + stream + "]", format.Stream, "changes"},
		{"a Lambda event", `{"Records":[` + stream + `]}`, format.Stream, "changes"},
		{"a trail's file", `{"Records":[` + trail + "," + trail + `]}`, format.CloudTrail, "trail trail"},
		{"one event", trail, format.CloudTrail, "trail"},
		{"after broken lines", "oops\n{\"a\n" + stream, format.Stream, "syntax syntax changes"},
		{"behind a record of another form", `{"dynamodb":{}}` + "\n" + keyheat + "\n" + keyheat, format.Keyheat, "no_time orders orders"},
		{"nothing", "", format.Keyheat, "empty"},
		{"no samples", "hello", format.Keyheat, "syntax"},
		{"no records", `{"Records":[]}`, format.Keyheat, "no_time"},
	} {
		if got := format.Detect([]byte(c.message)); got != c.want {
			t.Errorf("%s: taken for %s, is %s", c.story, got, c.want)
		}
		var found tables
		format.NewDetectingDecoder(nil).Decode([]byte(c.message), 0, &found)
		if got := strings.Join(found, " "); got != c.found {
			t.Errorf("%s: found %q, want %q", c.story, got, c.found)
		}
	}
}

func TestFormsHaveTheirNames(t *testing.T) {
	t.Parallel()
	one := sample.Record{Time: 1763692032185, Table: "orders", PK: sample.KeyString("a"), Op: sample.PutItem, Rate: 1, N: 1}
	spans := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"DynamoDB.PutItem","startTimeUnixNano":"1763692032185000000","attributes":[{"key":"aws.table.name","value":{"stringValue":"orders"}},{"key":"keyheat.partition_key","value":{"stringValue":"a"}}]}]}]}]}`
	messages := map[format.Format]string{
		format.OTLP:    spans,
		format.Keyheat: keyheat, format.Stream: stream, format.CloudTrail: trail,
		format.Protobuf: string(samplepb.NewEncoder().Append(nil, []sample.Record{one})),
	}
	for _, f := range format.Formats() {
		if parsed, err := format.Parse(string(f)); err != nil || parsed != f {
			t.Errorf("%s is %s, %v", f, parsed, err)
		}
		var found tables
		format.NewDecoder(f, format.Tables{}).Decode([]byte(messages[f]), 0, &found)
		if len(found) != 1 || slices.Contains(reasons.All(), sample.RejectReason(found[0])) {
			t.Errorf("%s: found %v", f, found)
		}
	}
	if _, err := format.Parse("avro"); err == nil || !strings.Contains(err.Error(), "dynamodb-stream") {
		t.Errorf("the error %v does not say what there is", err)
	}
}

// No two reasons are one word: they are counted apart.
func TestReasonsDiffer(t *testing.T) {
	t.Parallel()
	all := reasons.All()
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != len(all) {
		t.Errorf("%d reasons of %d differ", n, len(all))
	}
}

// rates keep each good sample's rate.
type rates []float64

func (r *rates) Record(s *sample.Record)         { *r = append(*r, s.Rate) }
func (r *rates) Bad(sample.RejectReason, []byte) {}

// A table's sampling rate is that of its samples which do not say one; stream
// records are all there are.
func TestATablesRateIsThatOfSamplesWithoutOne(t *testing.T) {
	t.Parallel()
	tables := format.Tables{"orders": {Rate: 0.01}, "changes": {Rate: 0.5}}
	withRate := strings.Replace(keyheat, "{", `{"rate":0.25,`, 1)
	other := strings.Replace(keyheat, "orders", "carts", 1)
	var got rates
	d := format.NewDetectingDecoder(tables)
	for _, message := range []string{keyheat, withRate, other, keyheat, stream} {
		d.Decode([]byte(message), 0, &got)
	}
	if want := (rates{0.01, 0.25, 1, 0.01, 1}); !slices.Equal(got, want) {
		t.Errorf("rates are %v, want %v", got, want)
	}
}
