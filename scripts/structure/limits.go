package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math"
	"path/filepath"
	"regexp"
	"strings"
)

// limitsPackage and limitsFile are the one place of DynamoDB's limits and of the
// numbers that Keyheat decides by.
const (
	limitsPackage = "detect"
	limitsFile    = "limits.go"
)

// limited are the packages, with those below, that decide by limits or show them.
var limited = []string{"detect", "internal/analyze", "internal/judge", "internal/web"}

// leastDistinct is the least value that is unlikely to be meant otherwise: any
// literal of a limit's value from there on is one. Below, only use tells.
const leastDistinct = 2000

// notALimit on a literal's line, with a reason behind it, exempts the line.
const notALimit = "// not a limit: "

// limitInText finds a partition's limits in a sentence.
var limitInText = regexp.MustCompile(`(?i)\b(1,?000|3,?000)( |-)?(wcu|rcu|write|read)|\b(wcu|rcu)\b[^.]{0,30}\bof (1,000|3,000)\b`)

// limitProblems reports limits that are typed outside of limitsFile:
//
//   - a literal that equals a constant of limitsFile of 2,000 or more, or one of
//     its durations, unless it is a power of two;
//   - a number of units that is divided by 1000, or a limit of 1000 units. What is
//     converted from an integer counts thousandths of units and is none;
//   - a part of a capacity, such as PartitionWrite/10: that is a decision with no
//     name;
//   - a sentence with a limit in it: write the constant into it.
func limitProblems(m *module) []problem {
	l := &limitFinder{
		capacities: make(map[string]bool), whole: make(map[string]string), fractional: make(map[string]string),
	}
	for _, p := range m.packages {
		if p.path == limitsPackage {
			l.constants(p)
		}
	}
	for _, p := range m.packages {
		for _, root := range limited {
			if within(p.path, root) {
				l.search(p)
			}
		}
	}
	return l.found
}

type limitFinder struct {
	// capacities are the constants in thousandths of units, by the package's
	// path and name.
	capacities map[string]bool
	// whole and fractional are the names of the distinct values, by the exact
	// value: as an integer may give it, and as a floating-point number may, in
	// which capacities are units.
	whole, fractional map[string]string
	found             []problem
}

// constants reads limitsFile.
func (l *limitFinder) constants(p *pkg) {
	for ident, object := range p.info.Defs {
		c, ok := object.(*types.Const)
		if !ok || p.name(ident.Pos()) != limitsFile || c.Parent() != p.types.Scope() {
			continue
		}
		inUnits := c.Val()
		if named, ok := c.Type().(*types.Named); ok && named.Obj().Name() == "Milli" {
			l.capacities[p.types.Path()+"."+c.Name()] = true
			inUnits = constant.BinaryOp(constant.ToInt(c.Val()), token.QUO, constant.MakeInt64(1000))
			add(l.whole, inUnits, c.Name())
		}
		add(l.whole, c.Val(), c.Name())
		add(l.fractional, inUnits, c.Name())
	}
}

func add(to map[string]string, v constant.Value, name string) {
	if isDistinct(v) {
		to[v.ExactString()] = name
	}
}

// isDistinct reports whether a value is at least leastDistinct and no power of
// two, which is the size of anything.
func isDistinct(v constant.Value) bool {
	f := constant.ToFloat(v)
	if f.Kind() != constant.Float {
		return false
	}
	n, _ := constant.Float64Val(f)
	fraction, _ := math.Frexp(n)
	return n >= leastDistinct && fraction != 0.5
}

func (l *limitFinder) search(p *pkg) {
	for _, f := range p.files {
		if p.path == limitsPackage && filepath.Base(p.fset.Position(f.Package).Filename) == limitsFile {
			continue
		}
		s := limitSearch{limitFinder: l, pkg: p, exempt: exemptLines(p, f)}
		s.walk(f, nil)
	}
}

// exemptLines are the lines of a file that say they hold no limit.
func exemptLines(p *pkg, f *ast.File) map[int]bool {
	lines := make(map[int]bool)
	for _, group := range f.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, notALimit) {
				lines[p.fset.Position(c.Pos()).Line] = true
			}
		}
	}
	return lines
}

// limitSearch looks through one file.
type limitSearch struct {
	*limitFinder
	pkg    *pkg
	exempt map[int]bool
}

