package manual_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/keyheat/keyheat/docs"
	"github.com/keyheat/keyheat/internal/web/manual"
)

func load(t *testing.T, files fs.FS) []manual.Page {
	t.Helper()
	pages, err := manual.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

var address = regexp.MustCompile(`(?:href|src)="([^"]*)"`)

// TestLinks holds every link of every document to a document, an anchor, or a file that
// the program holds.
func TestLinks(t *testing.T) {
	t.Parallel()
	pages := load(t, docs.Files)
	if len(pages) < 15 || pages[0].Name != "START.md" {
		t.Fatalf("there are %d documents, the first %s", len(pages), pages[0].Name)
	}
	of := make(map[string]*manual.Page)
	for i := range pages {
		of[pages[i].Name] = &pages[i]
	}
	for _, p := range pages {
		if p.Title == p.Name || p.About == "" || strings.ContainsAny(p.About, "*`") {
			t.Errorf("%s has the title %q, and begins with %q", p.Name, p.Title, p.About)
		}
		for _, found := range address.FindAllStringSubmatch(string(p.HTML), -1) {
			file, anchor, _ := strings.Cut(found[1], "#")
			target := &p
			switch {
			case strings.HasPrefix(file, "https://") || strings.HasPrefix(file, "http://127.0.0.1"):
				continue
			case strings.HasSuffix(file, ".md"):
				target = of[file]
			case file != "":
				if info, err := fs.Stat(docs.Files, file); err != nil || !info.Mode().IsRegular() {
					t.Errorf("%s leads to %q, which the program does not hold", p.Name, file)
				}
				continue
			}
			if target == nil || anchor != "" && !strings.Contains(string(target.HTML), ` id="`+anchor+`"`) {
				t.Errorf("%s leads to %q, which no document has", p.Name, found[1])
			}
		}
	}
}

// TestRendering has forms of Markdown, and the HTML that the pages' policy lets through.
func TestRendering(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want, never string }{
		"headings are anchors":       {"# T\n\n## Heals by *itself*? It_does\n\n## Same\n\n## Same", `<h2 id="heals-by-itself-it_does">`, "#"},
		"equal headings differ":      {"# T\n\n## Same\n\n## Same", `<h2 id="same-1">`, ""},
		"HTML is left out":           {"# T\n\n<script>alert(1)</script>\n\n<b onclick=x>b</b>", "b", "<script"},
		"attributes of HTML, too":    {"# T\n\n<b onclick=x>b</b>", "b", "onclick"},
		"script links are left out":  {"# T\n\n[a](javascript:alert(1))", `<a href="">a</a>`, "javascript"},
		"code is text":               {"# T\n\n```html\n<script>&\n```", "<pre class=\"code\" tabindex=\"0\"><code>&lt;script&gt;&amp;\n</code></pre>", "<script"},
		"tables scroll, unstyled":    {"# T\n\n| a | b |\n| --- | --: |\n| 1 | 2 |", `<td align="right">2</td>`, "style="},
		"links out of docs are text": {"# T\n\nSee [the *policy*](../deploy/iam/x.json).", "See the <em>policy</em>.", "../"},
	} {
		pages := load(t, fstest.MapFS{"A.md": {Data: []byte(c.text)}})
		got := string(pages[0].HTML)
		if pages[0].Title != "T" || !strings.Contains(got, c.want) || c.never != "" && strings.Contains(got, c.never) {
			t.Errorf("%s: %s", name, got)
		}
	}
}
