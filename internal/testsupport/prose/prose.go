// Package prose holds what on-call reads to budgets: how long titles, sentences, alerts and
// pages are, and constructs that name nothing. It is test support.
package prose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/keyheat/keyheat/internal/say"
)

// The budgets of an alert: the words of its answers without their labels, and of their
// sentences; the characters of its title.
const (
	mostWords       = 63 // three of them for the interval of a sampled share
	LongestSentence = 28
	longestMean     = 16
	longestTitle    = 80
)

// The budgets of a page of --explain: its first screen, which ends before the first heading,
// and all of it.
const (
	screenWords   = 120
	screenLines   = 24
	screenColumns = 80
	pageWords     = 300
)

// Vague are constructs without a noun, of which no sentence has one.
var Vague = regexp.MustCompile(`(?i)\b(what is|that of|those of|of which|which is|which are|the one that|is told|are told|told of|says|asked for|given up)\b`)

// broken is the text of a figure that is missing, or of a code without words.
var broken = regexp.MustCompile(`%!|<nil>|NaN|Inf\b|\bunknown [a-z]+_|\b[a-z]+_[a-z_]+\b|  |\s$|^$`)

// quoted is text of the monitored system, which may hold anything.
var quoted = regexp.MustCompile(`“[^”]*”`)

// Length sums up the words of texts of one kind.
type Length struct {
	sentences, words int
	texts            []text
}

type text struct {
	place, title string
	words        int
}

// Alert counts an alert, and returns its faults.
func (l *Length) Alert(place string, b *say.Brief) (faults []string) {
	words := 0
	for _, line := range b.Lines() {
		words += len(strings.Fields(line.Text))
		faults = append(faults, l.sentencesOf(line.Text)...)
		if broken.MatchString(quoted.ReplaceAllString(line.Text, "“”")) || !strings.HasSuffix(line.Text, ".") {
			faults = append(faults, fmt.Sprintf("the answer %q is broken", line.Label()+" "+line.Text))
		}
	}
	if b.Harm == "" || b.Why == "" || b.Now == "" {
		faults = append(faults, "no harm, cause or action: "+say.Text(b.Lines()))
	}
	if n := utf8.RuneCountInString(b.Title); n > longestTitle || broken.MatchString(quoted.ReplaceAllString(b.Title, "“”")) {
		faults = append(faults, fmt.Sprintf("a title of %d characters: %s", n, b.Title))
	}
	if words > mostWords {
		faults = append(faults, fmt.Sprintf("answers of %d words, more than %d:\n%s", words, mostWords, say.Text(b.Lines())))
	}
	l.texts = append(l.texts, text{place, b.Title, words})
	return faults
}

// sentencesOf counts the sentences of a text, and holds them to their longest and to words
// that name things.
func (l *Length) sentencesOf(paragraph string) (faults []string) {
	for s := range strings.SplitSeq(paragraph, ". ") {
		n := len(strings.Fields(s))
		l.sentences, l.words = l.sentences+1, l.words+n
		if n > LongestSentence {
			faults = append(faults, fmt.Sprintf("a sentence of %d words: %s", n, s))
		}
		if found := Vague.FindString(s); found != "" {
			faults = append(faults, fmt.Sprintf("%q names nothing: %s", found, s))
		}
	}
	return faults
}

// Page counts the default page of `reporter analyze --explain`, and returns its faults.
func (l *Length) Page(place, page string) (faults []string) {
	first := page
	for _, heading := range []string{"\n\nSteps\n", "\n\nLoad of ", "\n\nAlso\n"} {
		first, _, _ = strings.Cut(first, heading)
	}
	if words, lines := countWords(first), 1+strings.Count(first, "\n"); words > screenWords || lines > screenLines {
		faults = append(faults, fmt.Sprintf("a first screen of %d words in %d lines, more than %d or %d", words, lines, screenWords, screenLines))
	}
	words := countWords(page)
	if words > pageWords {
		faults = append(faults, fmt.Sprintf("a page of %d words, more than %d", words, pageWords))
	}
	for line := range strings.Lines(page) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > screenColumns {
			faults = append(faults, fmt.Sprintf("a line of %d columns: %s", n, line))
		}
	}
	for _, paragraph := range paragraphs(page) {
		faults = append(faults, l.sentencesOf(paragraph)...)
	}
	title, _, _ := strings.Cut(page, "\n  ")
	l.texts = append(l.texts, text{place, strings.ReplaceAll(title, "\n", " "), words})
	return faults
}

// paragraphs returns the text of a page without its charts, unwrapped.
func paragraphs(page string) (all []string) {
	continues := false
	for line := range strings.Lines(page) {
		text := strings.TrimSpace(line)
		isChart := strings.ContainsAny(line, "█┄")
		switch {
		case isChart || text == "":
			continues = false
		case continues && strings.HasPrefix(line, "     "):
			all[len(all)-1] += " " + text
		default:
			all, continues = append(all, text), true
		}
	}
	return all
}

// countWords counts words, without the bars of a chart.
func countWords(text string) (n int) {
	for word := range strings.FieldsSeq(text) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

// Fault returns what is wrong with the mean of all sentences; empty for nothing.
func (l *Length) Fault() string {
	if mean := l.mean(); mean > longestMean {
		return fmt.Sprintf("sentences have %.1f words on average, more than %d", mean, longestMean)
	}
	return ""
}

func (l *Length) mean() float64 { return float64(l.words) / float64(max(1, l.sentences)) }

// Report returns how long the texts are, and the longest ten.
func (l *Length) Report(kind string) string {
	if len(l.texts) == 0 {
		return "no " + kind + "\n"
	}
	slices.SortFunc(l.texts, func(a, b text) int { return b.words - a.words })
	var report strings.Builder
	fmt.Fprintf(&report, "%d %s: %d words in the longest, %d in the median; %.1f words in a sentence\n",
		len(l.texts), kind, l.texts[0].words, l.texts[len(l.texts)/2].words, l.mean())
	for _, t := range l.texts[:min(10, len(l.texts))] {
		fmt.Fprintf(&report, "%d words, %s: %s\n", t.words, t.place, t.title)
	}
	return report.String()
}
