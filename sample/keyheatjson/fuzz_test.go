package keyheatjson_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
)

// lesson has every name, in the forms that producers use.
const lesson = `{"ts":1763692032185,"table":"t","index":"i","pk":"k","sk":"s","op":"UpdateItem","rcu":0.5,"wcu":2,` +
	`"bytes":1733,"read":"strong","throttle":"x","rate":0.5,"n":25,"calls":1,"attempts":2,"waited_ms":12.5,"failed":true,` +
	`"call":"c","caller":"role/a","account":"123456789012","region":"eu-west-1","id":"e","attrs":{"a":"b"},"other":[1]}`

// FuzzDecode holds the decoder to the oracle on every input: one that has learned no
// shape, and some that have.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(plain), int64(0))
	f.Add([]byte("["+plain+","+plain+"]"), int64(0))
	f.Add([]byte(plain+"\nnot json\n"+plain+"\r\n\n"), int64(1))
	f.Add([]byte("[1,{},{\"a\":[tru]}]\n["+plain+"]"), int64(1))
	f.Add([]byte("{\n  \"table\": \"t\",\n  oops\n}\n"+plain), int64(1))
	f.Add([]byte(`{"ts":5,`+"\n"+plain), int64(1))
	f.Add([]byte("{\f\n0"), int64(1))
	f.Add([]byte(`{"wcu":1000000000000000}`), int64(1))
	for _, name := range sortedNames {
		for _, v := range fragments[name] {
			f.Add([]byte(`{"table":"t","pk":1,"op":"Query","`+name+`":`+v+`}`), int64(1763692032999))
			// The last of two counts, and a shape has both.
			f.Add([]byte(`{"table":"t","pk":1,"op":"Query","`+name+`":"","`+name+`":`+v+`}`), int64(1763692032999))
		}
	}
	f.Add([]byte(lesson), int64(1))
	f.Add([]byte(lesson+"\n"+lesson[:len(lesson)-2]), int64(1))
	f.Fuzz(func(t *testing.T, message []byte, at int64) {
		if diff := same(message, at, plain, lesson, `{"table": "t", "pk": 42, "op": "Query", "rcu": 0.5}`); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzKeyNumber holds the canonical form to exact arithmetic, and to being a
// fixed point.
func FuzzKeyNumber(f *testing.F) {
	for _, text := range []string{"0", "-0.00", "42", "4.2e1", "1E-130", "9.99e125", "1e126", "+.5", "5.",
		"", "e1", ".", "1e", "0e99999999999999999999", "1e-99999999999999999999", strings.Repeat("9", 39), "0x1", "1_0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := sample.KeyNumber(text)
		want, reason := oracleNumberKey(text)
		if (err != nil) != (reason != "") || got != want {
			t.Fatalf("%q is %+v, %v; the oracle says %+v %q", text, got, err, want, reason)
		}
		if err != nil {
			return
		}
		if again, err := sample.KeyNumber(got.Text); err != nil || again != got {
			t.Fatalf("%q, canonical of %q, is not its own: %+v, %v", got.Text, text, again, err)
		}
	})
}
