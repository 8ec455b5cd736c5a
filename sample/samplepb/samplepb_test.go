package samplepb_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/testsupport/heap"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
	"github.com/keyheat/keyheat/sample/samplepb"
)

// recorder is a handler that keeps samples.
type recorder struct {
	records []sample.Record
	bad     []sample.RejectReason
}

func (k *recorder) Record(r *sample.Record)                  { k.records = append(k.records, r.Clone()) }
func (k *recorder) Bad(reason sample.RejectReason, _ []byte) { k.bad = append(k.bad, reason) }

func decode(message []byte, at int64) *recorder {
	k := new(recorder)
	samplepb.NewDecoder().Decode(message, at, k)
	return k
}

// schema returns the message of samples.proto.
func schema(t testing.TB) protoreflect.MessageDescriptor {
	t.Helper()
	source, err := os.ReadFile("samples.proto")
	must.Succeed(t, err)
	compiler := protocompile.Compiler{Resolver: &protocompile.SourceResolver{
		Accessor: protocompile.SourceAccessorFromMap(map[string]string{"samples.proto": string(source)}),
	}}
	files, err := compiler.Compile(context.Background(), "samples.proto")
	must.Succeed(t, err)
	return files[0].Messages().ByName("Batch")
}

// pool are texts of records: few, so that samples share them.
var pool = []string{"orders", "users", "user#42", "é", strings.Repeat("k", 200)}

func drawKey(t *rapid.T, label string) sample.Key {
	one := func() sample.Key {
		switch rapid.IntRange(0, 2).Draw(t, label+" type") {
		case 0:
			return sample.KeyBinary([]byte(rapid.SampledFrom(pool).Draw(t, label)))
		case 1:
			k, err := sample.KeyNumber(rapid.SampledFrom([]string{"7", "-0.5", "1e20"}).Draw(t, label))
			must.Succeed(t, err)
			return k
		}
		return sample.KeyString(rapid.SampledFrom(pool).Draw(t, label))
	}
	var parts []sample.Key
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 4}).Draw(t, label+" parts") {
		parts = append(parts, one())
	}
	return sample.JoinKeys(parts...)
}

// drawRecord draws a record that Keyheat JSON can hold, by decoding drawn JSON.
func drawRecord(t *rapid.T, fromMessage bool) sample.Record {
	text := func(label string) string { return rapid.SampledFrom(append([]string{"", ""}, pool...)).Draw(t, label) }
	r := sample.Record{
		Time: rapid.Int64Range(1_763_692_032_000, 1_763_692_034_000).Draw(t, "time"), TimeFromMessage: fromMessage,
		Table: rapid.SampledFrom(pool).Draw(t, "table"), Index: text("index"), PK: drawKey(t, "pk"),
		Op:  sample.Op(rapid.IntRange(0, int(sample.ExecuteTransaction)).Draw(t, "op")),
		RCU: sample.Milli(rapid.Int64Range(0, 9000).Draw(t, "rcu")), WCU: sample.Milli(rapid.Int64Range(0, 9000).Draw(t, "wcu")),
		Bytes: rapid.SampledFrom([]int64{0, 1, 1025, 409_600}).Draw(t, "bytes"),
		Read:  sample.Consistency(rapid.IntRange(0, 2).Draw(t, "read")), Throttle: text("throttle"),
		Rate: rapid.SampledFrom([]float64{1, 0.01, 0.3}).Draw(t, "rate"), N: rapid.SampledFrom([]int64{1, 25, 1e9}).Draw(t, "n"),
		Calls: rapid.SampledFrom([]float64{0, 0, 1, 0.04}).Draw(t, "calls"),
		Call:  text("call"), Caller: text("caller"), Account: text("account"), Region: text("region"), ID: text("id"),
	}
	if rapid.Bool().Draw(t, "sorted") {
		r.SK = drawKey(t, "sk")
	}
	if rapid.Bool().Draw(t, "retried") {
		r.Attempts, r.Waited, r.Failed = rapid.Int64Range(1, 9).Draw(t, "attempts"), rapid.SampledFrom([]float64{0, 412.5}).Draw(t, "waited"), rapid.Bool().Draw(t, "failed")
	}
	if rapid.Bool().Draw(t, "lost") {
		r.Conflicts, r.ConditionsFailed = rapid.SampledFrom([]int64{0, 1, 2, 25}).Draw(t, "conflicts"), rapid.SampledFrom([]int64{0, 0, 1}).Draw(t, "conditions")
	}
	if rapid.Bool().Draw(t, "attributes") {
		r.Attrs = map[string]string{"tenant": text("tenant"), text("name"): "x"}
	}
	if rapid.Bool().Draw(t, "estimated") {
		r.CompleteUnits(false, false)
	}
	return r
}

