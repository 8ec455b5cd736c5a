// Modules tells what the programs are linked of: their licences and notices, for the
// image, and a bill of materials, for those who look for vulnerable versions.
//
//	go run ./scripts/modules licences > THIRD_PARTY_NOTICES
//	go run ./scripts/modules sbom bin/collector > collector.cdx.json
package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "modules:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	switch {
	case len(args) == 1 && args[0] == "licences":
		return licences(ctx, out)
	case len(args) == 2 && args[0] == "sbom":
		return sbom(out, args[1])
	}
	return errors.New("give licences, or sbom and a program's path")
}

// module is one that the programs are linked of.
type module struct{ Path, Version, Dir string }

// linked lists the modules of the programs, in order, and the standard library.
func linked(ctx context.Context) ([]module, error) {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/...")
	list.Stderr = os.Stderr
	text, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	seen := map[module]bool{}
	var all []module
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			continue
		}
		if m := (module{fields[0], fields[1], fields[2]}); !seen[m] {
			seen[m] = true
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b module) int { return cmp.Compare(a.Path, b.Path) })
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	where := strings.Fields(string(root))
	return append(all, module{"the Go standard library", where[1], where[0]}), nil
}

// legal are the names of files that have to go with a module.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-._].*)?$`)

// allowed are licences under which the programs may be passed on, by a phrase of each.
var allowed = []struct{ name, phrase string }{
	{"Apache-2.0", "Apache License"}, {"MIT", "Permission is hereby granted, free of charge"},
	{"BSD", "Redistribution and use in source and binary forms"}, {"ISC", "Permission to use, copy, modify, and"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"}, {"CC0-1.0", "CC0 1.0 Universal"}, {"Unlicense", "free and unencumbered software"},
}

// licences writes the texts of all modules. One without a licence that is known is an
// error: somebody has to read it.
func licences(ctx context.Context, out io.Writer) error {
	modules, err := linked(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Keyheat is linked of these modules, each under its own licence.\n")
	for _, m := range modules {
		name, texts, err := texts(m)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n%s %s (%s)\n%s\n", strings.Repeat("=", 80), m.Path, m.Version, name, strings.Repeat("=", 80))
		for _, text := range texts {
			fmt.Fprintf(out, "\n%s\n", bytes.TrimSpace(text))
		}
	}
	return nil
}

// texts returns the licence's name and the texts that go with a module.
func texts(m module) (name string, all [][]byte, err error) {
	files, err := os.ReadDir(m.Dir)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w: run go mod download", m.Path, err)
	}
	for _, f := range files {
		if f.IsDir() || !legal.MatchString(f.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, f.Name()))
		if err != nil {
			return "", nil, err
		}
		all = append(all, text)
		for _, l := range allowed {
			if name == "" && strings.Contains(strings.Join(strings.Fields(string(text)), " "), l.phrase) {
				name = l.name
			}
		}
	}
	if name == "" {
		return "", nil, fmt.Errorf("%s %s has no licence that is known here: read it, and add it to scripts/modules", m.Path, m.Version)
	}
	return name, all, nil
}

// The parts of CycloneDX 1.6 that are told.
type bill struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version,omitempty"`
	PURL       string     `json:"purl"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// sbom writes what a program says of itself that it was linked of.
func sbom(out io.Writer, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	b := bill{Format: "CycloneDX", Spec: "1.6", Version: 1}
	b.Metadata.Component = componentOf("application", &info.Main)
	b.Metadata.Component.Name = filepath.Base(program)
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		b.Components = append(b.Components, componentOf("library", d))
	}
	b.Components = append(b.Components, component{
		Type: "library", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"), PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	})
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(b)
}

func componentOf(kind string, m *debug.Module) component {
	c := component{Type: kind, Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path}
	if m.Version != "" {
		c.PURL += "@" + strings.ReplaceAll(m.Version, "+", "%2B")
	}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}
