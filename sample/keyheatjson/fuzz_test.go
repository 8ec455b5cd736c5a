package keyheatjson_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// lesson has every name, in the forms that producers use.
const lesson = `{"ts":1763692032185,"table":"orders","index":"by-date","pk":"k","sk":"s","op":"UpdateItem","rcu":0.5,"wcu":2,` +
	`"bytes":1733,"read":"strong","throttle":"x","rate":0.5,"n":25,"calls":1,"attempts":2,"waited_ms":12.5,"failed":true,"conflict":1,"condition_failed":2,` +
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
			f.Add([]byte(`{"table":"orders","pk":1,"op":"Query","`+name+`":`+v+`}`), int64(1763692032999))
			// The last of two counts, and a shape has both.
			f.Add([]byte(`{"table":"orders","pk":1,"op":"Query","`+name+`":"","`+name+`":`+v+`}`), int64(1763692032999))
		}
	}
	f.Add([]byte(lesson), int64(1))
	f.Add([]byte(lesson+"\n"+lesson[:len(lesson)-2]), int64(1))
	f.Fuzz(func(t *testing.T, message []byte, at int64) {
		if diff := same(message, at, plain, lesson, `{"table": "orders", "pk": 42, "op": "Query", "rcu": 0.5}`); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzSequence decodes one message after another (separated by a zero byte) with one decoder,
// with a new one for each, and with the oracle. All three agree.
func FuzzSequence(f *testing.F) {
	for _, messages := range [][]string{
		{plain, plain, plain},
		{lesson, plain, lesson, lesson[:100], lesson},
		{plain + "\n" + lesson, lesson + "\n" + plain},
		{"[" + plain + "," + lesson + "]", plain},
		{lesson, strings.Replace(lesson, `:1`, `:01`, 1), strings.Replace(lesson, `:1`, `:01`, 1)}, // a zero before the time
	} {
		f.Add([]byte(strings.Join(messages, "\x00")), int64(1))
	}
	for _, name := range sortedNames {
		var all []string
		for _, v := range fragments[name] {
			all = append(all, with(name, v), with(name, v))
		}
		f.Add([]byte(strings.Join(all, "\x00")), int64(1763692032999))
		f.Add([]byte(strings.Join(all, "\n")), int64(1763692032999))
	}
	f.Fuzz(func(t *testing.T, input []byte, at int64) {
		d := keyheatjson.NewDecoder()
		for i, message := range bytes.Split(input, []byte{0}) {
			want := oracleDecode(message, at)
			if diff := sameAs(want, d, message, at); diff != "" {
				t.Fatalf("message %d, %q: %s", i, message, diff)
			}
			if diff := sameAs(want, keyheatjson.NewDecoder(), message, at); diff != "" {
				t.Fatalf("message %d, %q, alone: %s", i, message, diff)
			}
		}
	})
}

// with returns a sound record with one field set to a value.
func with(name, value string) string {
	members := []string{fmt.Sprintf("%q:%s", name, value)}
	for _, m := range [][2]string{{"ts", `1763692032185`}, {"table", `"orders"`}, {"pk", `"k"`}, {"op", `"Query"`}, {"bytes", `9000`}} {
		if m[0] != name {
			members = append(members, fmt.Sprintf("%q:%s", m[0], m[1]))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

// TestEveryFragmentBehindEveryOther has one decoder read every fragment behind every other
// one, twice: of none is anything left in the next.
func TestEveryFragmentBehindEveryOther(t *testing.T) {
	t.Parallel()
	const at = 1763692032999
	var messages [][]byte
	var want []*recorder
	for _, name := range sortedNames {
		for _, v := range fragments[name] {
			messages = append(messages, []byte(with(name, v)))
			want = append(want, oracleDecode(messages[len(messages)-1], at))
		}
	}
	long := keyheatjson.NewDecoder()
	for i := range messages {
		for j := range messages {
			d := keyheatjson.NewDecoder()
			for _, k := range []int{i, j, i, j} {
				for _, d := range []*keyheatjson.Decoder{d, long} {
					if diff := sameAs(want[k], d, messages[k], at); diff != "" {
						t.Fatalf("%s\nof %s and %s in turn: %s", messages[k], messages[i], messages[j], diff)
					}
				}
			}
		}
	}
}

// sameAs compares a decoder's samples of a message with the wanted ones, and returns the
// difference or "". It overwrites the message before the comparison.
func sameAs(want *recorder, d *keyheatjson.Decoder, message []byte, at int64) string {
	got, lent := &recorder{}, bytes.Clone(message)
	d.Decode(lent, at, got)
	for i := range lent {
		lent[i] = '?'
	}
	got.blur()
	if reflect.DeepEqual(got, want) {
		return ""
	}
	return fmt.Sprintf("\n   got %+v\noracle %+v", *got, *want)
}

// blur removes the parts of bad samples that the oracle does not produce.
func (k *recorder) blur() {
	for i := range k.bad {
		switch k.bad[i].Reason {
		case sample.RejectBadUTF8, sample.RejectTooDeep:
			k.bad[i].Reason = sample.RejectSyntax
		}
		k.bad[i].Excerpt = ""
	}
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