// TestAppendIsReadAsJSON checks that a batch of records decodes to the same records as their
// Keyheat JSON.
func TestAppendIsReadAsJSON(t *testing.T) {
	t.Parallel()
	encoder := samplepb.NewEncoder()
	batch := schema(t)
	rapid.Check(t, func(t *rapid.T) {
		const at = 1_763_692_033_000
		fromMessage := rapid.Bool().Draw(t, "from message")
		var records []sample.Record
		var lines []byte
		for range rapid.IntRange(1, 8).Draw(t, "records") {
			r := drawRecord(t, fromMessage)
			records = append(records, r)
			lines = append(r.AppendJSON(lines), '\n')
		}
		message := encoder.Append(nil, records)
		want, got := new(recorder), decode(message, at)
		keyheatjson.NewDecoder().Decode(lines, at, want)
		if !slices.Equal(got.bad, want.bad) {
			t.Fatalf("bad samples %v, of JSON %v\n%s", got.bad, want.bad, lines)
		}
		if len(got.records) != len(want.records) {
			t.Fatalf("%d records, of JSON %d", len(got.records), len(want.records))
		}
		for i := range want.records {
			if !reflect.DeepEqual(got.records[i], want.records[i]) {
				t.Fatalf("record %d is %+v\nof JSON %+v", i, got.records[i], want.records[i])
			}
		}
		// The batch has no field that the schema lacks.
		m := dynamicpb.NewMessage(batch)
		must.Succeed(t, proto.Unmarshal(message, m))
		holdNoUnknown(t, m)
		// However another writes it, it is the same.
		again, err := proto.MarshalOptions{}.Marshal(m)
		must.Succeed(t, err)
		if other := decode(again, at); !reflect.DeepEqual(other, got) {
			t.Fatalf("written by protobuf's own library it is %+v\nby ours %+v", other, got)
		}
	})
}

func holdNoUnknown(t *rapid.T, m protoreflect.Message) {
	if len(m.GetUnknown()) > 0 {
		t.Fatalf("%s has fields that the schema does not know: %x", m.Descriptor().Name(), m.GetUnknown())
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				holdNoUnknown(t, v.List().Get(i).Message())
			}
		default:
			holdNoUnknown(t, v.Message())
		}
		return true
	})
}

// build makes a message from protobuf's JSON.
func build(t *testing.T, text string) []byte {
	t.Helper()
	m := dynamicpb.NewMessage(schema(t))
	must.Succeed(t, protojson.Unmarshal([]byte(text), m))
	b, err := proto.Marshal(m)
	must.Succeed(t, err)
	return b
}

