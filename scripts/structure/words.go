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

// density is the most words of a kind in 1,000 words of comments or of documents.
type density struct {
	name string
	find *regexp.Regexp
	most float64
}

// densities are words that stand where a noun is missing. The limits are above the
// measure of pgx, franz-go and client_golang, which CONTRIBUTING.md names as examples.
var densities = []density{
	{"what", regexp.MustCompile(`\bwhat\b`), 2},
	{"which", regexp.MustCompile(`\bwhich\b`), 3},
	{"those", regexp.MustCompile(`\bthose\b`), 0.3},
	{"of which, that of, those of", regexp.MustCompile(`\b(of which|that of|those of)\b`), 0.2},
	{"says, tells, told", regexp.MustCompile(`\b(says|tells|told)\b`), 0.5},
}

var word = regexp.MustCompile(`[a-z']+`)

// bare are prepositions, adverbs and participles that name no function: a function is
// named by a verb phrase, a getter by a noun.
var bare = strings.Fields(`about above across after again ahead alike alone along also among anew anyhow apart around as aside at
	away before behind below beside besides between beyond both by down else elsewhere ever for forth from further here hence how
	in inside instead into just known last least left less like made meanwhile more most much near never of off often on once
	only onto otherwise out outside over past rather said seen shown since so soon taken than then thence there thereby through
	till to together told too toward twice under until up upon whole with within without yet drawn given gone held kept meant
	heard bound bent built begun broken chosen come done driven grown hidden sent split spread spent sworn torn worn written`)

// allowed end like participles, or are methods of other people's interfaces.
var allowed = []string{"Required", "Less", "Seed", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "succeed"}

// leftToIssue names the packages and files whose functions keep their names until the
// change that moves their sentences to one package.
var leftToIssue = []string{"internal/say/wording"}

// unwritten names the packages and files whose comments are still to be rewritten. The
// list only gets shorter.
var unwritten = []string{"internal/say/wording"}

// wordProblems reports words that are too frequent in comments, and functions without a
// verb or noun in their names.
func wordProblems(m *module) []problem {
	var all []problem
	comments := newMeasure()
	for _, p := range m.packages {
		if within(p.path, "internal/testsupport") || within(p.path, "store/storetest") || within(p.path, "scripts") {
			continue
		}
		for i, f := range p.files {
			if !isBelow(unwritten, p.sources[i].path) {
				comments.add(commentText(f))
			}
			if isBelow(leftToIssue, p.sources[i].path) {
				continue
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && isBare(fn.Name.Name) {
					all = append(all, problem{p.at(fn.Pos()), fn.Name.Name + ": name a function by a verb phrase, a getter by a noun"})
				}
			}
		}
	}
	return append(all, comments.problems("comments")...)
}

// measure counts the words of some text, and the words of each density.
type measure struct {
	counts []int
	total  int
}

func newMeasure() *measure { return &measure{counts: make([]int, len(densities))} }

// add adds text in lower case.
func (m *measure) add(text string) {
	m.total += len(word.FindAllString(text, -1))
	for i, d := range densities {
		m.counts[i] += len(d.find.FindAllString(text, -1))
	}
}

func (m *measure) problems(where string) (all []problem) {
	for i, d := range densities {
		if n := 1000 * float64(m.counts[i]) / float64(max(m.total, 1)); n > d.most {
			all = append(all, problem{where, fmt.Sprintf("%.1f of 1,000 words are %q, more than %.1f: name the thing", n, d.name, d.most)})
		}
	}
	return all
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

// documentProblems reports words that are too frequent in the documents of a module.
func documentProblems(dir string) ([]problem, error) {
	m := newMeasure()
	err := readDocuments(dir, func(_, text string) { m.add(strings.ToLower(literal.ReplaceAllString(text, " "))) })
	return m.problems("documents"), err
}

// isBelow reports whether a path is one of some roots, or below one.
func isBelow(roots []string, path string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return within(path, root) })
}

// commentText returns the line comments of a file in lower case, without directives.
func commentText(f *ast.File) string {
	var b strings.Builder
	for _, g := range f.Comments {
		for _, c := range g.List {
			if text, ok := strings.CutPrefix(c.Text, "// "); ok {
				b.WriteString(strings.ToLower(text) + "\n")
			}
		}
	}
	return b.String()
}

func isBare(name string) bool {
	if slices.Contains(allowed, name) {
		return false
	}
	lower := strings.ToLower(name[:1]) + name[1:]
	return slices.Contains(bare, lower) || strings.HasSuffix(lower, "ed") && strings.ToLower(lower) == lower
}
