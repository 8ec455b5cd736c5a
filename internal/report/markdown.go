package report

import (
	"bytes"
	_ "embed" // the template
	"strings"
	"text/template"
	"time"
)

//go:embed report.md
var markdownText string

var markdownLayout = template.Must(template.New("report").Funcs(functions).Funcs(template.FuncMap{
	"text": text, "code": code, "count": count, "place": func(i int) int { return i + 1 },
}).Parse(markdownText))

// inert escapes everything that Markdown, or HTML in it, would read as more than text
// within a line: other people's text is neither markup, nor a link, nor a mention.
var inert = func() *strings.Replacer {
	pairs := []string{"\r", " ", "\n", " ", "://", `\://`, "www.", `www\.`, "WWW.", `WWW\.`}
	for _, c := range "\\`*_{}[]<>#|~&$@" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}()

func text(s string) string { return inert.Replace(s) }

// code writes a key as a code span that its own backticks cannot end. A table's bar is
// escaped, because Markdown finds cells before spans.
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	pad := ""
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		pad = " "
	}
	return fence + pad + strings.ReplaceAll(s, "|", `\|`) + pad + fence
}

func (p *Report) markdown() ([]byte, error) {
	var out bytes.Buffer
	err := markdownLayout.Execute(&out, struct {
		page
		AsOf string
	}{p.page(), p.Made.UTC().Format(time.RFC3339)})
	return out.Bytes(), err
}