func TestFlaws(t *testing.T) {
	t.Parallel()
	good := build(t, `{"base":"1763692032185","kinds":[{"table":"orders","op":"PUT_ITEM"}],"keys":[{"s":"a"}],"samples":[{"pk":1,"wcu":"2000"}]}`)
	if k := decode(good, 0); len(k.records) != 1 || k.records[0].WCU != 2000 || k.records[0].PK.Text != "a" {
		t.Fatalf("a good batch is %+v", k)
	}
	const kinds = `"base":"1763692032185","kinds":[{"table":"orders","op":"PUT_ITEM"}],"keys":[{"s":"a"}]`
	for _, c := range []struct {
		story   string
		message []byte
		records int
		want    []sample.RejectReason
	}{
		{"nothing", nil, 0, []sample.RejectReason{sample.RejectEmpty}},
		{"JSON", []byte(`{"ts":1763692032185,"table":"orders"}`), 0, []sample.RejectReason{sample.RejectSyntax}},
		{"cut off", good[:len(good)-1], 0, []sample.RejectReason{sample.RejectSyntax}},
		{"no kind", build(t, `{`+kinds+`,"samples":[{"kind":1,"pk":1},{"pk":1}]}`), 1, []sample.RejectReason{sample.RejectSyntax}},
		{"no such key", build(t, `{`+kinds+`,"samples":[{"pk":2},{"pk":1}]}`), 1, []sample.RejectReason{sample.RejectSyntax}},
		{"no key", build(t, `{`+kinds+`,"samples":[{},{"pk":1}]}`), 1, []sample.RejectReason{sample.RejectNoKey}},
		{"no time", build(t, `{"kinds":[{"table":"orders","op":"PUT_ITEM"}],"keys":[{"s":"a"}],"samples":[{"pk":1}]}`), 0, []sample.RejectReason{sample.RejectNoTime}},
		{"no units and no operation", build(t, `{"base":"1763692032185","kinds":[{"table":"orders"}],"keys":[{"s":"a"}],"samples":[{"pk":1}]}`), 0, []sample.RejectReason{sample.RejectNoOp}},
		{"no table", build(t, `{"base":"1763692032185","kinds":[{"op":"PUT_ITEM"}],"keys":[{"s":"a"}],"samples":[{"pk":1}]}`), 0, []sample.RejectReason{sample.RejectNoTable}},
		{"an operation of a later schema", build(t, `{"base":"1763692032185","kinds":[{"table":"orders","op":77}],"keys":[{"s":"a"}],"samples":[{"pk":1}]}`), 0, []sample.RejectReason{sample.RejectBadOp}},
		{"an empty key", build(t, `{"base":"1763692032185","kinds":[{"table":"orders","op":"PUT_ITEM"}],"keys":[{}],"samples":[{"pk":1}]}`), 0, []sample.RejectReason{sample.RejectBadKey}},
		{"no number", build(t, `{"base":"1763692032185","kinds":[{"table":"orders","op":"PUT_ITEM"}],"keys":[{"n":"x"}],"samples":[{"pk":1}]}`), 0, []sample.RejectReason{sample.RejectBadKey}},
		{"five parts", build(t, `{"base":"1763692032185","kinds":[{"table":"orders","op":"PUT_ITEM"}],"keys":[{"parts":[{"s":"a"},{"s":"a"},{"s":"a"},{"s":"a"},{"s":"a"}]}],"samples":[{"pk":1}]}`), 0, []sample.RejectReason{sample.RejectBadKey}},
		{"seconds", build(t, `{"base":"1763692032","kinds":[{"table":"orders","op":"PUT_ITEM"}],"keys":[{"s":"a"}],"samples":[{"pk":1}]}`), 0, []sample.RejectReason{sample.RejectBadTime}},
		{"absurd units", build(t, `{`+kinds+`,"samples":[{"pk":1,"wcu":"18446744073709551615"},{"pk":1}]}`), 1, []sample.RejectReason{sample.RejectBadUnits}},
		{"absurd n", build(t, `{`+kinds+`,"samples":[{"pk":1,"n":"18446744073709551615"}]}`), 0, []sample.RejectReason{sample.RejectBadN}},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			if k := decode(c.message, 0); len(k.records) != c.records || !slices.Equal(k.bad, c.want) {
				t.Errorf("%d records and bad samples %v, want %d and %v", len(k.records), k.bad, c.records, c.want)
			}
		})
	}
}

