package keyheatjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// plain is the record of about 200 bytes that the speed goals are about.
const plain = `{"ts":1763692032185,"table":"orders-production","index":"by-status",` +
	`"pk":"customer#00004242","sk":"2026-11-21T03:07:12.185Z#order#17","op":"UpdateItem",` +
	`"wcu":2,"bytes":1733,"rate":0.01,"region":"eu-central-1"}`

// counter is a handler that only counts.
type counter struct {
	records int
	bad     int
	load    sample.Milli
}

func (t *counter) Record(r *sample.Record) {
	_, w := r.Load()
	t.records++
	t.load += w
}

func (t *counter) Bad(sample.Reason, []byte) { t.bad++ }

func BenchmarkDecodeObject(b *testing.B) {
	benchmarkDecode(b, []byte(plain), 1)
}

func BenchmarkDecodeNDJSON1000(b *testing.B) {
	benchmarkDecode(b, []byte(strings.Repeat(plain+"\n", 1000)), 1000)
}

func benchmarkDecode(b *testing.B, message []byte, records int) {
	d, t := keyheatjson.NewDecoder(), &counter{}
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(message, 0, t)
	}
	if t.records != records*b.N || t.bad != 0 {
		b.Fatalf("%d good and %d bad of %d", t.records, t.bad, records*b.N)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(t.records), "ns/record")
}

// BenchmarkEncodingJSON is the yardstick: the same object through
// encoding/json, into a struct, without any check.
func BenchmarkEncodingJSON(b *testing.B) {
	var r struct {
		TS                               int64
		Table, Index, PK, SK, Op, Region string
		WCU, Rate                        float64
		Bytes                            int64
	}
	message := []byte(plain)
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		if err := json.Unmarshal(message, &r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	d, k := keyheatjson.NewDecoder(), &recorder{}
	d.Decode([]byte(plain), 0, k)
	r := k.records[0]
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = r.AppendJSON(line[:0])
	}
	if !bytes.Contains(line, []byte("customer#00004242")) {
		b.Fatalf("line %s", line)
	}
}
