package fixes_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestTheGuideHasEverySection holds docs/KEY_DESIGN.md to the sections that steps name,
// in this package and the others that give advice.
func TestTheGuideHasEverySection(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/KEY_DESIGN.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(text), -1) {
		sections[strings.ReplaceAll(strings.ToLower(heading[1]), " ", "-")] = true
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(string(text), -1) {
		if !sections[link[1]] {
			t.Errorf("the page links to %q, which it does not have", link[1])
		}
	}
	named := 0
	var files []string
	for _, pattern := range []string{"../*/*.go", "../../*/*.go"} {
		some, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			var value ast.Expr
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, is := n.Key.(*ast.Ident); is && key.Name == "Guide" {
					value = n.Value
				}
			case *ast.CompositeLit:
				// The lines of the ledger: action, effort, guide, function.
				if len(n.Elts) == 4 && n.Type == nil {
					value = n.Elts[2]
				}
			}
			text, is := value.(*ast.BasicLit)
			if !is || text.Kind != token.STRING {
				return true
			}
			if section, err := strconv.Unquote(text.Value); err == nil && !strings.HasSuffix(file, "_test.go") {
				named++
				if !sections[section] {
					t.Errorf("%s names the section %q, which the page does not have", file, section)
				}
			}
			return true
		})
	}
	if named < 25 {
		t.Errorf("only %d steps name a section", named)
	}
}
