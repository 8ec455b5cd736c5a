package keyheatjson_test

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/keyheat/keyheat/internal/testsupport/heap"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// TestNamesOfKnownShapes reads records of one shape in a row: a bad name is rejected each
// time that it occurs, and a good one is accepted after it.
func TestNamesOfKnownShapes(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"table", "index", "account", "region"} {
		line := `{"ts":1763692032185,"table":"orders","pk":"a","op":"GetItem","rcu":1,"` + field + `":"orders"}` + "\n"
		if field == "table" {
			line = `{"ts":1763692032185,"table":"orders","pk":"a","op":"GetItem","rcu":1}` + "\n"
		}
		bad := strings.Replace(line, "orders", "a<b>c", 1)
		long := strings.Replace(line, "orders", strings.Repeat("x", 256), 1)
		k := &recorder{}
		keyheatjson.NewDecoder().Decode([]byte(line+line+bad+bad+line+long+long+line+bad+line+line), 0, k)
		if len(k.records) != 6 || len(k.bad) != 5 {
			t.Errorf("%s: %d records and %d bad samples, want 6 and 5", field, len(k.records), len(k.bad))
		}
	}
}

// TestShapesAreLearned checks, for pairs of records, whether the first one teaches the shape of
// the second.
func TestShapesAreLearned(t *testing.T) {
	t.Parallel()
	const first = `{"ts":1763692032185,"table":"orders","pk":"a","op":"GetItem","rcu":0.5,"rate":0.1}`
	for story, c := range map[string]struct {
		first, second string
		known         bool
	}{
		"the same":             {first, first, true},
		"other values":         {first, `{"ts":1763692099999,"table":"returns","pk":"customer#00004242","op":"Query","rcu":12,"rate":0.01}`, true},
		"a key with escapes":   {first, strings.Replace(first, `"a"`, `"\u0061\"\\"`, 1), true},
		"a key beyond ASCII":   {first, strings.Replace(first, `"a"`, `"größe"`, 1), true},
		"units in full":        {first, strings.Replace(first, `0.5`, `1.25e1`, 1), true},
		"white space":          {strings.ReplaceAll(first, `,`, `, `), strings.ReplaceAll(first, `,`, `, `), true},
		"other white space":    {first, strings.ReplaceAll(first, `,`, `, `), false},
		"another order":        {first, `{"table":"orders","ts":1763692032185,"pk":"a","op":"GetItem"}`, false},
		"one name more":        {first, strings.Replace(first, `}`, `,"n":1}`, 1), false},
		"a number for a text":  {first, strings.Replace(first, `"a"`, `42`, 1), false},
		"null":                 {first, strings.Replace(first, `0.1`, `null`, 1), false},
		"null before":          {strings.Replace(first, `0.1`, `null`, 1), strings.Replace(first, `0.1`, `null`, 1), true},
		"a record that is bad": {first, strings.Replace(first, `0.1`, `2`, 1), false},
		"all names":            {lesson, lesson, true},
		"a name twice":         {`{"pk":"b",` + first[1:], `{"pk":"b",` + first[1:], false},
	} {
		d, k := keyheatjson.NewDecoder(), &recorder{}
		d.Decode([]byte(c.first), 0, k)
		d.Decode([]byte(c.second), 0, k)
		if d.Known() == 1 != c.known {
			t.Errorf("%s: %d records are read by a known shape", story, d.Known())
		}
	}
}

// TestShapesInTurn has one producer write several shapes in turn.
func TestShapesInTurn(t *testing.T) {
	t.Parallel()
	d, k := keyheatjson.NewDecoder(), &recorder{}
	for i := range 300 {
		unit := []string{`"rcu":1`, `"wcu":1`, `"wcu":2,"index":"by-status"`}[i%3]
		d.Decode([]byte(fmt.Sprintf(`{"ts":%d,"table":"orders","pk":"k%d","op":"UpdateItem",%s}`, 1763692032185+i, i, unit)), 0, k)
	}
	if len(k.records) != 300 || d.Known() != 297 {
		t.Errorf("%d records, %d by a known shape", len(k.records), d.Known())
	}
}

// TestShapesAreBounded has every record come in a shape of its own: little is kept, and
// after that the usual shape is learned again.
func TestShapesAreBounded(t *testing.T) {
	t.Parallel()
	d, k := keyheatjson.NewDecoder(), &recorder{}
	for i := range 5000 {
		d.Decode([]byte(fmt.Sprintf(`{"x%d":1,"ts":1763692032185,"table":"orders","pk":"k","op":"GetItem"}`, i)), 0, k)
		for range 64 {
			d.Decode([]byte(plain), 0, k)
		}
		if d.Steps() > 300 {
			t.Fatalf("%d steps are kept", d.Steps())
		}
	}
	if known := d.Known(); known < 5000*60 {
		t.Errorf("%d of %d records are read by a known shape", known, len(k.records))
	}
}

