package keydesign

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The placeholders of templates.
const (
	partID     = "<id>"
	partNumber = "<number>"
	partUUID   = "<uuid>"
	partTime   = "<time>"
	partHour   = "<hour>"
	partDate   = "<date>"
	partMonth  = "<month>"
	partShard  = "<shard>"
	partWord   = "<word>"
	partEmail  = "<email>"
	partBinary = "<binary>"
	partHash   = "<hash>"
	partRest   = "…"
)

type knownPart struct {
	pattern     *regexp.Regexp
	placeholder string
	needs       []string
}

// knownParts are the parts of keys with a recognizable form, longer ones first. Group 1
// of a pattern stays as it is. Most keys lack the traces that a pattern needs, so traces
// are checked first. A regular expression takes microseconds to find nothing, and every
// minute each table has some hundred keys.
var knownParts = []knownPart{
	{regexp.MustCompile(`~[A-Za-z0-9\x01-]{22}`), partHash, []string{"~"}}, // see sample/keyhash
	{regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), partUUID, []string{"-"}},
	{regexp.MustCompile(`[\w\x01.+-]+@[\w-]+(?:\.[\w-]+)+`), partEmail, []string{"@"}},
	{regexp.MustCompile(`\b(?:19|20)\d\d-[01]\d-[0-3]\d[T ][0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?`), partTime, years},
	{regexp.MustCompile(`\b1[5-9]\d{11}\b`), partTime, milliseconds}, // Unix milliseconds of 2017 to 2033
	{regexp.MustCompile(`\b(?:19|20)\d\d-[01]\d-[0-3]\d[T #-][0-2]\d\b`), partHour, years},
	{regexp.MustCompile(`\b(?:19|20)\d\d[01]\d[0-3]\d[0-2]\d\b`), partHour, years},
	{regexp.MustCompile(`\b(?:19|20)\d\d[-/.][01]\d[-/.][0-3]\d\b`), partDate, years},
	{regexp.MustCompile(`\b(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\b`), partDate, years},
	{regexp.MustCompile(`\b(?:19|20)\d\d-(?:0[1-9]|1[0-2])\b`), partMonth, years},
	{regexp.MustCompile(`((?i:shard)[\x01#-]?)\d{1,6}\b`), partShard, []string{"hard"}},
}

// years and milliseconds are the first digits of the years 1900 to 2099, and of Unix
// milliseconds.
var (
	years        = []string{"19", "20"}
	milliseconds = []string{"15", "16", "17", "18", "19"}
)

// mayMatch reports whether a text in lower case has one of the traces that the part needs.
func (k *knownPart) mayMatch(lower string) bool {
	return slices.ContainsFunc(k.needs, func(trace string) bool { return strings.Contains(lower, trace) })
}

// underscore stands for _, which ends a part although regular expressions take it for a
// letter. Angle brackets of a key are no placeholder, so they are replaced too.
const underscore = "\x01"

var escaper = strings.NewReplacer("<", "‹", ">", "›", "_", underscore)

// nextToken returns the first token of a text, a run of letters and numbers or a
// placeholder, with the text before and after it. Without a token, before is the whole
// text.
func nextToken(text string) (before, part, rest string) {
	for i, r := range text {
		switch {
		case r == '<':
			if n := strings.IndexByte(text[i:], '>'); n > 1 && isPlaceholder(text[i+1:i+n]) {
				return text[:i], text[i : i+n+1], text[i+n+1:]
			}
		case isLetterOrNumber(r):
			n := strings.IndexFunc(text[i:], func(r rune) bool { return !isLetterOrNumber(r) })
			if n < 0 {
				n = len(text) - i
			}
			return text[:i], text[i : i+n], text[i+n:]
		}
	}
	return text, "", ""
}

func isLetterOrNumber(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

func isPlaceholder(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '_' && !(c < utf8.RuneSelf && isLetterOrNumber(rune(c))) {
			return false
		}
	}
	return name != ""
}

func tokens(text string) (all []string) {
	for {
		_, part, rest := nextToken(text)
		if part == "" {
			return all
		}
		all, text = append(all, part), rest
	}
}

func replaceTokens(text string, replace func(part string) string) string {
	var b strings.Builder
	for {
		before, part, rest := nextToken(text)
		if b.Len() == 0 && part == "" {
			return before
		}
		b.WriteString(before)
		if part == "" {
			return b.String()
		}
		b.WriteString(replace(part))
		text = rest
	}
}
