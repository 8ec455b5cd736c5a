package say_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// explanationsFile has the default page of `reporter analyze --explain` about the worst
// incident of each world.
const explanationsFile = "../../detect/board/testdata/explanations.txt"

// The budgets of an explanation: its first screen, which ends before the first heading, and
// all of it.
const (
	screenWords = 120
	screenLines = 24
	pageWords   = 300
)

// explanation is one page of the golden file.
type explanation struct {
	world, title       string
	lines              int // of the first screen
	screen, words      int
	sentences, columns []string
}

// readExplanations returns the pages of the golden file.
func readExplanations(t *testing.T) (all []explanation) {
	t.Helper()
	text, err := os.ReadFile(explanationsFile)
	if err != nil {
		t.Fatal(err)
	}
	for section := range strings.SplitSeq("\n"+string(text), "\n=== ") {
		world, page, ok := strings.Cut(section, "\n")
		if !ok || world == "" {
			continue
		}
		e := explanation{world: world, words: countWords(page), columns: strings.Split(page, "\n")}
		first := page
		for _, heading := range []string{"\n\nSteps\n", "\n\nLoad of ", "\n\nAlso\n"} {
			first, _, _ = strings.Cut(first, heading)
		}
		e.screen, e.lines = countWords(first), 1+strings.Count(first, "\n")
		e.title, _, _ = strings.Cut(page, "\n  ")
		if _, title, bracketed := strings.Cut(e.title, "] "); bracketed {
			e.title = strings.ReplaceAll(title, "\n", " ")
		}
		paragraph := ""
		for _, line := range append(e.columns, "") {
			isChart := strings.ContainsAny(line, "█┄")
			if strings.HasPrefix(line, "     ") && !isChart && paragraph != "" { // wrapped
				paragraph += " " + strings.TrimSpace(line)
				continue
			}
			for sentence := range strings.SplitSeq(paragraph, ". ") {
				if sentence != "" {
					e.sentences = append(e.sentences, strings.TrimSpace(sentence))
				}
			}
			paragraph = ""
			if !isChart {
				paragraph = strings.TrimSpace(line)
			}
		}
		all = append(all, e)
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

// TestBudgetsOfExplanations holds the page about each world's worst incident to the budgets.
// With -v it prints the figures and the longest pages.
func TestBudgetsOfExplanations(t *testing.T) {
	t.Parallel()
	all := readExplanations(t)
	if len(all) < 60 {
		t.Fatalf("%d pages, want at least 60", len(all))
	}
	var length sentenceLength
	screens := 0
	for _, e := range all {
		if n := utf8.RuneCountInString(e.title); n > longestTitle {
			t.Errorf("%s: a title of %d characters: %s", e.world, n, e.title)
		}
		if e.screen > screenWords || e.lines > screenLines {
			t.Errorf("%s: a first screen of %d words in %d lines, more than %d or %d", e.world, e.screen, e.lines, screenWords, screenLines)
		}
		if e.words > pageWords {
			t.Errorf("%s: %d words, more than %d", e.world, e.words, pageWords)
		}
		for _, line := range e.columns {
			if n := utf8.RuneCountInString(line); n > 80 {
				t.Errorf("%s: a line of %d columns: %s", e.world, n, line)
			}
		}
		length.add(t, e.world, e.sentences)
		screens = max(screens, e.screen)
	}
	mean := length.mean(t)
	slices.SortFunc(all, func(a, b explanation) int { return b.words - a.words })
	t.Logf("%d explanations: %d words in the longest, %d in the median; %d words on the fullest first screen; %.1f words in a sentence",
		len(all), all[0].words, all[len(all)/2].words, screens, mean)
	for _, e := range all[:10] {
		t.Logf("%d words, %d of them on a first screen of %d lines, %s: %s", e.words, e.screen, e.lines, e.world, e.title)
	}
}

// TestTemplates holds the fixed words of pages and reports to words that name things.
func TestTemplates(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"../web/page/*.html", "../demo/page/*.html", "../report/report.html", "../report/report.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	action := regexp.MustCompile(`(?s)\{\{.*?\}\}|<[^<>]*>`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(action.ReplaceAllString(string(text), " ")) {
			if found := vague.FindString(line); found != "" {
				t.Errorf("%s: %q names nothing: %s", file, found, strings.TrimSpace(line))
			}
		}
	}
}