// TestSamplesAreApart decodes samples of one kind in a row. Each equals the sample decoded
// alone, so no field carries over.
func TestSamplesAreApart(t *testing.T) {
	t.Parallel()
	plain := sample.Record{
		Time: 1_763_692_032_185, Table: "orders", PK: sample.KeyString("a"), Op: sample.UpdateItem, WCU: 500, Rate: 1, N: 1,
	}
	sorted, many, rare, estimated := plain, plain, plain, plain
	sorted.SK = sample.KeyString("b")
	many.N, many.WCU, many.Bytes = 25, 300_000, 4096
	rare.Calls, rare.Attempts, rare.Waited, rare.Failed = 1, 2, 12.5, true
	rare.Call, rare.ID, rare.Attrs = "c", "i", map[string]string{"tenant": "x"}
	estimated.Bytes = 8192
	estimated.CompleteUnits(false, false)
	all := []sample.Record{plain, sorted, many, rare, estimated}
	for _, first := range all {
		for _, second := range all {
			records := []sample.Record{first, second, plain}
			got := decode(samplepb.NewEncoder().Append(nil, records), 0)
			if len(got.bad) > 0 || !reflect.DeepEqual(got.records, records) {
				t.Errorf("decoded %+v %v\nwant %+v", got.records, got.bad, records)
			}
		}
	}
}

// TestSamplesAreCheckedBehindSoundOnes: a sound sample does not prove the amounts of the next
// sample of the same kind and keys, or a key in another place.
func TestSamplesAreCheckedBehindSoundOnes(t *testing.T) {
	t.Parallel()
	sound := sample.Record{
		Time: 1_763_692_032_185, Table: "orders", PK: sample.KeyString(strings.Repeat("k", 1025)), SK: sample.KeyString("s"),
		Op: sample.UpdateItem, WCU: 2000, Rate: 0.5, N: 1,
	}
	read := sound
	read.Op, read.RCU, read.WCU = sample.GetItem, 500, 0
	for story, c := range map[string]struct {
		of    sample.Record
		spoil func(r *sample.Record)
	}{
		"too early":          {sound, func(r *sample.Record) { r.Time = 1000 }},
		"too late":           {sound, func(r *sample.Record) { r.Time = 1 << 60 }},
		"negative units":     {sound, func(r *sample.Record) { r.WCU = -1 }},
		"absurd units":       {sound, func(r *sample.Record) { r.WCU = sample.MaxUnits + 1 }},
		"absurd load":        {sound, func(r *sample.Record) { r.WCU, r.N = sample.MaxUnits, 1000 }},
		"a read that writes": {read, func(r *sample.Record) { r.WCU = 1000 }},
		"negative bytes":     {sound, func(r *sample.Record) { r.Bytes = -1 }},
		"too many bytes":     {sound, func(r *sample.Record) { r.Bytes = 400<<10 + 1 }},
		"too many":           {sound, func(r *sample.Record) { r.N = sample.MaxN + 1 }},
		"too many calls":     {sound, func(r *sample.Record) { r.Calls = 2 }},
		"a long sort key":    {sound, func(r *sample.Record) { r.SK = r.PK }},
		"no partition key":   {sound, func(r *sample.Record) { r.PK = sample.Key{} }},
	} {
		spoiled := c.of
		c.spoil(&spoiled)
		want := spoiled.Check()
		got := decode(samplepb.NewEncoder().Append(nil, []sample.Record{c.of, spoiled, c.of}), 0)
		if want == "" || len(got.records) != 2 || !slices.Equal(got.bad, []sample.RejectReason{want}) {
			t.Errorf("%s: %d good and %v, want two good and %q", story, len(got.records), got.bad, want)
		}
	}
}

func TestRatesOfTables(t *testing.T) {
	t.Parallel()
	message := build(t, `{"base":"1763692032185","kinds":[{"table":"orders","op":"PUT_ITEM"},{"table":"orders","op":"PUT_ITEM","rate":0.5}],"keys":[{"s":"a"}],"samples":[{"pk":1},{"pk":1,"kind":1}]}`)
	d, k := samplepb.NewDecoder(), new(recorder)
	d.SetRates(map[string]float64{"orders": 0.25})
	d.Decode(message, 0, k)
	if len(k.records) != 2 || k.records[0].Rate != 0.25 || k.records[1].Rate != 0.5 {
		t.Errorf("records %+v", k.records)
	}
}