// TestShapesOfGiantsAreNotLearned: the memory of shapes does not grow with the length of a
// record, whether it has many names or much white space.
func TestShapesOfGiantsAreNotLearned(t *testing.T) {
	t.Parallel()
	names := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"x%d":1,`, i)
		}
		return "{" + b.String()
	}
	for story, c := range map[string]struct {
		message string
		known   bool
	}{
		"many names":       {names(100_000) + plain[1:], false},
		"some names":       {names(100) + plain[1:], true},
		"much white space": {strings.Replace(plain, ",", ","+strings.Repeat(" ", 1<<20), 1), false},
		"some white space": {strings.Replace(plain, ",", ","+strings.Repeat(" ", 1000), 1), true},
		"a long key":       {strings.Replace(lesson, `"k"`, `"`+strings.Repeat("k", 2000)+`"`, 1), true},
	} {
		d, k := keyheatjson.NewDecoder(), &recorder{}
		d.Decode([]byte(c.message), 1, k)
		d.Decode([]byte(c.message), 1, k)
		if len(k.records) != 2 || d.Known() == 1 != c.known || d.Steps() > 256 {
			t.Errorf("%s: of %d records %d were read by a known shape, and %d steps are kept", story, len(k.records), d.Known(), d.Steps())
		}
	}
}

// TestShapesForgetTheRecordBefore decodes records of two shapes in turn: one has all fields,
// and the other lacks one. Each result equals a new decoder's.
func TestShapesForgetTheRecordBefore(t *testing.T) {
	t.Parallel()
	fields := strings.Split(strings.Trim(lesson, "{}"), ",")
	d := keyheatjson.NewDecoder()
	for i, gone := range fields {
		message := "{" + strings.Join(slices.Concat(fields[:i], fields[i+1:]), ",") + "}"
		known := d.Known()
		for range 2 {
			for _, m := range []string{lesson, message} {
				got, want := &recorder{}, &recorder{}
				d.Decode([]byte(m), 1763692032999, got)
				keyheatjson.NewDecoder().Decode([]byte(m), 1763692032999, want)
				if !reflect.DeepEqual(got, want) {
					t.Errorf("without %s:\n%+v, want\n%+v", gone, got, want)
				}
			}
		}
		if i > 0 && d.Known() < known+2 {
			t.Errorf("without %s: %d records were read by a known shape", gone, d.Known()-known)
		}
	}
}

// TestDecoderKeepsNoMessage has a decoder read messages and drop them.
func TestDecoderKeepsNoMessage(t *testing.T) {
	t.Parallel()
	long := strings.Replace(lesson, "role/a", strings.Repeat("role/", 100), 1)
	d := keyheatjson.NewDecoder()
	for _, text := range []string{lesson, lesson, long, long, `{"pk":"a",` + lesson[1:], lesson[:100], lesson} {
		message := []byte(text)
		dropped := weak.Make(&message[0])
		d.Decode(message, 1, &recorder{})
		message = nil
		runtime.GC()
		if dropped.Value() != nil {
			t.Errorf("the decoder keeps %.150s", text)
		}
	}
	runtime.KeepAlive(d)
}

// TestDecoderKeepsLittleOfGiants measures the memory that a decoder keeps after a record of
// many megabytes.
func TestDecoderKeepsLittleOfGiants(t *testing.T) { // not parallel: it looks at the heap
	var attrs, escapes strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&attrs, `"name-%d":"",`, i)
		escapes.WriteString(`\u0041\u0041\u0041\u0041\u0041\u0041\u0041\u0041\u0041\u0041`)
	}
	attrs.WriteString(`"":""`)
	for story, message := range map[string][]byte{
		"attributes": []byte(strings.Replace(lesson, `"a":"b"`, attrs.String(), 1)),
		"escapes":    []byte(strings.Replace(lesson, `"b"`, `"`+escapes.String()+`"`, 1)),
	} {
		d, c := keyheatjson.NewDecoder(), &counter{}
		before := heap.Live()
		d.Decode(message, 1, c)
		d.Decode(message, 1, c)
		if kept := heap.Live() - before; c.records != 2 || kept > 1<<20 {
			t.Errorf("%s: of %d records of %d bytes %d bytes are kept", story, c.records, len(message), kept)
		}
		runtime.KeepAlive(d)
		runtime.KeepAlive(message)
	}
}
