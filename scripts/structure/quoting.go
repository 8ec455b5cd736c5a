package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// readable are the roots of the packages that write for people. Text of the monitored
// system gets into their sentences through the quoting of internal/say alone.
var readable = []string{"internal/say", "internal/web", "internal/report", "internal/analyze", "internal/alert", "cmd"}

// quoting is the package that may convert such text.
const quoting = "internal/say/wording"

// foreign is the type of such text.
const foreign = "sample.Text"

// quotingProblems reports text of the monitored system that becomes a string, or a part of
// one, without being quoted.
func quotingProblems(m *module) (all []problem) {
	for _, p := range m.packages {
		if within(p.path, quoting) || !slices.ContainsFunc(readable, func(root string) bool { return within(p.path, root) }) {
			continue
		}
		report := func(at token.Pos) {
			all = append(all, problem{p.at(at), "write a " + foreign + " with %s, or by " + quoting + "'s Quote or Printable: text of the monitored system is not for people as it is"})
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if p.info.Types[n.Fun].IsType() && len(n.Args) == 1 && m.isForeign(p, n.Args[0]) && !m.isForeign(p, n) {
						report(n.Pos())
					}
				case *ast.BinaryExpr:
					if n.Op == token.ADD && m.isForeign(p, n) {
						report(n.Pos())
					}
				case *ast.AssignStmt:
					if n.Tok == token.ADD_ASSIGN && m.isForeign(p, n.Lhs[0]) {
						report(n.Pos())
					}
				}
				return true
			})
		}
	}
	return all
}

// isForeign reports whether an expression is text of the monitored system, or of a type
// parameter that may stand for it. A constant is Keyheat's own.
func (m *module) isForeign(p *pkg, e ast.Expr) bool {
	v := p.info.Types[e]
	if v.Type == nil || v.Value != nil {
		return false
	}
	if parameter, is := types.Unalias(v.Type).(*types.TypeParam); is {
		basic, is := coreType(parameter).(*types.Basic)
		return is && basic.Kind() == types.String
	}
	return types.TypeString(v.Type, nil) == m.path+"/"+foreign
}

// coreType returns the underlying type of a type parameter whose constraint is one term;
// nil for others.
func coreType(p *types.TypeParam) types.Type {
	constraint, is := p.Constraint().Underlying().(*types.Interface)
	if !is || constraint.NumEmbeddeds() != 1 {
		return nil
	}
	if union, is := constraint.EmbeddedType(0).(*types.Union); is && union.Len() == 1 {
		return union.Term(0).Type().Underlying()
	}
	return nil
}
