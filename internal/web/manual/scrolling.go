package manual

import (
	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

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
