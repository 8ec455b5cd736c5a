package keydesign

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// The placeholders.
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

// knownParts are the parts of keys that have a form of their own, the longer ones
// first. Group 1, where there is one, stays as it is.
var knownParts = []struct {
	pattern     *regexp.Regexp
	placeholder string
}{
	{regexp.MustCompile(`~[A-Za-z0-9\x01-]{22}`), partHash}, // see sample/keyhash
	{regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), partUUID},
	{regexp.MustCompile(`[\w\x01.+-]+@[\w-]+(?:\.[\w-]+)+`), partEmail},
	{regexp.MustCompile(`\b(?:19|20)\d\d-[01]\d-[0-3]\d[T ][0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?`), partTime},
	{regexp.MustCompile(`\b1[5-9]\d{11}\b`), partTime}, // Unix milliseconds of 2017 to 2033
	{regexp.MustCompile(`\b(?:19|20)\d\d-[01]\d-[0-3]\d[T #-][0-2]\d\b`), partHour},
	{regexp.MustCompile(`\b(?:19|20)\d\d[01]\d[0-3]\d[0-2]\d\b`), partHour},
	{regexp.MustCompile(`\b(?:19|20)\d\d[-/.][01]\d[-/.][0-3]\d\b`), partDate},
	{regexp.MustCompile(`\b(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\b`), partDate},
	{regexp.MustCompile(`\b(?:19|20)\d\d-(?:0[1-9]|1[0-2])\b`), partMonth},
	{regexp.MustCompile(`((?i:shard)[\x01#-]?)\d{1,6}\b`), partShard},
}

// token is a run of letters and digits, or a placeholder.
var token = regexp.MustCompile(`<\w+>|[\pL\pN]+`)

// alternating is user42order77.
var alternating = regexp.MustCompile(`^(\pL{3,})\d+(\pL{3,})\d+$`)

// templateOf returns a key with placeholders for what looks like a value. Words
// stay.
func templateOf(key sample.Key, cut bool) string {
	switch key.Type {
	case "B":
		return partBinary
	case "N":
		if !cut {
			return numberPlaceholder(key.Text, partNumber)
		}
	}
	text := escaper.Replace(key.Text)
	for _, k := range knownParts {
		text = k.pattern.ReplaceAllString(text, "${1}"+k.placeholder)
	}
	whole := token.FindString(text) == text
	text = token.ReplaceAllStringFunc(text, func(part string) string { return placeholder(part, whole) })
	text = strings.ReplaceAll(text, underscore, "_")
	if cut {
		text += partRest
	}
	return text
}

// underscore stands for _, which a regular expression takes for a letter: a
// part ends there. Angle brackets of a key are no placeholder.
const underscore = "\x01"

var escaper = strings.NewReplacer("<", "‹", ">", "›", "_", underscore)

// numberPlaceholder returns a number's placeholder: some are times.
func numberPlaceholder(number, otherwise string) string {
	for _, k := range knownParts {
		if k.pattern.FindString(number) == number {
			return k.placeholder
		}
	}
	return otherwise
}

// placeholder returns what stands for a part of a key, or the part itself.
func placeholder(part string, whole bool) string {
	if part[0] == '<' {
		return part
	}
	digits := len(part) - len(strings.TrimRight(part, "0123456789"))
	word := part[:len(part)-digits]
	switch {
	case word == "" && whole:
		return partNumber
	case alternating.MatchString(part):
		return alternating.ReplaceAllString(part, "${1}"+partID+"${2}"+partID)
	case strings.ContainsAny(word, "0123456789"), word == "", digits == 0 && len(part) > 24:
		return partID
	case digits > 0:
		return word + partID
	}
	return part
}

// isWord reports whether a token of a template is no placeholder.
func isWord(part string) bool { return part[0] != '<' }

// commonTemplate returns what most of the keys have in common.
func commonTemplate(keys []sampledKey) detect.Template {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = templateOf(k.key, k.cut)
	}
	best := detect.Template{Of: len(keys)}
	if pattern, n := mostFrequent(all); strings.Contains(pattern, "<") && 2*n >= len(all) || n == len(all) {
		best.Pattern, best.Keys = pattern, n
		return best
	}
	// The words differ: where one stands in nearly all keys it stays, the
	// others are values too.
	shapes := make([]string, len(all))
	for i, t := range all {
		shapes[i] = token.ReplaceAllStringFunc(t, func(part string) string {
			if isWord(part) {
				return partWord
			}
			return part
		})
	}
	shape, n := mostFrequent(shapes)
	if 2*n <= len(all) {
		return best
	}
	best.Keys = n
	var same [][]string
	for i, t := range all {
		if shapes[i] == shape {
			same = append(same, token.FindAllString(t, -1))
		}
	}
	place := -1
	best.Pattern = token.ReplaceAllStringFunc(shape, func(part string) string {
		place++
		return constant(same, place, part)
	})
	return best
}

// constant returns the word that stands in nearly all keys at a place, or the
// placeholder.
func constant(keys [][]string, place int, otherwise string) string {
	if otherwise != partWord {
		return otherwise
	}
	at := make([]string, 0, len(keys))
	for _, parts := range keys {
		if place < len(parts) {
			at = append(at, parts[place])
		}
	}
	if word, n := mostFrequent(at); 10*n >= 9*len(keys) {
		return word
	}
	return otherwise
}

// mostFrequent returns the text that occurs most often, of equal ones the first by
// the alphabet, and how often.
func mostFrequent(all []string) (text string, n int) {
	counts := map[string]int{}
	for _, t := range all {
		counts[t]++
	}
	texts := make([]string, 0, len(counts))
	for t := range counts {
		texts = append(texts, t)
	}
	if len(texts) == 0 {
		return "", 0
	}
	slices.SortFunc(texts, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return texts[0], counts[texts[0]]
}
