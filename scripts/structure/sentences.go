package main

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// wordless is the root of the packages that return codes and figures: internal/say alone
// has words.
const wordless = "detect"

// mostWords is the most words of a text below wordless.
const mostWords = 2

// worded names packages below wordless that have words: the comments of an application's
// code. The list only gets shorter.
var worded = []string{"detect/recipe"}

// sentenceProblems reports sentences in packages that return codes. The texts of errors
// may be sentences.
func sentenceProblems(m *module) (all []problem) {
	for _, p := range m.packages {
		if !within(p.path, wordless) {
			continue
		}
		for i, f := range p.files {
			if isBelow(worded, p.sources[i].path) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec, *ast.Field:
					return false // a field has a tag, and no other text
				case *ast.CallExpr:
					return !isError(n.Fun)
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && countWords(text) > mostWords {
						all = append(all, problem{p.at(n.Pos()), "return a code and figures, and write the sentence in internal/say: " + n.Value})
					}
				}
				return true
			})
		}
	}
	return all
}

// isError reports whether a function makes an error.
func isError(fn ast.Expr) bool {
	call, ok := fn.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := call.X.(*ast.Ident)
	return ok && (of.Name == "errors" && call.Sel.Name == "New" || of.Name == "fmt" && call.Sel.Name == "Errorf")
}

// countWords returns the number of words of a text; a word has a letter.
func countWords(text string) (n int) {
	for _, field := range strings.Fields(text) {
		if strings.ContainsFunc(field, func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }) {
			n++
		}
	}
	return n
}
