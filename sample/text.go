package sample

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
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
// sequences of terminals, marks that change the direction of text, characters that nobody
// sees, and bytes that are not text.
func escape(text string) string {
	if !strings.ContainsFunc(text, needsEscape) {
		return text
	}
	var b strings.Builder
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		one := rest[:size]
		if needsEscape(r) {
			quoted := strconv.QuoteToASCII(one)
			one = quoted[1 : len(quoted)-1]
		}
		b.WriteString(one)
		rest = rest[size:]
	}
	return b.String()
}

// needsEscape reports whether a character is not itself on a page: utf8.RuneError stands
// for bytes that are not text.
func needsEscape(r rune) bool { return r == '\\' || r == utf8.RuneError || !visible(r) }

// visible reports whether a reader sees a character, and can tell it from another: letters,
// marks, numbers, symbols and the ASCII space, without the ones that Unicode lets a font leave
// out (Default_Ignorable_Code_Point, such as variation selectors and Hangul fillers) and without
// letters and symbols that are drawn blank.
func visible(r rune) bool {
	if r < utf8.RuneSelf {
		return strconv.IsPrint(r)
	}
	return strconv.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blank)
}

// blank are visible characters by their category that have no ink: the Braille pattern without
// dots, the filler of Khitan, Egyptian blanks, and a note without a head.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x13441, Hi: 0x13442, Stride: 1}, {Lo: 0x16fe4, Hi: 0x16fe4, Stride: 1}, {Lo: 0x1d159, Hi: 0x1d159, Stride: 1}},
}
