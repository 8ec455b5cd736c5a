package format_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/format"
)

// heard is what a decoder hands out.
type heard struct {
	good []sample.Record
	bad  map[sample.RejectReason]int
}

func (h *heard) Record(r *sample.Record) { h.good = append(h.good, r.Clone()) }

func (h *heard) Bad(reason sample.RejectReason, excerpt []byte) {
	if h.bad == nil {
		h.bad = map[sample.RejectReason]int{}
	}
	h.bad[reason]++
	if len(excerpt) > 128 {
		panic(fmt.Sprintf("an excerpt has %d bytes", len(excerpt)))
	}
}

// TestAttacksBySamples puts each message between two good ones, for a decoder that
// recognises forms and for each form's own: what is sound in it counts, exactly, the rest
// is bad with a reason, and the neighbours count as ever.
func TestAttacksBySamples(t *testing.T) {
	t.Parallel()
	const sound = `{"ts":1763692032185,"table":"orders","pk":"a","op":"PutItem","wcu":2}`
	with := func(field string) string {
		return strings.Replace(sound, `"wcu":2`, field, 1)
	}
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, a := range []struct {
		name, message string
		good          int
	}{
		{"depth without end", deep, 0},
		{"depth in a field that is ignored", with(`"wcu":2,"x":` + strings.Repeat(`{"x":`, 10_000) + "1" + strings.Repeat("}", 10_000)), 0},
		{"depth in a key", with(`"wcu":2,"sk":` + strings.Repeat("[", 1000) + `"a"` + strings.Repeat("]", 1000)), 0},
		{"an array that a first line begins", "[{\"pk\":\n" + sound + "\n" + sound, 2},
		{"an array that never ends", "[" + sound + "," + sound, 2},
		{"commas alone", strings.Repeat(",", 10_000), 0},
		{"a million empty lines", strings.Repeat("\n", 1_000_000) + sound, 1},
		{"two of one field", with(`"wcu":2,"wcu":-2`), 0},
		{"two tables", strings.Replace(sound, `"pk"`, `"table":"carts","pk"`, 1), 1},
		{"units below nothing", with(`"wcu":-1`), 0},
		{"units without end", with(`"wcu":1e308`), 0},
		{"units that are no number", with(`"wcu":NaN`), 0},
		{"units as a text", with(`"wcu":"2"`), 0},
		{"requests without end", with(`"wcu":2,"n":9223372036854775807`), 0},
		{"requests beyond 64 bits", with(`"wcu":2,"n":99999999999999999999999`), 0},
		{"no requests", with(`"wcu":2,"n":0`), 0},
		{"a part of a request", with(`"wcu":2,"n":0.5`), 0},
		{"a rate of nothing", with(`"wcu":2,"rate":0`), 0},
		{"a rate that makes every request a billion", with(`"wcu":2,"rate":1e-300`), 0},
		{"a rate above one", with(`"wcu":2,"rate":2`), 0},
		{"calls that are more than requests", with(`"wcu":2,"n":2,"calls":3`), 0},
		{"a time before all", strings.Replace(sound, "1763692032185", "-1", 1), 0},
		{"a time beyond all", strings.Replace(sound, "1763692032185", "9223372036854775807", 1), 0},
		{"a time that is a number's end", strings.Replace(sound, "1763692032185", "1e400", 1), 0},
		{"a key of a megabyte", strings.Replace(sound, `"a"`, `"`+strings.Repeat("k", 1<<20)+`"`, 1), 0},
		{"a key of nothing", strings.Replace(sound, `"a"`, `""`, 1), 0},
		{"a key with NUL", strings.Replace(sound, `"a"`, `"a\u0000b"`, 1), 1},
		{"half a character", strings.Replace(sound, `"a"`, `"\ud800"`, 1), -1},
		{"bytes that are no text", strings.Replace(sound, `"a"`, "\"a\xff\xfe\"", 1), -1},
		{"a key that is a number without end", strings.Replace(sound, `"a"`, `{"N":"1e999999999"}`, 1), 0},
		{"a key of 10,000 digits", strings.Replace(sound, `"a"`, `{"N":"`+strings.Repeat("9", 10_000)+`"}`, 1), 0},
		{"a binary that is none", strings.Replace(sound, `"a"`, `{"B":"***"}`, 1), 0},
		{"a key of a hundred attributes", strings.Replace(sound, `"a"`, `["a"`+strings.Repeat(`,"a"`, 99)+`]`, 1), 0},
		{"a table's name that steers a terminal", strings.Replace(sound, "orders", `orders\u001b]0;evil\u0007`, 1), 0},
		{"a table's name of two lines", strings.Replace(sound, "orders", `orders\nRunbook: http://evil.example`, 1), 0},
		{"a table's name that runs backwards", strings.Replace(sound, "orders", "orders\u202egnp", 1), 0},
		{"a table's name that is a command", strings.Replace(sound, "orders", "orders;$(id)", 1), 0},
		{"a table's ARN", strings.Replace(sound, "orders", "arn:aws:dynamodb:eu-west-1:123456789012:table/orders", 1), 0},
		{"an index's name of markup", with(`"wcu":2,"index":"<script>"`), 0},
		{"a Region that steers a terminal", with(`"wcu":2,"region":"eu\u001b[2J"`), 0},
		{"an account of two lines", with(`"wcu":2,"account":"1\n2"`), 0},
		{"a table's name of two letters", strings.Replace(sound, "orders", "ab", 1), 0},
		{"an index's name of two letters", with(`"wcu":2,"index":"ab"`), 0},
		{"the shortest name", strings.Replace(sound, "orders", "abc", 1), 1},
		{"the longest name", strings.Replace(sound, "orders", strings.Repeat("Aa9_.-", 42)+"abc", 1), 1},
		{"a table's name of 10 KB", strings.Replace(sound, "orders", strings.Repeat("t", 10_000), 1), 0},
		{"an operation that is none", strings.Replace(sound, "PutItem", "DropTable", 1), 0},
		{"a mark of byte order", "\xef\xbb\xbf" + sound, 1},
		{"another encoding", "\xff\xfe{\x00}\x00", 0},
		{"JavaScript", `{"ts":1763692032185,table:'orders',pk:'a',wcu:0x2}`, 0},
		{"a comment", "/* */ " + sound, 0},
		{"a prototype", with(`"wcu":2,"__proto__":{"wcu":9},"constructor":{}`), 1},
		{"a stream's record without its images", `{"eventName":"INSERT","dynamodb":{"Keys":{}}}`, 0},
		{"a stream's record of numbers", `{"eventName":"INSERT","dynamodb":{"Keys":{"pk":{"N":"abc"}},"NewImage":{"pk":{"N":"abc"}}},"eventSourceARN":"arn:aws:dynamodb:eu-west-1:123456789012:table/orders/stream/x"}`, 0},
		{"an event of CloudTrail without a request", `{"Records":[{"eventSource":"dynamodb.amazonaws.com","eventName":"PutItem"}]}`, 0},
		{"ten thousand empty records", `{"Records":[` + strings.TrimSuffix(strings.Repeat("{},", 10_000), ",") + `]}`, 0},
		{"compression where none is read", "\x28\xb5\x2f\xfd\x04\x00", 0},
	} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range append(format.Formats(), "detected") {
				var decoder format.Decoder = format.NewDetectingDecoder(nil)
				if f != "detected" {
					decoder = format.NewDecoder(f, nil)
				}
				h := &heard{}
				if f == format.Keyheat || f == "detected" {
					decoder.Decode([]byte(sound), 1763692032185, h)
				}
				before := len(h.good)
				decoder.Decode([]byte(a.message), 1763692032185, h)
				inside := h.good[before:]
				if f == "detected" && a.good >= 0 && len(inside) != a.good {
					t.Errorf("%s: %d good, want %d; bad %v", f, len(inside), a.good, h.bad)
				}
				if len(inside) == 0 && len(h.bad) == 0 {
					t.Errorf("%s: it vanishes", f)
				}
				for i := range inside {
					read, write := inside[i].Load()
					if read < 0 || write < 0 || read > math.MaxInt64/2 || write > math.MaxInt64/2 || inside[i].Time < 0 || inside[i].N < 1 || len(inside[i].PK.Text) > 4096 {
						t.Errorf("%s: a record is %+v", f, inside[i])
					}
				}
				if f == format.Keyheat || f == "detected" {
					after := len(h.good)
					decoder.Decode([]byte(sound), 1763692032185, h)
					if len(h.good) != after+1 {
						t.Errorf("%s: the next message is lost", f)
					}
				}
			}
		})
	}
}
