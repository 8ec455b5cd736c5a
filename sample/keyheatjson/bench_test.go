package keyheatjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/cputime"
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

func (t *counter) Bad(sample.RejectReason, []byte) { t.bad++ }

// BenchmarkDecode decodes one record a message, in turn with encoding/json into a struct
// without checks. It decodes records of one shape, and records without a known shape, for the
// slow path.
func BenchmarkDecode(b *testing.B) {
	shapeless := strings.Replace(plain, `"wcu":2`, `"wcu":2,"wcu":2`, 1)
	b.Run("one shape", func(b *testing.B) { benchmarkDecode(b, []byte(plain), 1) })
	b.Run("lines", func(b *testing.B) { benchmarkDecode(b, []byte(strings.Repeat(plain+"\n", 1000)), 1000) })
	b.Run("no shape", func(b *testing.B) { benchmarkDecode(b, []byte(shapeless), 1) })
}

func benchmarkDecode(b *testing.B, message []byte, records int) {
	const round = 20_000
	d, t := keyheatjson.NewDecoder(), &counter{}
	var ours, theirs cputime.Rounds
	for b.Loop() {
		ours.Take(func() {
			for range round / records {
				d.Decode(message, 0, t)
			}
		})
		theirs.Take(func() { encodingJSON(b, round) })
	}
	if t.records != round*b.N || t.bad != 0 {
		b.Fatalf("%d good and %d bad of %d", t.records, t.bad, round*b.N)
	}
	if n := testing.AllocsPerRun(100, func() { d.Decode(message, 0, t) }); n != 0 {
		b.Errorf("%v allocations a message", n)
	}
	cputime.Report(b, "encoding/json", round, ours, theirs)
}

func encodingJSON(b *testing.B, n int) {
	var r struct {
		TS                               int64
		Table, Index, PK, SK, Op, Region string
		WCU, Rate                        float64
		Bytes                            int64
	}
	message := []byte(plain)
	for range n {
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