// FuzzDecode checks that the records of any message equal the oracle's, pass Check, and decode
// to themselves when written again. One decoder reads both messages in turn with the same
// results as new ones. The messages are overwritten afterwards.
func FuzzDecode(f *testing.F) {
	for _, seed := range batches(f) {
		for _, before := range batches(f) {
			f.Add(before, seed, int64(1_763_692_032_185))
		}
	}
	f.Fuzz(func(t *testing.T, before, message []byte, at int64) {
		d := samplepb.NewDecoder()
		for _, m := range [][]byte{before, message, before, message} {
			got, alone, lent := new(recorder), decode(bytes.Clone(m), at), bytes.Clone(m)
			d.Decode(lent, at, got)
			for i := range lent {
				lent[i] = '?'
			}
			if !reflect.DeepEqual(got, alone) {
				t.Fatalf("%q behind others is %+v\nalone %+v", m, got, alone)
			}
			records, bad := oracleDecode(m, at)
			if len(got.bad) != bad || !reflect.DeepEqual(got.records, records) {
				t.Fatalf("%q is %+v\nthe oracle says %+v, and %d bad", m, got, records, bad)
			}
		}
		got := decode(message, at)
		for i := range got.records {
			if reason := got.records[i].Check(); reason != "" {
				t.Fatalf("a record that cannot be true (%s): %+v", reason, got.records[i])
			}
		}
		if len(got.records) == 0 || got.records[0].TimeFromMessage != got.records[len(got.records)-1].TimeFromMessage {
			return
		}
		again := decode(samplepb.NewEncoder().Append(nil, got.records), at)
		if len(again.bad) > 0 || !reflect.DeepEqual(again.records, got.records) {
			t.Fatalf("written again it is %+v\nwas %+v", again, got)
		}
	})
}

// batches are messages that a decoder may meet: sound ones, others' and hostile ones.
func batches(t testing.TB) (all [][]byte) {
	t.Helper()
	const first = `{"ts":1763692032185,"table":"orders","pk":["a",{"B":"AA=="}],"sk":5,"op":"GetItem","bytes":5,"attrs":{"a":"b"},"n":3,"calls":2,"attempts":2,"waited_ms":7,"failed":true,"call":"c","id":"i"}`
	const second = `{"ts":1763692032999,"table":"users","index":"by-date","pk":"k","op":"UpdateItem","wcu":2,"account":"1","region":"eu-west-1","caller":"role","throttle":"x","rate":0.5}`
	for _, lines := range []string{first, second, first + "\n" + second + "\n" + first, second + "\n" + second + "\n" + second} {
		k := new(recorder)
		keyheatjson.NewDecoder().Decode([]byte(lines), 0, k)
		all = append(all, samplepb.NewEncoder().Append(nil, k.records))
	}
	const head = "\x12\x07\x0a\x03log\x28\x07\x1a\x03\x0a\x01a" // a kind and a key
	for _, samples := range []string{
		"\x22\x04\x10\x01\x30\x05",
		"\x22\x02\x10\x01\x22\x04\x10\x01\x18\x01\x22\x02\x10\x02",
		"\x22\x05\x90\x80\x00\x81\x00",                                        // the tag of pk in three bytes, where one will do
		"\x22\x04\x10\x01\x0a\x00",                                            // kind as a text
		"\x12\x06\x0a\x03job\x08\x22\x04\x10\x01\x08\x01",                     // a kind whose table is a number at last
		"\x1a\x05\x0a\x01b\x12\x00\x22\x02\x10\x02",                           // a key that is a text, then a number
		"\x12\x09\x0a\x03job\x28\x31\x28\x07\x22\x06\x10\x01\x30\x05\x08\x01", // a kind whose operation is unknown, then known
		"\xa2\x00\x02\x10\x01",                                                // the tag of a sample in two bytes
		"\x22\x02\x10\x01\x1a",                                                // cut off
		"\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x22\x04\x10\x01\x20\x02",
		"\x22\x0c\x10\x01\x60\x02\x50\x01\x7a\x04\x0a\x02\xff\xff",
	} {
		all = append(all, []byte(head+samples))
	}
	return append(all, nil, []byte("{}"))
}

