package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	// linked is a name in brackets, such as Name, Type.Method or pkg.Name.
	linked = regexp.MustCompile(`\[\*?((?:[\w/]+\.)?[A-Z]\w*(?:\.[A-Z]\w*)?)\]`)
	// qualified is a name of a package, such as detect.Finding.
	qualified = regexp.MustCompile(`(?:^|[\s(])([a-z]\w*\.[A-Z]\w*)`)
	// placed is a path of the tree, and quoted one in backquotes; made is a target of make.
	placed = regexp.MustCompile(`\b(?:cmd|detect|internal|sketch|store|sample|shardkey|scripts|bench|e2e)/[\w/.-]+\.go\b`)
	quoted = regexp.MustCompile("`((?:cmd|detect|internal|sketch|store|sample|shardkey|migrations|docs|deploy|scripts|bench|e2e)/[\\w/.-]+)`")
	// member is a name within the package of a path.
	member = regexp.MustCompile(`\.[A-Z].*`)
	made   = regexp.MustCompile("`make ([a-z0-9-]+)[^`]*`")
)

// referenceProblems reports names and paths in comments and documents that do not exist.
func referenceProblems(m *module, dir string) ([]problem, error) {
	targets, err := os.ReadFile(filepath.Join(dir, "Makefile"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var all []problem
	add := func(where, name string) {
		all = append(all, problem{where, fmt.Sprintf("there is no %s: name what is there", name)})
	}
	paths := func(where, text string, of *regexp.Regexp) {
		for _, found := range of.FindAllStringSubmatch(text, -1) {
			path := strings.TrimRight(member.ReplaceAllString(found[len(found)-1], ""), ".")
			if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
				add(where, path)
			}
		}
	}
	for _, p := range m.packages {
		for _, f := range p.files {
			for _, g := range f.Comments {
				for _, c := range g.List {
					where := p.at(c.Pos())
					paths(where, c.Text, placed)
					if strings.HasPrefix(c.Text, "//\t") {
						continue // code
					}
					for _, name := range append(linked.FindAllStringSubmatch(c.Text, -1), qualified.FindAllStringSubmatch(c.Text, -1)...) {
						if !m.names(p, f, name[1]) {
							add(where, name[1])
						}
					}
				}
			}
		}
	}
	err = readDocuments(dir, func(path, text string) {
		paths(path, text, quoted)
		for _, target := range made.FindAllStringSubmatch(text, -1) {
			if !strings.Contains(string(targets), "\n"+target[1]+":") {
				add(path, "make "+target[1])
			}
		}
	})
	return all, err
}

// names reports whether a name in a comment of a file exists. Of a package that neither the
// file imports nor the module has, nothing is known.
func (m *module) names(p *pkg, f *ast.File, name string) bool {
	parts := strings.Split(name, ".")
	if parts[0][0] >= 'A' && parts[0][0] <= 'Z' {
		return hasName(p.types, parts)
	}
	known, found := false, false
	look := func(of *types.Package) {
		if of != nil && (of.Name() == filepath.Base(parts[0])) {
			known, found = true, found || hasName(of, parts[1:])
		}
	}
	for _, of := range p.types.Imports() {
		look(of)
	}
	for _, other := range m.packages {
		look(other.types)
	}
	return found || !known
}

// hasName reports whether a package declares a name, or a type with a method or field of the
// second name.
func hasName(of *types.Package, parts []string) bool {
	declared := of.Scope().Lookup(parts[0])
	if declared == nil || len(parts) == 1 {
		return declared != nil
	}
	member, _, _ := types.LookupFieldOrMethod(types.NewPointer(declared.Type()), true, of, parts[1])
	if member == nil {
		member, _, _ = types.LookupFieldOrMethod(declared.Type(), true, of, parts[1])
	}
	return member != nil
}
