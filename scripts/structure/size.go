package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"os"
)

// The measure of a package. A larger one holds a second idea. It is wide enough that a package
// which holds one does not give files away to stay below it.
const (
	maxLines = 2500
	maxFiles = 25
)

// rule is the name by which mapFile exempts a package.
type rule string

const (
	ruleCircle rule = "circle"
	ruleLines  rule = "lines"
	ruleFiles  rule = "files"
)

// finding is a violation of a rule from which a package may be exempt.
type finding struct {
	rule rule
	what string
}

// sizeProblems reports a package with too many lines of code or files.
func sizeProblems(p *pkg) []finding {
	var all []finding
	lines := 0
	for _, f := range p.files {
		lines += codeLines(p.fset.Position(f.Package).Filename)
	}
	if lines > maxLines {
		all = append(all, finding{ruleLines, fmt.Sprintf("%d lines of code, more than %d: move its second idea to a package of its own", lines, maxLines)})
	}
	if n := len(p.files); n > maxFiles {
		all = append(all, finding{ruleFiles, fmt.Sprintf("%d files, more than %d: move its second idea to a package of its own", n, maxFiles)})
	}
	return all
}

// codeLines counts the lines of a file that hold a token other than a comment.
func codeLines(path string) int {
	src, err := os.ReadFile(path)
	if err != nil {
		return 0 // the parser has read it
	}
	var s scanner.Scanner
	fset := token.NewFileSet()
	file := fset.AddFile(path, -1, len(src))
	s.Init(file, src, nil, 0)
	n, last := 0, 0
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && text == "\n" {
			continue
		}
		first := file.Line(pos)
		end := first
		if tok == token.STRING { // a raw string may span lines
			end = file.Line(pos + token.Pos(len(text)) - 1)
		}
		n += end - max(first, last+1) + 1
		last = max(last, end)
	}
}