// TestDecoderKeepsNoMessage has a decoder read messages, sound and broken ones with fewer
// kinds and keys than before, and drop them.
func TestDecoderKeepsNoMessage(t *testing.T) {
	t.Parallel()
	d := samplepb.NewDecoder()
	for i := range 20 {
		for _, end := range []string{"", "\x22"} {
			message := []byte(strings.Repeat("\x12\x07\x0a\x03log\x28\x07\x1a\x03\x0a\x01a", 20-i) + "\x22\x04\x10\x01\x30\x05" + end)
			dropped := weak.Make(&message[0])
			d.Decode(message, 1, &recorder{})
			message = nil
			runtime.GC()
			if dropped.Value() != nil {
				t.Fatalf("the decoder keeps message %d that ends in %q", i, end)
			}
		}
	}
	runtime.KeepAlive(d)
}

// TestHostileBatches: a message of a megabyte or two makes no decoder large,
// however often it repeats its parts.
func TestHostileBatches(t *testing.T) { // not parallel: it looks at the heap
	const base, kind, key, one = "\x08\xd9\xba\xcd\xcc\xaa\x33", "\x12\x07\x0a\x03log\x28\x07", "\x1a\x03\x0a\x01a", "\x22\x02\x10\x01"
	named := func(tag string, text string) string {
		return tag + string(binary.AppendUvarint(nil, uint64(len(text)))) + text
	}
	half := strings.Repeat("k", 500_000)
	spaces := strings.Repeat(" ", 500_000)
	samples := strings.Repeat(one, 100_000)
	var attrs []byte
	for i := range 100_000 {
		attrs = append(attrs, named("\x7a", named("\x0a", fmt.Sprint(i)))...)
	}
	for story, c := range map[string]struct {
		message   string
		good, bad int
	}{
		"sound":                {base + kind + key + samples, 100_000, 0},
		"as many kinds":        {base + kind + strings.Repeat("\x12\x00", samplepb.MaxKinds-1) + key + one, 1, 0},
		"more kinds":           {base + kind + strings.Repeat("\x12\x00", samplepb.MaxKinds) + key + one, 0, 1},
		"many more kinds":      {base + kind + strings.Repeat("\x12\x00", 1_000_000) + key + one, 0, 1},
		"more keys":            {base + kind + strings.Repeat(key, samplepb.MaxKeys+1) + one, 0, 1},
		"more empty keys":      {base + kind + key + strings.Repeat("\x1a\x00", samplepb.MaxKeys) + one, 0, 1},
		"a long key":           {base + kind + named("\x1a", strings.Repeat(named("\x22", named("\x0a", half)), 2)) + samples, 0, 100_000},
		"a long binary key":    {base + kind + named("\x1a", named("\x1a", half)) + samples, 0, 100_000},
		"many attributes":      {base + kind + key + named("\x22", "\x10\x01"+string(attrs)) + strings.Repeat("\x22\x04\x10\x01\x60\x00", 100_000), 100_001, 0},
		"a throttle of blanks": {base + named("\x12", "\x0a\x03log\x28\x07"+named("\x42", spaces)) + key + samples, 0, 100_000},
	} {
		d, k := samplepb.NewDecoder(), new(counter)
		message := []byte(c.message)
		before, size := heap.Live(), allocated()
		d.Decode(message, 0, k)
		size = allocated() - size
		if kept := heap.Live() - before; kept > 8<<20 || size > 200<<20 {
			t.Errorf("%s: %d bytes are allocated for a message of %d, and %d kept", story, size, len(message), kept)
		}
		if k.records != c.good || k.bad != c.bad {
			t.Errorf("%s: %d good and %d bad", story, k.records, k.bad)
		}
		runtime.KeepAlive(d)
		runtime.KeepAlive(message)
	}
}

func allocated() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.TotalAlloc)
}
