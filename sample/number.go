package sample

import (
	"errors"
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/sample/internal/decimal"
)

var errNotNumber = errors.New("not a decimal number")

// KeyNumber returns the key of a number attribute in its canonical form: plain
// decimal, as DynamoDB itself writes numbers, without exponent, plus sign,
// leading zeros, or trailing zeros behind the point; zero is "0". So 42, 42.0
// and 4.2e1 are one key. The text is never taken through a float. A number
// that DynamoDB cannot hold is an error.
func KeyNumber(text string) (Key, error) {
	if isCanonicalInteger(text) {
		return Key{Type: TypeNumber, Text: text}, nil
	}
	d, ok := decimal.Parse(text)
	if !ok {
		return Key{}, fmt.Errorf("number key %.64q: %w", text, errNotNumber)
	}
	if err := d.Fits(); err != nil {
		return Key{}, fmt.Errorf("number key %.64q: %w", text, err)
	}
	return Key{Type: TypeNumber, Text: d.String()}, nil
}

// NumberSize returns how many bytes DynamoDB counts for a number attribute's
// value: about one for each two significant digits, and one more. Leading and
// trailing zeros are not significant. A text that is no number counts as zero
// does. Source: Developer Guide, "DynamoDB item sizes and formats", which says
// "approximately", and "Supported data types and naming rules", Number: "Leading
// and trailing zeroes are trimmed."
func NumberSize(text string) int64 {
	d, _ := decimal.Parse(text)
	return int64(d.Count+1)/2 + 1
}

// isCanonicalInteger reports whether the text is a whole number as KeyNumber
// writes it, as most keys are.
func isCanonicalInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || digits[0] == '0' || len(digits) > decimal.MaxDigits {
		return text == "0"
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}
