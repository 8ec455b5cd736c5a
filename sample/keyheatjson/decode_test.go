package keyheatjson_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/reasons"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// good makes a sound record with an id and further members.
func good(id string, more ...string) string {
	return `{"ts":1763692032185,"table":"orders","pk":"user#42","op":"UpdateItem","id":"` + id + `"` +
		strings.Join(append([]string{""}, more...), ",") + `}`
}

func TestDecodeReadsEveryField(t *testing.T) {
	t.Parallel()
	k := decode(`{"ts":"2025-11-21T03:27:12.185999+01:00","table":"orders","index":"by-status",`+
		`"pk":["open",7],"sk":{"B":"AAE="},"op":"ExecuteStatement","rcu":1.5,"wcu":0.0004,"bytes":5000,"read":"strong",`+
		`"throttle":"IndexReadKeyRangeThroughputExceeded","rate":0.25,"n":3,"calls":0.12,"attempts":4,"waited_ms":412.5,"failed":true,"call":"c\u002d1","caller":"role\/web","account":"123",`+
		`"region":"eu-central-1","id":"e\u002d1","attrs":{"tenant":"t\n","status":"open"},"unknown":[{"a":[null,1e5]}]}`, 5)
	want := []sample.Record{{
		Time: 1763692032185, Table: "orders", Index: "by-status",
		PK: sample.Key{Type: "SN", Text: "open|7"}, SK: sample.Key{Type: "B", Text: "AAE="},
		Op: sample.ExecuteStatement, RCU: 1500, WCU: 1, Bytes: 5000, Read: sample.Strong,
		Throttle: "IndexReadKeyRangeThroughputExceeded", Rate: 0.25, N: 3, Calls: 0.12, Call: "c-1",
		Attempts: 4, Waited: 412.5, Failed: true,
		Caller: "role/web", Account: "123", Region: "eu-central-1", ID: "e-1",
		Attrs: map[string]string{"tenant": "t\n", "status": "open"},
	}}
	if !reflect.DeepEqual(k.records, want) || k.bad != nil {
		t.Errorf("got %+v\nwant %+v", *k, want)
	}
}

func TestDecodeDefaults(t *testing.T) {
	t.Parallel()
	k := decode(`{"table":"orders","pk":"a","op":"GetItem","sk":null,"index":null,"attrs":{},"rcu":null}`, 1763692032999)
	want := []sample.Record{{
		Time: 1763692032999, TimeFromMessage: true, Table: "orders", PK: sample.KeyString("a"),
		Op: sample.GetItem, RCU: 500, Estimated: true, Rate: 1, N: 1,
	}}
	if !reflect.DeepEqual(k.records, want) || k.bad != nil {
		t.Errorf("got %+v\nwant %+v", *k, want)
	}
}

