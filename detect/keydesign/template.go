package keydesign

import (
	"regexp"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// alternating matches user42order77.
var alternating = regexp.MustCompile(`^(\pL{3,})\d+(\pL{3,})\d+$`)

// templateOf returns a key with placeholders for the parts that look like values. Words
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
	lower := strings.ToLower(text)
	for i := range knownParts {
		if k := &knownParts[i]; k.mayMatch(lower) {
			text = k.pattern.ReplaceAllString(text, "${1}"+k.placeholder)
		}
	}
	_, first, _ := nextToken(text)
	whole := first == text
	text = replaceTokens(text, func(part string) string { return placeholder(part, whole) })
	text = strings.ReplaceAll(text, underscore, "_")
	if cut {
		text += partRest
	}
	return text
}

func numberPlaceholder(number, otherwise string) string {
	for i := range knownParts {
		if k := &knownParts[i]; k.mayMatch(number) && k.pattern.FindString(number) == number {
			return k.placeholder
		}
	}
	return otherwise
}

// placeholder returns the placeholder for a part of a key, or the part itself if it is a
// word.
func placeholder(part string, whole bool) string {
	if part[0] == '<' {
		return part
	}
	digits := len(part) - len(strings.TrimRight(part, "0123456789"))
	word := part[:len(part)-digits]
	switch {
	case word == "" && whole:
		return partNumber
	case strings.ContainsAny(word, "0123456789"):
		if alternating.MatchString(part) {
			return alternating.ReplaceAllString(part, "${1}"+partID+"${2}"+partID)
		}
		return partID
	case word == "", digits == 0 && len(part) > 24:
		return partID
	case digits > 0:
		return word + partID
	}
	return part
}

func isWord(part string) bool { return part[0] != '<' }

func (t *counters) commonTemplate() detect.Template {
	all := make([]string, len(t.sampled))
	for i := range t.sampled {
		all[i] = templateOf(t.types.key(&t.sampled[i]), t.sampled[i].cut)
	}
	best := detect.Template{Of: len(all)}
	if pattern, n := mostFrequent(all); strings.Contains(pattern, "<") && 2*n >= len(all) || n == len(all) {
		best.Pattern, best.Keys = sample.Text(pattern), n
		return best
	}
	// The words differ. A word that stands in nearly all keys stays; the others are
	// values too.
	shapes := make([]string, len(all))
	for i, template := range all {
		shapes[i] = replaceTokens(template, func(part string) string {
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
	for i, template := range all {
		if shapes[i] == shape {
			same = append(same, tokens(template))
		}
	}
	place := -1
	best.Pattern = sample.Text(replaceTokens(shape, func(part string) string {
		place++
		return constantWord(same, place, part)
	}))
	return best
}

// constantWord returns the word that nearly all keys have at a place, or the placeholder.
func constantWord(keys [][]string, place int, otherwise string) string {
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

// mostFrequent returns the most frequent text and how often it occurs. Of ties it returns
// the first by the alphabet.
func mostFrequent(all []string) (text string, n int) {
	counts := map[string]int{}
	for _, t := range all {
		counts[t]++
	}
	for t, count := range counts {
		if count > n || count == n && t < text {
			text, n = t, count
		}
	}
	return text, n
}
