package sample_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/sample"
)

// TestKeysInOrder compares sort keys in DynamoDB's order, by the Developer Guide: strings and
// binaries by bytes, numbers by value.
func TestKeysInOrder(t *testing.T) {
	t.Parallel()
	number := func(text string) sample.Key { return sample.Key{Type: "N", Text: text} }
	text, binary := sample.KeyString, sample.KeyBinary
	for _, sorted := range [][]sample.Key{
		{text(""), text("A"), text("Z"), text("a"), text("aa"), text("é")},
		{
			number("-9999999999999999999999999999999999999"), number("-100"), number("-20.5"), number("-20"), number("-3"), number("-0.5"), number("-0.05"), number("0"),
			number("0.001"), number("0.0011"), number("0.01"), number("0.5"), number("1"), number("9"), number("10"), number("10.01"), number("99"), number("100"), number("1763690400000"), number("99999999999999999999999999999999999999"),
		},
		// Base64 sorts "+" and "/" before letters, and these before digits' bytes.
		{binary([]byte{0}), binary([]byte{0, 0}), binary([]byte{3}), binary([]byte{200, 1}), binary([]byte{251}), binary([]byte{255})},
		{
			sample.JoinKeys(text("a"), number("-5"), text("z")), sample.JoinKeys(text("a"), number("9"), text("z")), sample.JoinKeys(text("a"), number("10"), text("")), sample.JoinKeys(text("a"), number("10"), text("b")),
			sample.JoinKeys(text("a\x00"), number("1"), text("b")), sample.JoinKeys(text("ab"), number("1"), text("a")), sample.JoinKeys(text("b"), number("-1"), text("a")),
		},
	} {
		for i := range sorted[1:] {
			a, b := string(sorted[i].AppendOrder(nil)), string(sorted[i+1].AppendOrder(nil))
			if a >= b {
				t.Errorf("%q does not come before %q: %x, %x", sorted[i].Text, sorted[i+1].Text, a, b)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		x, y := string(number(fmt.Sprint(a)).AppendOrder(nil)), string(number(fmt.Sprint(b)).AppendOrder(nil))
		if cmp.Compare(a, b) != strings.Compare(x, y) {
			t.Fatalf("%d and %d are %x and %x", a, b, x, y)
		}
	})
}
