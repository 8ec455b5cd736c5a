package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is the code of the module in a directory, type-checked, without tests.
type module struct {
	path     string
	fset     *token.FileSet
	packages []*pkg
}

// pkg is one package of the module.
type pkg struct {
	// path is the import path below the module's, "." for the module's root.
	path    string
	imports []string
	fset    *token.FileSet
	files   []*ast.File
	sources []source
	info    *types.Info
	types   *types.Package
}

// source is the text of one file.
type source struct{ path, text string }

// at is a line, counted from 0, as path/file.go:line.
func (s source) at(line int) string { return fmt.Sprintf("%s:%d", s.path, line+1) }

// name is the base name of the file that a position is in.
func (p *pkg) name(pos token.Pos) string {
	return filepath.Base(p.fset.Position(pos).Filename)
}

// at is a position as path/file.go:line.
func (p *pkg) at(pos token.Pos) string {
	at := p.fset.Position(pos)
	return fmt.Sprintf("%s/%s:%d", p.path, filepath.Base(at.Filename), at.Line)
}

// listed is what is read of `go list -json`.
type listed struct {
	Dir, ImportPath, Export string
	GoFiles, Imports        []string
	Standard, DepOnly       bool
	Module                  *struct{ Path string }
}

// load lists the module's packages and type-checks each against the compiler's
// export data of what it imports, which the build cache has.
func load(ctx context.Context, dir string) (*module, error) {
	all, err := list(ctx, dir)
	if err != nil {
		return nil, err
	}
	exports := make(map[string]string, len(all))
	for _, l := range all {
		exports[l.ImportPath] = l.Export
	}
	m := &module{fset: token.NewFileSet()}
	from := importer.ForCompiler(m.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, l := range all {
		if l.DepOnly || l.Module == nil || len(l.GoFiles) == 0 {
			continue
		}
		m.path = l.Module.Path
		p, err := m.parse(l, from)
		if err != nil {
			return nil, err
		}
		m.packages = append(m.packages, p)
	}
	if len(m.packages) == 0 {
		return nil, errors.New("no packages found")
	}
	return m, nil
}

func list(ctx context.Context, dir string) ([]listed, error) {
	c := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles,Imports,Standard,DepOnly,Module", "./...")
	var errs bytes.Buffer
	c.Dir, c.Stderr = dir, &errs
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, errs.String())
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var l listed
		if err := d.Decode(&l); err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, l)
	}
	return all, nil
}

func (m *module) parse(l listed, from types.Importer) (*pkg, error) {
	p := &pkg{path: m.below(l.ImportPath), fset: m.fset, info: &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object),
		Defs: make(map[*ast.Ident]types.Object), Selections: make(map[*ast.SelectorExpr]*types.Selection),
	}}
	for _, path := range l.Imports {
		if path == m.path || strings.HasPrefix(path, m.path+"/") {
			p.imports = append(p.imports, m.below(path))
		}
	}
	for _, name := range l.GoFiles {
		text, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(m.fset, filepath.Join(l.Dir, name), text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		p.sources = append(p.sources, source{p.path + "/" + name, string(text)})
		p.files = append(p.files, f)
	}
	var err error
	config := types.Config{Importer: from}
	if p.types, err = config.Check(l.ImportPath, m.fset, p.files, p.info); err != nil {
		return nil, fmt.Errorf("type-check %s: %w", l.ImportPath, err)
	}
	return p, nil
}

// below is an import path relative to the module's.
func (m *module) below(path string) string {
	if path == m.path {
		return "."
	}
	return strings.TrimPrefix(path, m.path+"/")
}
