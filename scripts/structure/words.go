package main

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// densities are words that stand where a noun is missing, with the most of them in 1,000
// words. The limits are above the measure of pgx, franz-go and client_golang.
var densities = []struct {
	word string
	most float64
}{{"what", 2}, {"which", 3}, {"those", 0.3}}

var word = regexp.MustCompile(`[a-z']+`)

// densityProblems reports words that are too frequent in a text.
func densityProblems(where, text string) (all []problem) {
	counts, total := map[string]int{}, 0
	for _, w := range word.FindAllString(strings.ToLower(text), -1) {
		counts[w]++
		total++
	}
	for _, d := range densities {
		if n := 1000 * float64(counts[d.word]) / float64(max(total, 1)); n > d.most {
			all = append(all, problem{where, fmt.Sprintf("%.1f of 1,000 words are %q, more than %.1f: name the thing", n, d.word, d.most)})
		}
	}
	return all
}

// wordProblems reports words that are too frequent in comments, or in documents.
func wordProblems(m *module, dir string) ([]problem, error) {
	var comments, documents strings.Builder
	for _, p := range m.packages {
		if within(p.path, "internal/testsupport") || within(p.path, "store/storetest") || within(p.path, "scripts") || within(p.path, "internal/say/wording") {
			continue
		}
		for _, f := range p.files {
			comments.WriteString(commentText(f))
		}
	}
	err := readDocuments(dir, func(_, text string) { documents.WriteString(literal.ReplaceAllString(text, " ") + "\n") })
	return append(densityProblems("comments", comments.String()), densityProblems("documents", documents.String())...), err
}

// commentText returns the line comments of a file, without directives.
func commentText(f *ast.File) string {
	var b strings.Builder
	for _, g := range f.Comments {
		for _, c := range g.List {
			if text, ok := strings.CutPrefix(c.Text, "// "); ok {
				b.WriteString(text + "\n")
			}
		}
	}
	return b.String()
}

// documents are the patterns of the documents' paths.
var documents = []string{"*.md", "docs/*.md", "deploy/*/README.md"}

// literal is text of a document that is no sentence: code, headings and the targets of links.
var literal = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`|^#[^\n]*|\\]\\([^)]*\\)")

// readDocuments passes each document of a module, with its path below dir.
func readDocuments(dir string, read func(path, text string)) error {
	for _, pattern := range documents {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			read(strings.TrimPrefix(path, dir+"/"), string(text))
		}
	}
	return nil
}

// isBelow reports whether a path is one of some roots, or below one.
func isBelow(roots []string, path string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return within(path, root) })
}