func (s *limitSearch) report(at token.Pos, format string, args ...any) {
	if !s.exempt[s.pkg.fset.Position(at).Line] {
		s.found = append(s.found, problem{s.pkg.at(at), fmt.Sprintf(format, args...)})
	}
}

// walk looks at a node and below; a literal expression is looked at as a whole.
func (s *limitSearch) walk(n ast.Node, parent ast.Node) {
	if e, ok := n.(ast.Expr); ok && s.isLiteral(e) {
		s.literal(e, parent)
		return
	}
	ast.Inspect(n, func(child ast.Node) bool {
		if child == nil || child == n {
			return true
		}
		s.walk(child, n)
		return false
	})
}

// isLiteral reports whether an expression consists of literals alone; the units
// of package time are such.
func (s *limitSearch) isLiteral(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.ParenExpr:
		return s.isLiteral(e.X)
	case *ast.UnaryExpr:
		return s.isLiteral(e.X)
	case *ast.BinaryExpr:
		return s.isLiteral(e.X) && s.isLiteral(e.Y)
	case *ast.SelectorExpr:
		c, ok := s.pkg.info.Uses[e.Sel].(*types.Const)
		return ok && c.Pkg() != nil && c.Pkg().Path() == "time"
	}
	return false
}

func (s *limitSearch) literal(e ast.Expr, parent ast.Node) {
	v := s.pkg.info.Types[e].Value
	if v == nil {
		return // an import's path
	}
	if v.Kind() == constant.String {
		if text := constant.StringVal(v); limitInText.MatchString(text) {
			s.report(e.Pos(), "a sentence holds a limit (%s): write the constant of %s/%s into it", limitInText.FindString(text), limitsPackage, limitsFile)
		}
		return
	}
	values := s.whole
	if s.isFloat(e) {
		values = s.fractional
	}
	if name := values[v.ExactString()]; name != "" {
		s.report(e.Pos(), "%s is %s.%s: use the constant", v, limitsPackage, name)
		return
	}
	n, _ := constant.Float64Val(constant.ToFloat(v))
	b, isBinary := parent.(*ast.BinaryExpr)
	switch {
	case n == 1000 && !isBinary && s.isFloat(e):
		s.report(e.Pos(), "1000 as a number of units is a limit: use the constant of %s/%s", limitsPackage, limitsFile)
	case n == 1000 && isBinary && b.Op == token.QUO && b.Y == e && s.isShare(b.X):
		s.report(e.Pos(), "units divided by 1000 are a share of a limit: use the constant of %s/%s", limitsPackage, limitsFile)
	case isBinary && (b.Op == token.MUL || b.Op == token.QUO) && isPart(n) && s.isCapacity(other(b, e)):
		s.report(e.Pos(), "%s of a limit is a decision: give it a name in %s/%s", v, limitsPackage, limitsFile)
	}
}

// isPart reports whether a number beside a limit makes a part of it: percent and
// thousandths of units are only other units.
func isPart(n float64) bool {
	switch n {
	case 0, 1, 100, 1000:
		return false
	}
	return true
}

func other(b *ast.BinaryExpr, e ast.Expr) ast.Expr {
	if b.X == e {
		return b.Y
	}
	return b.X
}

func (s *limitSearch) isFloat(e ast.Expr) bool {
	basic, ok := s.pkg.info.Types[e].Type.Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsFloat != 0
}

// isShare reports whether an operand is a floating-point number of units, and
// neither a converted integer, which counts thousandths, nor what is rounded.
func (s *limitSearch) isShare(e ast.Expr) bool {
	if !s.isFloat(e) {
		return false
	}
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
			continue
		case *ast.CallExpr:
			return false
		}
		return true
	}
}

// isCapacity reports whether an operand is a capacity of limitsFile, converted or
// not.
func (s *limitSearch) isCapacity(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return s.isCapacity(e.X)
	case *ast.CallExpr:
		if len(e.Args) == 1 && s.pkg.info.Types[e.Fun].IsType() {
			return s.isCapacity(e.Args[0])
		}
		return false
	case *ast.Ident:
		return s.isLimit(e)
	case *ast.SelectorExpr:
		return s.isLimit(e.Sel)
	}
	return false
}

func (s *limitSearch) isLimit(id *ast.Ident) bool {
	c, ok := s.pkg.info.Uses[id].(*types.Const)
	return ok && c.Pkg() != nil && s.capacities[c.Pkg().Path()+"."+c.Name()]
}
