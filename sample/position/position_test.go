package position_test

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
)

// vector is a line of testdata/vectors.jsonl: three independent implementations agree on them.
type vector struct {
	Type, Text, Bytes, MD5 string
}

func vectors(t *testing.T) (all []vector) {
	t.Helper()
	file, err := os.Open("testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if len(all) != 72 {
		t.Fatalf("%d vectors, want 72", len(all))
	}
	return all
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		want, err := strconv.ParseUint(v.MD5[:16], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := position.Find(sample.Key{Type: v.Type, Text: v.Text})
		if !ok || got != position.Position(want) {
			t.Errorf("%s %q lies at %016x, %v, want %016x", v.Type, v.Text, uint64(got), ok, want)
		}
		raw, err := hex.DecodeString(v.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if got := position.Binary(raw); got != position.Position(want) {
			t.Errorf("the bytes of %s %q lie at %016x, want %016x", v.Type, v.Text, uint64(got), want)
		}
	}
}

// TestNumberForms holds every way to write a number to one position.
func TestNumberForms(t *testing.T) {
	t.Parallel()
	for _, forms := range [][]string{
		{"42", "42.0", "4.2e1", "+042", "420e-1"},
		{"-0.09", "-.09", "-9e-2"},
		{"0", "-0", "0.00", "0e9"},
	} {
		want, err := position.Number(forms[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms[1:] {
			if got, err := position.Number(form); err != nil || got != want {
				t.Errorf("%s lies at %v, %v; %s at %v", form, got, err, forms[0], want)
			}
		}
	}
	if one := position.String("1"); one == must(position.Number("1")) {
		t.Error("the string 1 and the number 1 lie at one position")
	}
}

func must(p position.Position, err error) position.Position {
	if err != nil {
		panic(err)
	}
	return p
}

func TestUnknownPositions(t *testing.T) {
	t.Parallel()
	for _, k := range []sample.Key{
		{},
		{Type: "SN", Text: "a|1"},
		{Type: sample.TypeNumber, Text: "1e200"},
		{Type: sample.TypeBinary, Text: "not base64!"},
	} {
		if p, ok := position.Find(k); ok {
			t.Errorf("%+v lies at %v", k, p)
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	p := position.Position(0x4a10_8000_0000_0001)
	if got := p.String(); got != "0x4a10" {
		t.Errorf("it is written as %s", got)
	}
	var again position.Position
	if text, err := p.MarshalText(); err != nil || again.UnmarshalText(text) != nil || again != p {
		t.Errorf("%s is read as %v", text, again)
	}
	if again.UnmarshalText([]byte("no")) == nil {
		t.Error("text without digits is a position")
	}
	for bits, want := range map[int]int{0: 0, 1: 0, 2: 1, 12: 0x4a1, 16: 0x4a10} {
		if got := p.Cell(bits); got != want {
			t.Errorf("its cell by %d bits is %d, want %d", bits, got, want)
		}
	}
}

// FuzzNumber: no text makes the bytes of a number longer than DynamoDB's, or panics.
func FuzzNumber(f *testing.F) {
	f.Add("-99999999999999999999999999999999999999")
	f.Add("1e-130")
	f.Fuzz(func(t *testing.T, text string) {
		first, err := position.Number(text)
		if err != nil {
			return
		}
		k, err := sample.KeyNumber(text)
		if err != nil {
			t.Fatalf("%q has a position, but is no number: %v", text, err)
		}
		if again, ok := position.Find(k); !ok || again != first {
			t.Fatalf("%q lies at %v, its canonical text %q at %v", text, first, k.Text, again)
		}
	})
}

var sink position.Position

func BenchmarkString(b *testing.B) {
	for b.Loop() {
		sink = position.String("merchant#4711")
	}
}
