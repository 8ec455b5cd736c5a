package fixes

import (
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect/casebook"
)

// missingWords are what programs write in place of a value that is not there, in the case of
// letters in which they write it: JavaScript, Java and SQL, Go, Python.
var missingWords = []string{"undefined", "null", "NULL", "nil", "<nil>", "%!s(<nil>)", "(null)", "None", "NaN", "[object"}

// missingValue is for a key of which a part has no value: a caller builds it wrongly, and no
// design of keys helps.
func missingValue(c *Case) (fix, bool) {
	return fix{place: first}, hasPart(string(c.Key), func(part string) bool { return slices.Contains(missingWords, part) })
}

// maskedKey is for a mask, behind which many keys may be.
func maskedKey(c *Case) (fix, bool) {
	return fix{place: first}, casebook.IsMask(string(c.Key))
}

// isPlaceholder reports whether the key is no key: nobody divides it, or the items behind it.
func (c *Case) isPlaceholder() bool {
	_, missing := missingValue(c)
	_, masked := maskedKey(c)
	return missing || masked
}

// hasPart reports whether a part of a name is what is sought.
func hasPart(name string, is func(string) bool) bool {
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("#:/|-_. ", r) }), is)
}
