package sample

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text is text of the monitored system: a key, sort key, caller or attribute. Anybody who
// can write an item chooses it. It is compared, stored and sent as JSON as it is. In
// sentences and tables it only stands escaped: fmt and templates cannot write it
// otherwise, and `make lint` refuses its conversion to a string where people read.
//
// Names of tables and indexes need no such type: a sample whose names have other
// characters than letters, digits, "_", "-" and "." is rejected.
type Text string

// Format implements fmt.Formatter: every verb writes the escaped text.
func (t Text) Format(s fmt.State, verb rune) {
	fmt.Fprintf(s, fmt.FormatString(s, verb), escape(string(t)))
}

// escape writes all that is more than visible text as escapes: control characters, escape
// sequences of terminals, marks that change the direction of text, and bytes that are not
// text.
func escape(text string) string {
	if !strings.ContainsFunc(text, unprintable) {
		return text
	}
	quoted := strconv.QuoteToGraphic(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// unprintable reports whether a character is not itself on a page: utf8.RuneError stands
// for bytes that are not text.
func unprintable(r rune) bool { return r == '\\' || r == utf8.RuneError || !strconv.IsGraphic(r) }
