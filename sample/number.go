package sample

import (
	"errors"
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/sample/internal/decimal"
)

var errNotNumber = errors.New("not a decimal number")

// KeyNumber returns the key of a number attribute in canonical form: plain decimal, as DynamoDB
// writes numbers. It has no exponent, no plus sign, and no leading or trailing zeros; zero is
// "0". So 42, 42.0 and 4.2e1 are one key. It converts exactly, never through a float. A number
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

// NumberSize returns the size of a number attribute's value as DynamoDB counts it in bytes:
// about one for each two significant digits, and one more. Leading and trailing zeros do not
// count. A text that is not a number counts as zero. Source: Developer Guide, "DynamoDB item
// sizes and formats" ("approximately"), and "Supported data types and naming rules", Number:
// "Leading and trailing zeroes are trimmed."
func NumberSize(text string) int64 {
	d, _ := decimal.Parse(text)
	return int64(len(d.Digits)+1)/2 + 1
}

// isCanonicalInteger reports whether the text is a whole number in KeyNumber's form, as most
// number keys are.
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
