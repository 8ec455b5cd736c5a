// Package manual renders the documents of docs/ for the reporter's pages. Documents keep
// their file names as addresses, so their links to each other work as they are.
package manual

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Page is a document.
type Page struct {
	// Name is the file's name, such as START.md, and Title its heading.
	Name, Title string
	// About is the beginning of its first paragraph, as plain text.
	About string
	// Sections are its headings of the second level.
	Sections []Section
	// HTML is the whole document, with its heading. It holds no HTML of the document's own.
	HTML template.HTML
}

// Section is a heading and the name of its anchor.
type Section struct{ ID, Title string }

// reading is the order of the documents that a newcomer reads first; the others follow by
// their names.
var reading = []string{"START.md", "PAGES.md", "KEY_DESIGN.md", "ALERTING.md", "INSTRUMENTING.md", "CONFIGURATION.md"}

// Load renders the documents of a folder, in the order in which they are read.
func Load(files fs.FS) ([]Page, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}
	rank := func(name string) int {
		if n := slices.Index(reading, name); n >= 0 {
			return n
		}
		return len(reading)
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	pages := make([]Page, len(names))
	for i, name := range names {
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		if pages[i], err = render(name, source); err != nil {
			return nil, fmt.Errorf("render %s: %w", name, err)
		}
	}
	return pages, nil
}

// markdown renders without raw HTML, and drops links such as javascript: ones. A style
// attribute would not pass the pages' policy, so cells are aligned by an attribute.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(outwardLinks{}, 1))),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(scrolling{}, 1))),
)

func render(name string, source []byte) (Page, error) {
	root := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	page := Page{Name: name, Title: name}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		switch block := n.(type) {
		case *ast.Heading:
			title := plain(block, source)
			id, _ := block.AttributeString("id")
			switch block.Level {
			case 1:
				page.Title = title
			case 2:
				page.Sections = append(page.Sections, Section{fmt.Sprintf("%s", id), title})
			}
		case *ast.Paragraph:
			if page.About == "" {
				page.About = firstSentence(plain(block, source))
			}
		}
	}
	var out bytes.Buffer
	err := markdown.Renderer().Render(&out, source, root)
	page.HTML = template.HTML(out.String()) //nolint:gosec // goldmark escapes the text of a document
	return page, err
}

func plain(block ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker returns no error
		if t, is := n.(*ast.Text); is && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

func firstSentence(text string) string {
	sentence, _, more := strings.Cut(text, ". ")
	if more {
		return sentence + "."
	}
	return sentence
}

// anchors names headings as GitHub does, so that a link works there and here.
type anchors map[string]bool

// Generate implements parser.IDs.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	slug := anchor(string(heading))
	id := slug
	for n := 1; a[id]; n++ {
		id = fmt.Sprintf("%s-%d", slug, n)
	}
	a[id] = true
	return []byte(id)
}

// Put implements parser.IDs.
func (a anchors) Put(id []byte) { a[string(id)] = true }

func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 0x7f:
			return r
		}
		return -1
	}, strings.ToLower(strings.TrimSpace(heading)))
}

// outwardLinks turns links out of the folder into text: what they lead to is in the
// repository, and not in the program.
type outwardLinks struct{}

// Transform implements parser.ASTTransformer.
func (outwardLinks) Transform(root *ast.Document, _ text.Reader, _ parser.Context) {
	var outward []*ast.Link
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the walker returns no error
		if link, is := n.(*ast.Link); is && entering && strings.HasPrefix(string(link.Destination), "../") {
			outward = append(outward, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range outward {
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			link.Parent().InsertBefore(link.Parent(), link, child)
		}
		link.Parent().RemoveChild(link.Parent(), link)
	}
}

// scrolling renders what may be wider than a phone so that it scrolls by itself, also with
// the keyboard.
type scrolling struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (scrolling) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(tables.KindTable, writeTags("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Table\"><table>\n", "</table></div>\n"))
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindCodeBlock, renderCode)
}

func writeTags(before, after string) renderer.NodeRendererFunc {
	return func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		tag := after
		if entering {
			tag = before
		}
		_, err := w.WriteString(tag)
		return ast.WalkContinue, err
	}
}

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, err := w.WriteString(`<pre class="code" tabindex="0"><code>`)
	lines := n.Lines()
	for i := 0; err == nil && i < lines.Len(); i++ {
		line := lines.At(i)
		_, err = w.Write(util.EscapeHTML(line.Value(source)))
	}
	if err == nil {
		_, err = w.WriteString("</code></pre>\n")
	}
	return ast.WalkSkipChildren, err
}

// ErrNotFound is the error for a document that the folder does not have.
var ErrNotFound = errors.New("no such document")

// Handler serves a folder below /docs/, as the route's {name...}: documents as pages, and
// the files that they show or link to as they are. The documents are rendered when the
// first is read. show shows one of all documents, or their list where it is nil; fail shows
// an error.
func Handler(files fs.FS, show func(w http.ResponseWriter, r *http.Request, all []Page, one *Page), fail func(http.ResponseWriter, *http.Request, error)) http.HandlerFunc {
	load := sync.OnceValues(func() ([]Page, error) { return Load(files) })
	file := http.StripPrefix("/docs/", http.FileServerFS(files))
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if info, err := fs.Stat(files, name); path.Ext(name) != ".md" && err == nil && info.Mode().IsRegular() {
			w.Header().Set("Cache-Control", "max-age=300")
			file.ServeHTTP(w, r)
			return
		}
		all, err := load()
		if err != nil {
			fail(w, r, err)
			return
		}
		if name == "" {
			show(w, r, all, nil)
			return
		}
		for i := range all {
			if all[i].Name == name {
				show(w, r, all, &all[i])
				return
			}
		}
		fail(w, r, ErrNotFound)
	}
}
