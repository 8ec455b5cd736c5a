package mapped_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/docs"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
	"github.com/keyheat/keyheat/sample/mapped"
)

// heard lists a decoder's samples: good ones in Keyheat JSON, bad ones by reject reason.
type heard []string

func (h *heard) Record(r *sample.Record) { *h = append(*h, string(r.AppendJSON(nil))) }
func (h *heard) Bad(reason sample.RejectReason, excerpt []byte) {
	*h = append(*h, string(reason)+": "+string(excerpt))
}

func decode(t *testing.T, m mapped.Mapping, messages ...string) heard {
	t.Helper()
	must.Succeed(t, m.Validate())
	var h heard
	d := mapped.NewDecoder(m, map[string]float64{"sampled": 0.01})
	for _, message := range messages {
		d.Decode([]byte(message), 0, &h)
	}
	return h
}

const sound = `{"ts":1763692032185,"table":"orders","pk":"a","op":"PutItem","bytes":900}`

func TestOtherPeoplesFieldsAreSamples(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story, fields string
		unit          mapped.Unit
		text          string
		want          []string
	}{
		{"nothing mapped", "", "", sound, []string{sound}},
		{"names", "ts=time,pk=customer,op=verb,bytes=size,table=t", "", `{"time":1763692032185,"customer":"a","verb":"PutItem","size":900,"t":"orders"}`, []string{sound}},
		{"paths, and a name with a dot", "ts=at,pk=detail.key,op=a.b", "", `{"at":1763692032185,"detail":{"key":"a"},"a.b":"put_item","bytes":900}`, []string{sound}},
		{"JSON in a text", "ts=at,pk=message.key,op=message.op.name", "", `{"at":1763692032185,"message":"{\"key\":\"a\",\"op\":{\"name\":\"dynamodb:PutItem\"}}","bytes":"900"}`, []string{sound}},
		{"constants", "op=const:PutItem,table=const:orders", "", `{"ts":1763692032185,"pk":"a","op":7,"bytes":900}`, []string{sound}},
		{"a field left out", "id=", "", `{"ts":1763692032185,"pk":"a","id":[1],"op":"PutItem","bytes":900}`, []string{sound}},
		{"a number as a text", "caller=host", "", `{"ts":1763692032185,"pk":"a","host":7,"op":"PutItem","bytes":900}`, []string{strings.Replace(sound, "}", `,"caller":"7"}`, 1)}},
		{"attributes", "attrs.tenant=org,attrs.user=u.id", "", `{"ts":1763692032185,"pk":"a","org":"acme","u":{"id":7},"op":"PutItem","bytes":900}`, []string{strings.Replace(sound, "}", `,"attrs":{"tenant":"acme","user":"7"}}`, 1)}},
		{"a key in DynamoDB's JSON", "", "", `{"ts":1763692032185,"pk":{"S":"a"},"op":"PutItem","bytes":900}`, []string{sound}},
		{"seconds", "", mapped.Seconds, `{"ts":1763692032.185,"pk":"a","op":"PutItem","bytes":900}`, []string{sound}},
		{"seconds as text", "", mapped.Seconds, `{"ts":"1763692032.185","pk":"a","op":"PutItem","bytes":900}`, []string{sound}},
		{"microseconds", "", mapped.Microseconds, `{"ts":1763692032185999,"pk":"a","op":"PutItem","bytes":900}`, []string{sound}},
		{"nanoseconds", "", mapped.Nanoseconds, `{"ts":1763692032185999999,"pk":"a","op":"PutItem","bytes":900}`, []string{sound}},
		{"RFC 3339, whatever the unit", "", mapped.Nanoseconds, `{"ts":"2025-11-21T03:27:12.185+01:00","pk":"a","op":"PutItem","bytes":900}`, []string{sound}},
		{"a database's time", "", "", `{"ts":"2025-11-21 02:27:12.185","pk":"a","op":"PutItem","bytes":900}`, []string{sound}},
		{"a German time", "", "", `{"ts":"21.11.2025 02:27:12.185","pk":"a","op":"PutItem","bytes":900}`, []string{sound}},
		{"Kibana's time", "", "", `{"ts":"Nov 21, 2025 @ 02:27:12.185","pk":"a","op":"PutItem","bytes":900}`, []string{sound}},
		{"PostgreSQL's time", "", "", `{"ts":"2025-11-21 03:27:12.185+01","pk":"a","op":"PutItem","bytes":900}`, []string{sound}},
		{"a time whose day may be its month", "", "", `{"ts":"05/11/2025 02:27:12","pk":"a","op":"PutItem"}`, []string{`bad_time: {"ts":"05/11/2025 02:27:12","pk":"a","op":"PutItem"}`}},
		{"a time without seconds", "", "", `{"ts":"2025-11-21T02:27Z","pk":"a","op":"PutItem"}`, []string{`bad_time: {"ts":"2025-11-21T02:27Z","pk":"a","op":"PutItem"}`}},
		{"names with dots at every depth, and a list", "pk=attributes.app.key,table=attributes.aws.tables.0", "", `{"ts":1763692032185,"attributes":{"app.key":"a","aws.tables":["orders"]},"op":"PutItem","bytes":900}`, []string{sound}},
		{"JSON in a text behind other text", "pk=log.key", "", `{"ts":1763692032185,"log":"INFO {\"key\":\"a\"}\n","op":"PutItem","bytes":900}`, []string{sound}},
		{"JSON in a column", "ts=@timestamp,pk=@message.ddb.key,op=@message.op", "", "@timestamp,@message,bytes\n2025-11-21 02:27:12.185,\"{\"\"op\"\":\"\"put\"\",\"\"ddb\"\":{\"\"key\"\":\"\"a\"\"}}\",900", []string{sound}},
		{"a name with a comma", `op=o,pk="Customer ""X"", ID" , bytes=size`, "", "ts,\"Customer \"\"X\"\", ID\",o,size\n1763692032185,a,put,900", []string{sound}},
		{"the time in front of the object", "ts=begin:", "", "[2025-11-21 02:27:12,185] [main] INFO " + `{"pk":"a","op":"PutItem","bytes":900}` + "\n" + `21/Nov/2025:02:27:12.185 +0000 {"pk":"a","op":"PutItem","bytes":900}` + "\n" + `INFO {"pk":"a","op":"PutItem"}`,
			[]string{sound, sound, `no_time: INFO {"pk":"a","op":"PutItem"}`}},
		{"units follow the operation", "units=u", "", `{"ts":1763692032185,"pk":"a","op":"PutItem","u":{"CapacityUnits":3,"Table":{"CapacityUnits":2}}}` + "\n" + `{"ts":1763692032185,"pk":"a","op":"GetItem","u":"2"}` + "\n" + `{"ts":1763692032185,"pk":"a","u":2}`,
			[]string{strings.Replace(sound, `"bytes":900`, `"wcu":2`, 1), strings.Replace(sound, `"PutItem","bytes":900`, `"GetItem","rcu":2`, 1), `no_op: {"ts":1763692032185,"pk":"a","u":2}`}},
		{"thousands beside decimal commas", "", "", "ts;pk;op;wcu\n1763692032185;a;PutItem;1.200\n1763692032185;a;PutItem;1,5\n",
			[]string{strings.Replace(sound, `"bytes":900`, `"wcu":1200`, 1), strings.Replace(sound, `"bytes":900`, `"wcu":1.5`, 1)}},
		{"in lists, texts and base64", "", "", `{"a":[{"b":"{\"ts\":1763692032185,\"pk\":\"a\",\"op\":\"PutItem\",\"bytes\":900}"},{"c":1}],"d":"eyJ0cyI6MTc2MzY5MjAzMjE4NSwicGsiOiJhIiwib3AiOiJQdXRJdGVtIiwiYnl0ZXMiOjkwMH0="}`,
			[]string{sound, `no_sample: {"a":[{"b":"{\"ts\":1763692032185,\"pk\":\"a\",\"op\":\"PutItem\",\"bytes\":900}"},{"c":1}],"d":"eyJ0cyI6MTc2MzY5MjAzMjE4NSwicGs`, sound}},
		{"pairs", "op=o", "", `[x] ts=1763692032185 o=put msg="of a" pk=a bytes=900`, []string{sound}},
		{"lines before the names", "", "", "\ufeff# of us\r\nsep=;\r\nts;pk;op;bytes\r\n1763692032185;a;PutItem;900\r\n", []string{sound}},
		{"decimal commas beside semicolons", "", "s", "ts;pk;op;wcu\n1763692032,185;a;PutItem;1,5\n", []string{strings.Replace(sound, `"bytes":900`, `"wcu":1.5`, 1)}},
		{"bars", "", "", "ts|pk|op|bytes\n1763692032185|a|PutItem|900", []string{sound}},
		{"an array", "op=o", "", `[{"ts":1763692032185,"pk":"a","o":"PUT","bytes":900},` + "\n" + `{"ts":1763692032185,"pk":"a","o":"INSERT","bytes":900}]`, []string{sound, sound}},
		{"an object over lines", "op=o", "", "{\n\"ts\":1763692032185,\n\"pk\":\"a\",\"o\":\"PUT\",\"bytes\":900\n}", []string{sound}},
		{"lines of a log", "op=o", "", "started\n[12:00] {x} INFO " + `{"ts":1763692032185,"pk":"a","o":"PUT","bytes":900}` + " done\n",
			[]string{"syntax: started", sound}},
		{"CSV", "pk=customer,op=verb,bytes=size", "", "\ufeffts,customer,verb,size\r\n1763692032185,a,put,900\r\n", []string{sound}},
		{"CSV with quotes", "pk=customer", "", `"ts","customer","op","bytes"` + "\n" + `1763692032185,"a,""b""",PutItem,900`, []string{strings.Replace(sound, `"a"`, `"a,\"b\""`, 1)}},
		{"CSV without a mapping", "", "", "ts,pk,op,bytes\n1763692032185,a,PutItem,900", []string{sound}},
		{"semicolons", "", "", "ts;pk;op;bytes\n1763692032185;a;PutItem;900", []string{sound}},
		{"TSV", "", "", "ts\tpk\top\tbytes\tsk\n1763692032185\ta\tPutItem\t900\t\n", []string{sound}},
		{"rows that are none", "", "", "ts,pk,op\n1763692032185,a\n1763692032185,\"a,PutItem\n1763692032185,,PutItem\n",
			[]string{"bad_row: 1763692032185,a", "bad_quote: 1763692032185,\"a,PutItem", "no_key: 1763692032185,,PutItem"}},
		{"whether it was throttled, in words", "throttle=t", "", "ts,pk,op,bytes,t\n1763692032185,a,PutItem,900,no\n1763692032185,a,PutItem,900,-\n1763692032185,a,PutItem,900,\n1763692032185,a,PutItem,900,Yes\n1763692032185,a,PutItem,900,400\n",
			[]string{sound, sound, sound, strings.Replace(sound, "}", `,"throttle":"Yes"}`, 1), "bad_throttle: 1763692032185,a,PutItem,900,400"}},
		{"a conflict and a failed condition among the throttles", "throttle=t,n=count", "", "ts,pk,op,bytes,count,t\n1763692032185,a,PutItem,900,3,TransactionConflictException\n" +
			"1763692032185,a,PutItem,900,,ConditionalCheckFailedException: The conditional request failed\n1763692032185,a,PutItem,900,1,ValidationException\n",
			[]string{strings.Replace(sound, `"bytes":900}`, `"wcu":0,"bytes":900,"n":3,"conflict":3}`, 1), strings.Replace(sound, "}", `,"condition_failed":1}`, 1), "bad_throttle: 1763692032185,a,PutItem,900,1,ValidationException"}},
		{"a cancelled transaction", "throttle=t,op=const:TransactWriteItems", "", "ts,pk,bytes,t\n1763692032185,a,900,\"Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict]\"\n" +
			"1763692032185,a,900,\"Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]\"\n",
			[]string{`{"ts":1763692032185,"table":"orders","pk":"a","op":"TransactWriteItems","wcu":0,"bytes":900,"conflict":1}`, `bad_throttle: 1763692032185,a,900,"Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]"`}},
		{"conflicts in a column of their own", "conflict=lost", "", "ts,pk,op,bytes,n,lost\n1763692032185,a,PutItem,900,2,1\n1763692032185,a,PutItem,900,1,true\n1763692032185,a,PutItem,900,1,false\n1763692032185,a,PutItem,900,1,2\n",
			[]string{strings.Replace(sound, "}", `,"n":2,"conflict":1}`, 1), strings.Replace(sound, `"bytes":900}`, `"wcu":0,"bytes":900,"conflict":1}`, 1), sound, "bad_lost: 1763692032185,a,PutItem,900,1,2"}},
		{"a throttle as true or false", "throttle=t", "", strings.Replace(sound, "}", `,"t":false}`, 1) + "\n" + strings.Replace(sound, "}", `,"t":true}`, 1) + "\n" + strings.Replace(sound, "}", `,"t":null}`, 1), []string{sound, strings.Replace(sound, "}", `,"throttle":"true"}`, 1), sound}},
		{"what cannot be", "n=count", "", `{"ts":"yesterday","pk":"a","op":"PutItem"}` + "\n" + `{"ts":1763692032185,"pk":"a","op":"mend"}` + "\n" + `{"ts":1763692032185,"pk":"a","op":"PutItem","wcu":"two"}` + "\n" + `{"ts":1763692032185,"pk":"a","op":"PutItem","count":""}`,
			[]string{`bad_time: {"ts":"yesterday","pk":"a","op":"PutItem"}`, `bad_op: {"ts":1763692032185,"pk":"a","op":"mend"}`,
				`bad_units: {"ts":1763692032185,"pk":"a","op":"PutItem","wcu":"two"}`, `bad_n: {"ts":1763692032185,"pk":"a","op":"PutItem","count":""}`}},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			m := mapped.Mapping{Unit: c.unit, Table: "orders"}
			if c.fields != "" {
				must.Succeed(t, m.ParseFields(c.fields))
			}
			if got := decode(t, m, c.text); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// soundSK is sound with a sort key over lines.
var soundSK = strings.Replace(sound, `"op"`, `"sk":"one\n\ntwo, \"three\"","op"`, 1)

// A row may have line breaks in quotes. A lost quote takes its own line, and no other.
func TestRowsOverLines(t *testing.T) {
	t.Parallel()
	row := func(sk string) string { return `1763692032185,a,` + sk + `,PutItem,900` }
	const over = "\"one\n\ntwo, \"\"three\"\"\""
	plain := strings.Replace(sound, `"op"`, `"sk":"x","op"`, 1)
	far := strings.Repeat(row("x")+"\n", 3000) // some 100 KiB
	for _, c := range []struct {
		story, rows string
		want        []string
	}{
		{"one", row(over), []string{soundSK}},
		{"several, with Windows' line ends", row(over) + "\r\n" + row("x") + "\r\n" + row(strings.ReplaceAll(over, "\n", "\r\n")) + "\r\n", []string{soundSK, plain, soundSK}},
		{"a line of the text is like a row, but for its begin", row("\"one\nb,b,b,b,b\n\""), []string{strings.Replace(sound, `"op"`, `"sk":"one\nb,b,b,b,b\n","op"`, 1)}},
		{"an opening quote is lost", row(`x"`) + "\n" + row("x"), []string{"bad_row: " + row(`x"`), plain}},
		{"a closing quote is lost", row(`"x`) + "\n" + row("x") + "\n" + row("x"), []string{"bad_quote: " + row(`"x`), plain, plain}},
		{"a closing quote is lost before a quoted field", row(`"x`) + "\n" + row(`"x"`), []string{"bad_quote: " + row(`"x`), plain}},
		{"a closing quote is lost, and then an opening one", row(`"x`) + "\n" + row(`x"`) + "\n" + row("x"), []string{"bad_quote: " + row(`"x`), "bad_row: " + row(`x"`), plain}},
		{"the same, further away", row(`"x`) + "\n" + row("x") + "\n" + row(`x"`) + "\n" + row("x"), []string{"bad_quote: " + row(`"x`), plain, "bad_row: " + row(`x"`), plain}},
		{"a lost quote in the last line", row("x") + "\n" + row(`"x`), []string{plain, "bad_quote: " + row(`"x`)}},
		{"a lost quote long before the end", row(`"x`) + "\n" + far, append([]string{"bad_quote: " + row(`"x`)}, slices.Repeat([]string{plain}, 3000)...)},
		{"a text without an end", row(`"`+strings.Repeat("y\n", mapped.MaxRow/2)) + "\n" + row("x"), append(append([]string{"bad_quote: 1763692032185,a,\"y"}, slices.Repeat([]string{"bad_row: y"}, mapped.MaxRow/2-1)...), "bad_row: ,PutItem,900", plain)},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			got := decode(t, mapped.Mapping{Table: "orders"}, "ts,pk,sk,op,bytes\n"+c.rows)
			if !slices.Equal(got, c.want) {
				t.Errorf("%d and not %d; got\n%.800s\nwant\n%.800s", len(got), len(c.want), strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// FuzzRows cuts a text anywhere. Its rows stay the same, because an unfinished row waits for
// its rest.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{"1,\"a\nb\",c\n2,b,c\n", "1,\"a\n2,b,c\n3,\"\"\"\n\",d", "\"", "1,\"a\"\"\nb\"x\n"} {
		f.Add(seed, 3)
	}
	columns := &mapped.Columns{Separator: ',', Names: []string{"ts", "pk", "op"}}
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if len(text) > 4<<10 {
			return
		}
		for rest := []byte(text); len(rest) > 0; {
			n, ok := columns.Next(rest, true)
			if n < 1 || n > len(rest) {
				t.Fatalf("%q begins with a row of %d bytes", rest, n)
			}
			for at := range min(max(cut, 0), len(rest)) {
				if early, sure := columns.Next(rest[:at], false); early != 0 && (early != n || sure != ok) {
					t.Fatalf("of %d bytes %q seems to begin with a row of %d, and not %d", at, rest, early, n)
				}
			}
			rest = rest[n:]
		}
	})
}

// A file's rows come in several messages, and the next file may have other columns.
func TestColumnsAreThoseOfTheFile(t *testing.T) {
	t.Parallel()
	d := mapped.NewDecoder(mapped.Mapping{Table: "orders"}, nil)
	var h heard
	for _, message := range []string{"ts,pk,op,bytes\n", "1763692032185,a,PutItem,900\n"} {
		d.Decode([]byte(message), 0, &h)
	}
	d.Begin()
	d.Decode([]byte("bytes,op,pk,ts\n900,PutItem,a,1763692032185\n"), 0, &h)
	if want := (heard{sound, sound}); !slices.Equal(h, want) {
		t.Errorf("got %v", h)
	}
}

func TestAMappingSaysWhatIsWrongWithIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"pk":              `"pk": write FIELD=THEIRS, such as pk=customer_id`,
		"key=customer_id": `"key" is not a field of a sample: give one of account, attempts, attrs,`,
		"attrs.=x":        `"attrs." is not a field`,
	} {
		var m mapped.Mapping
		if err := m.ParseFields(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := (&mapped.Mapping{Unit: "min"}).Validate(); err == nil || !strings.Contains(err.Error(), "[s ms us ns]") {
		t.Errorf("got %v", err)
	}
	if err := (&mapped.Mapping{Table: "ab"}).Validate(); err == nil || !strings.Contains(err.Error(), `table "ab": a table's name has 3 to 255 letters`) {
		t.Errorf("got %v", err)
	}
}

// TestEveryFieldIsOneOfKeyheatJSON checks that Keyheat JSON's decoder reads every field that
// can be mapped, and finds none of it in a sample without the field.
func TestEveryFieldIsOneOfKeyheatJSON(t *testing.T) {
	t.Parallel()
	whole := `{"ts":1763692032185,"table":"orders","index":"by-date","pk":"a","sk":"b","op":"ExecuteStatement","rcu":3,"wcu":4,"bytes":900,"read":"strong",` +
		`"throttle":"t","rate":0.5,"n":2,"calls":2,"attempts":3,"waited_ms":4,"failed":true,"conflict":1,"condition_failed":2,"call":"c","caller":"d","account":"e","region":"f","id":"g","attrs":{"h":"i"}}`
	var direct heard
	keyheatjson.NewDecoder().Decode([]byte(whole), 0, &direct)
	if got := decode(t, mapped.Mapping{}, whole); !slices.Equal(got, direct) {
		t.Errorf("got %s, want %s", got, direct)
	}
	for _, field := range mapped.Fields() {
		if field == "units" { // it becomes rcu or wcu
			continue
		}
		if !strings.Contains(direct[0], strconv.Quote(field)+":") {
			t.Errorf("%s is not in %s", field, direct[0])
		}
		without := decode(t, mapped.Mapping{Fields: map[string]string{field: ""}}, whole)
		if slices.Equal(without, direct) {
			t.Errorf("%s is not left out", field)
		}
	}
}

// FuzzDecode reads any text. It must not panic, no line may vanish, and no part of the file
// before may remain, whose memory is overwritten.
func FuzzDecode(f *testing.F) {
	seeds := []string{
		sound, "ts,pk,op\n1763692032185,a,PutItem\n", "INFO {} {\"a\":{}}", "[{}]", "\"ts\"\t\"pk\"\n\"\t", "ts;a;y;table\n1763692032,5;{\"b\":\"k\"};v;t\n",
		`{"ts":1763692032.5,"a":{"b":"k"},"op":"GetItem","table":"sampled","y":"v","caller":"c"}`, "ts,pk,op\n1763692032,gr\xf6n,PutItem\n",
	}
	for _, before := range seeds {
		for _, seed := range seeds {
			f.Add(before, seed)
		}
	}
	m := mapped.Mapping{Fields: map[string]string{"pk": "a.b", "attrs.x": "y"}, Unit: mapped.Seconds}
	f.Fuzz(func(t *testing.T, before, text string) {
		h := decode(t, m, text, text)
		if header, ok := mapped.ColumnsOf([]byte(text)); strings.Trim(text, " \r\n") != "" && len(h) == 0 && !ok && !strings.Contains(text, "[") { // an empty array
			t.Errorf("%q vanishes; its columns are %v", text, header)
		}
		var after heard
		d, lent := mapped.NewDecoder(m, map[string]float64{"sampled": 0.01}), []byte(before)
		d.Decode(lent, 0, new(heard))
		clear(lent)
		d.Begin()
		for range 2 {
			d.Decode([]byte(text), 0, &after)
		}
		if !slices.Equal(after, h) {
			t.Errorf("%q behind %q is\n%q, and alone\n%q", text, before, after, h)
		}
	})
}

// TestRowsThatAreNoUnicode: two keys that differ in a byte that is none do not become one.
func TestRowsThatAreNoUnicode(t *testing.T) {
	t.Parallel()
	got := decode(t, mapped.Mapping{Table: "orders"}, "ts,pk,op,bytes\n1763692032185,gr\xf6n,PutItem,900\n1763692032185,a,PutItem,900\n1763692032185,gr\xfcn,PutItem,900\n")
	want := heard{"bad_utf8: 1763692032185,gr\xf6n,PutItem,900", sound, "bad_utf8: 1763692032185,gr\xfcn,PutItem,900"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// The page about the form names every field, and every unit of times.
func TestThePageNamesEveryField(t *testing.T) {
	t.Parallel()
	for _, field := range mapped.Fields() {
		if !strings.Contains(docs.Form, "`"+field+"`") {
			t.Errorf("%s is not on the page", field)
		}
	}
	for _, unit := range mapped.Units() {
		if !strings.Contains(docs.Form, "`"+string(unit)+"`") && !strings.Contains(docs.Form, "`--time-unit "+string(unit)+"`") {
			t.Errorf("the unit %s is not on the page", unit)
		}
	}
	for op := sample.GetItem; op.String() != ""; op++ {
		if !strings.Contains(docs.Form, op.String()) {
			t.Errorf("%s is not on the page", op)
		}
	}
	for line := range strings.Lines(docs.Form) {
		if strings.HasPrefix(line, `    {"ts"`) && !strings.HasPrefix(strings.Join(decode(t, mapped.Mapping{}, line), ""), "{") {
			t.Errorf("the example %s is none", line)
		}
	}
}

func TestTimeLayouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ layout, time string }{
		{"%d/%m/%Y %H:%M:%S", "21/11/2025 02:27:12"},
		{"%d/%m/%Y %H:%M:%S", "21/11/2025 2:27:12.000"},
		{"%m/%d/%Y %I:%M:%S.%f %p", "11/21/2025 2:27:12.000 AM"},
		{"%m/%d/%y, %I:%M:%S%p", "11/21/25, 02:27:12am"},
		{"%Y%m%d%H%M%S", "20251121022712"},
		{"%m%d%Y %T", "11212025 02:27:12"},
		{"%a %b %e %T %Z %Y", "Fri Nov 21 02:27:12 UTC 2025"},
		{"%A, %d %B %Y %T %z", "Friday, 21 November 2025 03:27:12 +01:00"},
		{"%F %T%z", "2025-11-21 03:27:12+01"},
		{"%FT%T,%L%z", "2025-11-21T03:27:12,000+0100"},
		{"%Y-%j %T", "2025-325 02:27:12"},
	} {
		m := mapped.Mapping{Layout: c.layout, Table: "orders"}
		got := decode(t, m, `{"ts":"`+c.time+`","pk":"a","op":"PutItem","bytes":900}`)
		if want := strings.Replace(sound, "185", "000", 1); !slices.Equal(got, []string{want}) {
			t.Errorf("%s of %s is %s", c.time, c.layout, got)
		}
	}
	for layout, want := range map[string]string{
		"2006-01-02": "letters of strftime", "%d.%m.%Y %H:%M": "no seconds", "%d.%m. %H:%M:%S": "day, month and year",
		"%d.%m.%Y %I:%M:%S": "%I with %p", "%s": "--time-unit s", "%Q": "directive: %Q", "%d%": "day, month and year", "%f": "must follow '.'",
	} {
		m := mapped.Mapping{Layout: layout}
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", layout, err)
		}
	}
}

// FuzzQuote checks that any quoted name parses back to itself.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"id", "Customer, ID", `a "b"`, ` x`, `"`, "a=b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		var m mapped.Mapping
		if err := m.ParseFields("op=x,pk=" + mapped.Quote(name) + ",sk=y"); err != nil || m.Fields["pk"] != name || m.Fields["sk"] != "y" {
			t.Errorf("%q is read as %q, %v", name, m.Fields, err)
		}
	})
}
