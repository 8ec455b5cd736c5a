package keypolicy_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/keypolicy"
)

func TestRedactKeepsTheStructureOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, raw, want string }{
		{"nothing", ``, ``},
		{"a record", `{"ts":1763692032185,"table":"orders","pk":"user#42","wcu":-2}`,
			`{"ts":0000000000000,"table":"<6>","pk":"<7>","wcu":-0}`},
		{"a typed key", `{"pk":{"N":"42"},"sk":{"S":"x"}}`, `{"pk":{"N":"<2>"},"sk":{"S":"<1>"}}`},
		{"a number as a key", `{"pk":4.25e7}`, `{"pk":0.00<1>0}`},
		{"a name that may be a key", `{"alice@example.com":true}`, `{"<17>":true}`},
		{"a field's name as a key", `{"pk":"table","sk":"id"}`, `{"pk":"<5>","sk":"<2>"}`},
		{"a space behind a name", `{"pk" : null}`, `{"pk" : null}`},
		{"quotes within", `{"pk":"a\"b\\"}`, `{"pk":"<6>"}`},
		{"a stream record", `{"eventName":"INSERT","dynamodb":{"Keys":{"email":{"S":"x"}}}}`,
			`{"eventName":"<6>","dynamodb":{"Keys":{"<5>":{"S":"<1>"}}}}`},
		{"cut off within a text", `{"pk":"secr`, `{"pk":"<4>"`},
		{"no JSON", `hello, Alice!`, `<5>, <6>`},
		{"no text", "\xff\x00\x01,", `<3>,`},
	} {
		if got := keypolicy.Excerpt([]byte(c.raw)); got != c.want {
			t.Errorf("%s: %q is redacted as %q, want %q", c.name, c.raw, got, c.want)
		}
	}
}

func TestRedactIsBounded(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"a,", `"`, "0", "{", `"a":`} {
		if got := keypolicy.Excerpt([]byte(strings.Repeat(part, 10_000))); len(got) > 512 {
			t.Errorf("a flood of %q is described in %d bytes", part, len(got))
		}
	}
}

// harmless is all that a redacted excerpt may hold: structure, lengths, zeros,
// JSON's words, and the names of fields in front of a colon.
var harmless = regexp.MustCompile(`^(?:[{}\[\]:, \t\r\n+.-]|<\d+>|"<\d+>"?|0|true|false|null|` +
	`"(?:ts|table|index|pk|sk|op|rcu|wcu|bytes|read|throttle|rate|n|caller|account|region|id|attrs|S|N|B)"[ \t]*:)*$`)

func FuzzRedact(f *testing.F) {
	for _, s := range []string{
		`{"ts":1763692032185,"table":"orders","pk":"user#42"}`, `{"pk":{"B":"AAE="}}`, "\"\\", `"pk"`, `"pk":`, "[[1e9", "truefalse",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got := keypolicy.Excerpt(raw); !harmless.MatchString(got) {
			t.Errorf("%q is redacted as %q", raw, got)
		}
	})
}
