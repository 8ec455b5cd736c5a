package analyze_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/recipe"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/say"
)

// attacks are keys that do something where a program shows them without care.
var attacks = []struct{ name, key string }{
	{"a formula", `=HYPERLINK("http://evil.example")`},
	{"a formula behind a sign", `+1+cmd|' /C calc'!A0`},
	{"a formula behind a minus", `-2+3`},
	{"a function of Lotus", `@SUM(A1)`},
	{"a formula behind a tab", "\t=1+1"},
	{"a formula in full width", "＝1+1"},
	{"a cell that ends", "a\",\"=1+1"},
	{"a row that ends", "a\r\n=1+1"},
	{"an erased screen", "a\x1b[2J\x1b[Hb"},
	{"a control of C1", "a\u009b31mb"},
	{"a link of a terminal", "a\x1b]8;;http://evil.example\x07b\x1b]8;;\x07"},
	{"a title of a terminal", "a\x1b]0;evil\x07b"},
	{"text that runs backwards", "a\u202egnp.exe"},
	{"isolated direction", "a\u2066b\u2069"},
	{"a bell and a backspace", "a\x07\b\bb"},
	{"no width at all", "a\u200b\u200eb"},
	{"a script", `<script>alert(1)</script>`},
	{"an attribute that ends", `" onmouseover="alert(1)`},
	{"a link of Markdown", `[x](javascript:alert(1)) ![y](http://evil.example/p.png)`},
	{"code that goes on", "\"); os.RemoveAll(\"/\"); (\"\n`+`${process.exit()}`"},
	{"a line of code", "x\nimport os; os.system('id')\n\u2028alert(1)"},
	{"NUL", "a\x00b"},
}

// inert returns what in a text is more than to be read.
func inert(text string) string {
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

// TestAttacksOnOutputs shows each key, which is a sort key, a caller and an attribute, too, in each
// output: to a terminal, a spreadsheet, a
// browser, a Markdown renderer and a compiler it is text, and in JSON the same key.
func TestAttacksOnOutputs(t *testing.T) {
	t.Parallel()
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			quoted, err := json.Marshal(a.key)
			must(t, err)
			var lines []string
			for s := range 4 {
				whole := strings.TrimSuffix(line(s, "orders", "KEY", 1500), "}") + `,"sk":"KEY","caller":"KEY","attrs":{"KEY":"KEY"}}`
				lines = append(lines, strings.ReplaceAll(whole, `"KEY"`, string(quoted)))
			}
			text := strings.Join(lines, "\n")

			for _, format := range []analyze.Format{analyze.FormatTable, analyze.FormatJSON} {
				if what := inert(run(t, text, format)); what != "" {
					t.Errorf("%s lets %s through", format, what)
				}
			}
			found := result(t, text)
			if len(found.Findings) == 0 || string(found.Findings[0].Key) != a.key {
				t.Fatalf("it is another key in JSON: %+v", found.Findings)
			}
			f := &found.Findings[0]
			sentences := []string{f.Title, f.Summary}
			for k := range f.Advice {
				sentences = append(sentences, say.StepWhy(f, &f.Advice[k]))
			}
			for _, sentence := range sentences {
				if inert(sentence) != "" {
					t.Errorf("a sentence is %q", sentence)
				}
			}
			// Go's code is indented with tabs.
			explanation := strings.ReplaceAll(explained(t, text, a.key, recipe.Go, recipe.Python, recipe.Node), "\n\t", "\n")
			if what := inert(strings.ReplaceAll(explanation, "\t", "")); what != "" || !strings.Contains(explanation, "1,500") {
				t.Errorf("--explain lets %s through", what)
			}
			if strings.Contains(explained(t, text, a.key), "\t") {
				t.Error("--explain lets a tab through")
			}
			for _, names := range attributesOfCode {
				code, ok := recipe.Code(f, names, recipe.Go)
				if !ok {
					continue
				}
				if _, err := parser.ParseFile(token.NewFileSet(), "x.go", code, 0); err != nil {
					t.Errorf("the code does not compile: %v", err)
				}
			}

			rows, err := csv.NewReader(strings.NewReader(run(t, text, analyze.FormatCSV))).ReadAll()
			must(t, err)
			for _, row := range rows {
				for _, cell := range row {
					if inert(cell) != "" || strings.IndexAny(strings.TrimLeft(cell, " "), "=+@＝＋＠") == 0 || strings.HasPrefix(cell, "-2+") {
						t.Errorf("a cell is %q", cell)
					}
				}
			}

			page := run(t, text, analyze.FormatHTML)
			if what := inert(page); what != "" {
				t.Errorf("the page lets %s through", what)
			}
			tree, err := html.Parse(strings.NewReader(page))
			must(t, err)
			for n := range tree.Descendants() {
				if n.Type == html.ElementNode && n.Data == "script" {
					t.Error("a script is on the page")
				}
				for _, attribute := range n.Attr {
					if strings.HasPrefix(attribute.Key, "on") || strings.Contains(attribute.Val, "javascript:") || strings.Contains(attribute.Val, "evil.example") && attribute.Key != "title" && attribute.Key != "aria-label" {
						t.Errorf("<%s %s=%q>", n.Data, attribute.Key, attribute.Val)
					}
				}
			}

			summary := report.OfFiles(report.Found{Incidents: casebook.Incidents(found.Findings), Findings: found.Findings, Tables: found.Tables})
			var out bytes.Buffer
			must(t, summary.Write(&out, report.Markdown))
			if what := inert(out.String()); what != "" {
				t.Errorf("Markdown lets %s through", what)
			}
			for line := range strings.Lines(out.String()) {
				if active.MatchString(outsideSpans(line)) {
					t.Errorf("Markdown has %q", line)
				}
			}
		})
	}
}

// active is a link, an image or an element of HTML that no backslash escapes.
var active = regexp.MustCompile(`(^|[^\\])(\]\(|<[a-zA-Z!/])`)

// attributesOfCode are names under which the code is written.
var attributesOfCode = []recipe.Attributes{{}, {Partition: "p\"k\n", Sort: "s\\k"}}

// outsideSpans returns a line of Markdown without its code spans.
func outsideSpans(line string) string {
	var out strings.Builder
	for line != "" {
		fence := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		if fence == "" {
			next := strings.IndexByte(line, '`')
			if next < 0 {
				next = len(line)
			}
			out.WriteString(line[:next])
			line = line[next:]
			continue
		}
		_, rest, closed := strings.Cut(line[len(fence):], fence)
		if !closed {
			out.WriteString(line)
			break
		}
		line = rest
	}
	return out.String()
}
