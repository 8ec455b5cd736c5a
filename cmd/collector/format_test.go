package main

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/settings/tables"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
)

func TestEachTopicHasItsFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format, topics string
		partition      string
		want           format.Format
		fault          string
	}{
		{"", "a", "a/0", format.Keyheat, ""},
		{"cloudtrail", "a", "a/0", format.CloudTrail, ""},
		{"keyheat b=dynamodb-stream", "a b", "a/7", format.Keyheat, ""},
		{"keyheat b=dynamodb-stream", "a b", "b/7", format.Stream, ""},
		{"b=dynamodb-stream", "a b", "a/7", format.Keyheat, ""},
		{"avro", "a", "", "", `format "avro": give one of`},
		{"a=avro", "a", "", "", `format "avro": give one of`},
		{"b=keyheat", "a", "", "", `kafka.topics has no topic "b"`},
		{"keyheat cloudtrail", "a", "", "", "a second format"},
		{"a=keyheat a=keyheat", "a", "", "", "a second format"},
	} {
		k := Kafka{Topics: strings.Fields(c.topics), Format: strings.Fields(c.format)}
		forms, err := k.forms()
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%q: error %v, want %q", c.format, err, c.fault)
			}
			continue
		}
		if err != nil || forms.partitionFormat(c.partition) != c.want {
			t.Errorf("%q: %s is %s, %v; want %s", c.format, c.partition, forms.partitionFormat(c.partition), err, c.want)
		}
	}
}

// found are the tables and indexes of samples.
type found []string

func (f *found) Record(r *sample.Record)                  { *f = append(*f, r.Table+"/"+r.Index) }
func (f *found) Bad(reason sample.RejectReason, _ []byte) { *f = append(*f, string(reason)) }

// What the operator says about formats and tables reaches the partition's
// decoder.
func TestPartitionsAreDecodedAsConfigured(t *testing.T) {
	t.Parallel()
	c := defaults()
	c.Kafka.Topics, c.Kafka.Format = []string{"samples", "changes"}, []string{"changes=dynamodb-stream"}
	c.Tables = tables.Tables{"orders": {PartitionKey: []string{"id"}, SortKey: []string{"n"}, Indexes: map[string]tables.Index{
		"by-number": {PartitionKey: []string{"n"}},
	}}}
	forms, err := c.Kafka.forms()
	must.Succeed(t, err)
	decoder := forms.decoders(c.Tables.Decoding())
	for partition, want := range map[string]string{"changes/0": "orders/ orders/by-number", "samples/0": "no_op"} {
		var got found
		d := decoder(partition)
		d.Decode([]byte(`{"eventName":"INSERT","tableName":"orders","dynamodb":{"Keys":{"id":{"S":"a"},"n":{"N":"1"}},"NewImage":{"id":{"S":"a"},"n":{"N":"1"}}}}`), 1763692032185, &got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s holds %v, want %s", partition, got, want)
		}
	}
}