// TestDecodeForms checks the samples of each form of message: the ids of the good ones, and the
// reject reasons and excerpts of the bad ones.
func TestDecodeForms(t *testing.T) {
	t.Parallel()
	syntax := func(excerpt string) badSample { return badSample{sample.RejectSyntax, excerpt} }
	cut := good("cut")[:60]
	for _, c := range []struct {
		story   string
		message string
		ids     string
		bad     []badSample
	}{
		{"an object", good("1"), "1", nil},
		{"an array", "[" + good("1") + ", " + good("2") + "]\n", "1 2", nil},
		{"an empty array holds nothing, well", " [ ] ", "", nil},
		{"lines, some of them blank", good("1") + "\n\n" + good("2") + "\r\n \n" + good("3"), "1 2 3", nil},
		{"lines of arrays", "[" + good("1") + "]\n[" + good("2") + "," + good("3") + "]", "1 2 3", nil},
		{"objects without anything between them", good("1") + good("2") + " " + good("3"), "1 2 3", nil},
		{"a pretty-printed object", strings.ReplaceAll(good("1"), ",", ",\n  "), "1", nil},
		{"a byte order mark", "\ufeff" + good("1"), "1", nil},
		{"an empty message", "", "", []badSample{{sample.RejectEmpty, ""}}},
		{"a blank message", " \r\n\t", "", []badSample{{sample.RejectEmpty, ""}}},
		{"a line that is not JSON", good("1") + "\noops\n" + good("2"), "1 2", []badSample{syntax("oops")}},
		{"two bad lines together are two", "oops\n<html>\n" + good("1"), "1", []badSample{syntax("oops"), syntax("<html>")}},
		{"a line that is no object", good("1") + "\n42\n\"x\"\n" + good("2"), "1 2",
			[]badSample{{sample.RejectNotObject, "42"}, {sample.RejectNotObject, `"x"`}}},
		{"a line cut short", good("1") + "\n" + cut + "\n" + good("2"), "1 2", []badSample{syntax(cut)}},
		{"a line cut behind a comma", good("1") + "\n{\"ts\":1,\n" + good("2"), "1 2", []badSample{syntax(`{"ts":1,`)}},
		{"the last line cut short", good("1") + "\n" + cut, "1", []badSample{syntax(cut)}},
		{"a line with something behind its object", good("1") + "\n" + good("2") + " x\n" + good("3"), "1 3",
			[]badSample{syntax((good("2") + " x")[:min(128, len(good("2"))+2)])}},
		{"a broken pretty-printed object is one bad sample", "{\n \"a\": oops,\n \"b\": 1\n}\n" + good("1"), "1",
			[]badSample{syntax("{\n \"a\": oops,\n \"b\": 1\n}")}},
		{"an element that is no object", "[" + good("1") + ",null,[1]," + good("2") + "]", "1 2",
			[]badSample{{sample.RejectNotObject, "null"}, {sample.RejectNotObject, "[1]"}}},
		{"an element that cannot be true", "[" + good("1") + "," + good("x", `"n":0`) + "," + good("2") + "]", "1 2",
			[]badSample{{sample.RejectBadN, good("x", `"n":0`)}}},
		{"a broken element ends its array", "[" + good("1") + ",{oops}," + good("2") + "]\n" + good("3"), "1 3",
			[]badSample{syntax("{oops}," + good("2") + "]")}},
		{"a broken element ends an array of lines", "[\n" + good("1") + ",\n{oops},\n" + good("2") + "\n]\n[" + good("3") + "]", "1 3",
			[]badSample{syntax("{oops},\n" + good("2") + "\n]")}},
		{"an array without its end", "[" + good("1") + ",\n" + good("2"), "1 2", []badSample{syntax("")}},
		{"an array that ends in a comma", "[" + good("1") + ",]\n", "1", []badSample{syntax("]")}},
		{"something behind an array", "[" + good("1") + "] oops\n" + good("2"), "1 2", []badSample{syntax("oops")}},
	} {
		k := decode(c.message, 0)
		var ids []string
		for _, r := range k.records {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != c.ids || !slices.Equal(k.bad, c.bad) {
			t.Errorf("%s: good %s, bad %q\nwant %s, %q", c.story, got, k.bad, c.ids, c.bad)
		}
	}
}

// TestDecodeReasons names a record for every reason there is.
func TestDecodeReasons(t *testing.T) {
	t.Parallel()
	met := map[sample.RejectReason]bool{sample.RejectEmpty: true, sample.RejectNotObject: true} // TestDecodeForms
	for _, c := range []struct {
		story  string
		reason sample.RejectReason
		object string
	}{
		{"a number with a leading zero", sample.RejectSyntax, good("x", `"z":01`)},
		{"a literal misspelt", sample.RejectSyntax, good("x", `"z":nul`)},
		{"a raw tab in a string", sample.RejectSyntax, good("x", "\"z\":\"\t\"")},
		{"an unknown escape", sample.RejectSyntax, good("x", `"z":"\x41"`)},
		{"NaN", sample.RejectSyntax, good("x", `"wcu":NaN`)},
		{"a string in Latin-1", sample.RejectBadUTF8, good("x", "\"caller\":\"Zo\xeb\"")},
		{"an ignored string in Latin-1", sample.RejectBadUTF8, good("x", "\"z\":\"Zo\xeb\"")},
		{"half a surrogate pair", sample.RejectBadUTF8, good("x", `"sk":"\ud83d"`)},
		{"33 levels", sample.RejectTooDeep, good("x", `"z":`+strings.Repeat("[", 32)+strings.Repeat("]", 32))},
		{"no ts in a file", sample.RejectNoTime, `{"table":"orders","pk":"a","op":"GetItem"}`},
		{"ts in seconds", sample.RejectBadTime, good("x", `"ts":1763692032`)},
		{"ts in microseconds", sample.RejectBadTime, good("x", `"ts":1763692032185000`)},
		{"ts without a zone", sample.RejectBadTime, good("x", `"ts":"2025-11-21T02:27:12"`)},
		{"ts before the epoch", sample.RejectBadTime, good("x", `"ts":-1`)},
		{"a table that is null", sample.RejectNoTable, good("x", `"table":null`)},
		{"a table without a name", sample.RejectNoTable, good("x", `"table":""`)},
		{"a table that is a number", sample.RejectBadTable, good("x", `"table":7`)},
		{"a table of two letters", sample.RejectBadTable, good("x", `"table":"ab"`)},
		{"an index of two letters", sample.RejectBadTable, good("x", `"index":"ab"`)},
		{"an index of 256 letters", sample.RejectBadTable, good("x", `"index":"`+strings.Repeat("i", 256)+`"`)},
		{"an op in lower case", sample.RejectBadOp, good("x", `"op":"getitem"`)},
		{"an op that touches no data", sample.RejectBadOp, good("x", `"op":"DescribeTable"`)},
		{"no pk", sample.RejectNoKey, good("x", `"pk":null`)},
		{"an empty pk", sample.RejectBadKey, good("x", `"pk":""`)},
		{"an empty sk", sample.RejectBadKey, good("x", `"sk":""`)},
		{"a pk of 2,049 bytes", sample.RejectKeyTooLong, good("x", `"pk":"`+strings.Repeat("k", 2049)+`"`)},
		{"an sk of 1,025 bytes", sample.RejectKeyTooLong, good("x", `"sk":"`+strings.Repeat("k", 1025)+`"`)},
		{"a pk of 2,049 binary bytes", sample.RejectKeyTooLong, good("x", `"pk":{"B":"`+strings.Repeat("AAAA", 683)+`"}`)},
		{"two parts of 2,050 bytes together", sample.RejectKeyTooLong,
			good("x", `"pk":["`+strings.Repeat("k", 1025)+`","`+strings.Repeat("k", 1025)+`"]`)},
		{"bytes below none", sample.RejectBadBytes, good("x", `"bytes":-1`)},
		{"half a byte", sample.RejectBadBytes, good("x", `"bytes":0.5`)},
		{"an item over 400 KB", sample.RejectTooLarge, good("x", `"bytes":409601`)},
		{"a page over 1 MB", sample.RejectTooLarge, good("x", `"op":"Query"`, `"bytes":1048577`)},
		{"a fourth consistency", sample.RejectBadRead, good("x", `"read":"weak"`)},
		{"neither op nor units", sample.RejectNoOp, good("x", `"op":null`)},
		{"a statement without units", sample.RejectNoOp, good("x", `"op":"ExecuteStatement"`)},
		{"negative units", sample.RejectBadUnits, good("x", `"wcu":-1`)},
		{"units below none by a hair", sample.RejectBadUnits, good("x", `"rcu":-1e-300`)},
		{"infinite units", sample.RejectBadUnits, good("x", `"wcu":1e999`)},
		{"a million and one units", sample.RejectBadUnits, good("x", `"wcu":1000001`)},
		{"a read with write units", sample.RejectBadUnits, `{"ts":1763692032185,"table":"orders","pk":"x","op":"GetItem","wcu":1}`},
		{"units in a string", sample.RejectBadUnits, good("x", `"wcu":"1"`)},
		{"a load beyond all tables", sample.RejectBadUnits, good("x", `"wcu":1000`, `"n":1000`, `"rate":0.0001`)},
		{"nothing sampled", sample.RejectBadRate, good("x", `"rate":0`)},
		{"more than all sampled", sample.RejectBadRate, good("x", `"rate":1.01`)},
		{"per cent in a string", sample.RejectBadRate, good("x", `"rate":"1%"`)},
		{"no requests", sample.RejectBadN, good("x", `"n":0`)},
		{"more calls than requests", sample.RejectBadCalls, good("x", `"n":3`, `"calls":4`)},
		{"requests of no call", sample.RejectBadCalls, good("x", `"calls":0`)},
		{"sent no time", sample.RejectBadRetries, good("x", `"attempts":0`)},
		{"sent a time and a half", sample.RejectBadRetries, good("x", `"attempts":1.5`)},
		{"sent a thousand and one times", sample.RejectBadRetries, good("x", `"attempts":1001`)},
		{"waited, and nothing says for how many attempts", sample.RejectBadRetries, good("x", `"waited_ms":20`)},
		{"failed, and nothing says after how many attempts", sample.RejectBadRetries, good("x", `"failed":false`)},
		{"waited for less than no time", sample.RejectBadRetries, good("x", `"attempts":2`, `"waited_ms":-1`)},
		{"waited for more than a day", sample.RejectBadRetries, good("x", `"attempts":2`, `"waited_ms":86400001`)},
		{"throttled, in a word that says no", sample.RejectBadThrottle, good("x", `"throttle":"False"`)},
		{"throttled by a conflict", sample.RejectBadThrottle, good("x", `"throttle":"TransactionConflictException: Transaction is ongoing for the item"`)},
		{"throttled by an invalid request", sample.RejectBadThrottle, good("x", `"throttle":"ValidationException"`)},
		{"throttled for no reason", sample.RejectBadThrottle, good("x", `"throttle":[]`)},
		{"half a conflict", sample.RejectBadLost, good("x", `"conflict":0.5`)},
		{"a conflict in a string", sample.RejectBadLost, good("x", `"conflict":"1"`)},
		{"fewer conflicts than none", sample.RejectBadLost, good("x", `"conflict":-1`)},
		{"more attempts lost than were made", sample.RejectBadLost, good("x", `"n":2`, `"attempts":3`, `"conflict":4`, `"condition_failed":3`)},
		{"a read in a conflict", sample.RejectBadLost, good("x", `"op":"GetItem"`, `"conflict":1`)},
		{"a transaction of reads with a condition", sample.RejectBadLost, good("x", `"op":"TransactGetItems"`, `"condition_failed":1`)},
		{"failed in words", sample.RejectBadRetries, good("x", `"attempts":2`, `"failed":"yes"`)},
		{"a call that is no text", sample.RejectBadText, good("x", `"call":7`)},
		{"half a request", sample.RejectBadN, good("x", `"n":1.5`)},
		{"a caller that is a list", sample.RejectBadText, good("x", `"caller":["me"]`)},
		{"attrs that are numbers", sample.RejectBadAttrs, good("x", `"attrs":{"age":5}`)},
		{"attrs that are a list", sample.RejectBadAttrs, good("x", `"attrs":["age"]`)},
	} {
		met[c.reason] = true
		k := decode(good("1")+"\n"+c.object+"\n"+good("2"), 0)
		if len(k.bad) != 1 || k.bad[0].Reason != c.reason || len(k.records) != 2 {
			t.Errorf("%s: %d good, bad %q, want one %s", c.story, len(k.records), k.bad, c.reason)
		} else if excerpt := k.bad[0].Excerpt; excerpt == "" || !strings.HasPrefix(c.object, excerpt) || len(excerpt) > 128 {
			t.Errorf("%s: excerpt %q", c.story, excerpt)
		}
	}
	for _, r := range reasons.OfSample() {
		if !met[r] {
			t.Errorf("no story for %s", r)
		}
		delete(met, r)
	}
	if len(met) != 0 {
		t.Errorf("reasons missing from Reasons: %v", met)
	}
}

// TestDecodeAccepts checks that odd but possible values are not bad samples.
func TestDecodeAccepts(t *testing.T) {
	t.Parallel()
	for story, object := range map[string]string{
		"a Scan without a key":            good("1", `"op":"Scan"`, `"pk":null`),
		"units without an op":             good("1", `"op":null`, `"wcu":1`),
		"a delete by time to live":        good("1", `"op":"DeleteItem"`, `"wcu":0`),
		"a statement with units":          good("1", `"op":"ExecuteStatement"`, `"rcu":3`),
		"minus zero":                      good("1", `"wcu":-0.0`),
		"whole numbers with a point":      good("1", `"n":2.0`, `"ts":1763692032185.0`, `"bytes":1e3`),
		"the longest keys":                good("1", `"pk":"`+strings.Repeat("k", 2048)+`"`, `"sk":"`+strings.Repeat("k", 1024)+`"`),
		"the longest binary key":          good("1", `"sk":{"B":"`+strings.Repeat("AAAA", 341)+`AA=="}`),
		"the largest item":                good("1", `"bytes":409600`),
		"the largest page":                good("1", `"op":"Query"`, `"bytes":1048576`),
		"32 levels":                       good("1", `"z":`+strings.Repeat("[", 31)+strings.Repeat("]", 31)),
		"half a surrogate pair, ignored":  good("1", `"z":"\ud83d"`),
		"a name with an escape":           good("1", `"\u006e":2`),
		"a bad value overruled by a good": good("x", `"id":5`, `"id":"1"`),
	} {
		k := decode(object, 0)
		if len(k.bad) != 0 || len(k.records) != 1 || k.records[0].ID != "1" {
			t.Errorf("%s: %+v", story, *k)
		}
	}
}

func TestDecodeReadsEveryEscape(t *testing.T) {
	t.Parallel()
	k := decode(good("1", `"sk":"\"\\\/\b\f\n\r\t\u0041\u00e9\uD83D\uDE00\ufffd\u00Ff"`), 0)
	if want := "\"\\/\b\f\n\r\tAé😀\ufffdÿ"; len(k.records) != 1 || k.records[0].SK.Text != want {
		t.Errorf("got %+v, want %q", *k, want)
	}
	for _, broken := range []string{`\`, `\u`, `\u12`, `\u12g4`, `\ud83d\u0041`, `\ud83dx`, `\udc00`, `\ud83d\n`, `\'`} {
		if k := decode(good("1", `"sk":"`+broken+`"`), 0); len(k.bad) != 1 || len(k.records) != 0 {
			t.Errorf("%s gave %+v", broken, *k)
		}
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	// Not parallel: the count is the whole process's.
	d, k := keyheatjson.NewDecoder(), &counter{}
	for name, message := range map[string]string{
		"plain":          plain,
		"number and map": good("1", `"pk":42`, `"sk":{"N":"7"}`, `"attrs":{"tenant":"t"}`, `"rcu":0.5`),
		"escapes":        good("1", `"sk":"a\"b\u00e9"`),
		"an RFC 3339 ts": good("1", `"ts":"2025-11-21T02:27:12.185Z"`),
	} {
		m := []byte(message)
		if n := testing.AllocsPerRun(100, func() { d.Decode(m, 0, k) }); n != 0 {
			t.Errorf("%s: %v allocations a record", name, n)
		}
	}
	if k.bad != 0 || k.records == 0 {
		t.Errorf("%d good, %d bad", k.records, k.bad)
	}
}

func TestCloneOutlivesTheMessage(t *testing.T) {
	t.Parallel()
	message := []byte(good("1", `"sk":"\u0061b"`, `"attrs":{"tenant":"t"}`))
	d, k := keyheatjson.NewDecoder(), &recorder{}
	d.Decode(message, 0, k)
	want := decode(string(message), 0).records[0]
	for i := range message {
		message[i] = 'x'
	}
	d.Decode([]byte(good("2", `"sk":"\u0062b"`, `"attrs":{"tenant":"u"}`)), 0, k)
	if !reflect.DeepEqual(k.records[0], want) {
		t.Errorf("got %+v, want %+v", k.records[0], want)
	}
}

// TestBrokenLinesCostNoSquare bounds the work on a large message with an unclosed value in
// every line.
func TestBrokenLinesCostNoSquare(t *testing.T) {
	t.Parallel()
	const lines = 50_000
	for _, line := range []string{`{"a":[{},`, `{"a":`, `{`, `[{},`, `{"a":1,`, `[`, `{"a":"`} {
		k := &counter{}
		keyheatjson.NewDecoder().Decode([]byte(strings.Repeat(line+"\n", lines)), 1, k)
		if k.bad == 0 {
			t.Errorf("%s: %d good, %d bad", line, k.records, k.bad)
		}
	}
}

func TestOpNames(t *testing.T) {
	t.Parallel()
	for i, name := range operations {
		op, ok := sample.ParseOp(name)
		if ok != (i > 0) || op != sample.Op(i) || op.String() != name {
			t.Errorf("%q is %d (%q), %v", name, op, op, ok)
		}
		if op.IsRead() && op.IsWrite() {
			t.Errorf("%s both reads and writes", op)
		}
	}
	if s := sample.Op(200).String() + sample.Consistency(200).String(); s != "" {
		t.Errorf("what is no operation and no consistency is called %q", s)
	}
}
