package sample_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
)

func TestKeyConstructors(t *testing.T) {
	t.Parallel()
	number, err := sample.KeyNumber("4.20")
	must.Succeed(t, err)
	a, b := sample.KeyString("a|"), sample.KeyBinary([]byte{0, 1})
	joined := sample.JoinKeys(a, number, b)
	if want := (sample.Key{Type: "SNB", Text: `a\||4.2|AAE=`}); joined != want {
		t.Errorf("joined %+v, want %+v", joined, want)
	}
	if parts := joined.Parts(); !slices.Equal(parts, []sample.Key{a, number, b}) {
		t.Errorf("parts %+v", parts)
	}
	if nested := sample.JoinKeys(sample.JoinKeys(a, number), b); nested != joined {
		t.Errorf("joined in two steps %+v, want %+v", nested, joined)
	}
	if k := sample.JoinKeys(a); k != a {
		t.Errorf("one key joined is %+v, want itself", k)
	}
	if k := sample.JoinKeys(sample.Key{}, a); k != a {
		t.Errorf("with the unknown key it is %+v, want %+v", k, a)
	}
	if k := sample.JoinKeys(); !k.IsZero() || k.Parts() != nil || k.String() != "" {
		t.Errorf("nothing joined is %+v, want the unknown key", k)
	}
	if s := joined.String(); s != joined.Text {
		t.Errorf("reads %q", s)
	}
	if size := joined.Size(); size != len("a|")+len("4.2")+2 {
		t.Errorf("size %d", size)
	}
}

func TestKeyNumberSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"twelve":                "not a decimal number",
		"1e400":                 "magnitude",
		strings.Repeat("3", 39): "38 significant digits",
	} {
		if _, err := sample.KeyNumber(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one that says %q", text, err, want)
		}
	}
}

// TestForeignKeys checks that keys from no constructor do no harm.
func TestForeignKeys(t *testing.T) {
	t.Parallel()
	for _, k := range []sample.Key{
		{Type: "SN", Text: "one part"}, {Type: "B", Text: "="}, {Type: "BB", Text: `\`},
		{Type: "S"}, {Text: "no type"}, {Type: "SSSSSS", Text: "|||||||"},
	} {
		if n := len(k.Parts()); n != len(k.Type) {
			t.Errorf("%#v: %d parts", k, n)
		}
		if k.Size() > len(k.Text) {
			t.Errorf("%#v: size %d", k, k.Size())
		}
		r := sample.Record{Time: 1763692032185, Table: "orders", PK: k, N: 1, Rate: 1}
		if k.Type != "B" && r.Check() != sample.RejectBadKey {
			t.Errorf("%#v: passes as %q", k, r.Check())
		}
	}
}
