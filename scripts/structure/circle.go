package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	// maxCircle is the most files of a package that may all refer to each other, directly
	// or through others. A reader of one of them has to read all.
	maxCircle = 8
	// smallPackage is the most files of a package that may form any circle: a reader of
	// such a package reads all of it anyway.
	smallPackage = 12
)

// circleProblems reports the circles of files that are larger than maxCircle.
func circleProblems(p *pkg) []finding {
	if len(p.files) <= smallPackage {
		return nil
	}
	var all []finding
	for _, circle := range circles(fileReferences(p)) {
		if len(circle) > maxCircle {
			all = append(all, finding{ruleCircle, fmt.Sprintf(
				"%d files refer to each other in one circle, more than %d: move one idea to a package of its own (%s)",
				len(circle), maxCircle, strings.Join(circle, " "))})
		}
	}
	return all
}

// fileReferences maps each file to the files of the same package that declare
// what it uses: functions, types, variables, constants, methods and fields.
func fileReferences(p *pkg) map[string]map[string]bool {
	references := make(map[string]map[string]bool, len(p.files))
	for _, f := range p.files {
		references[p.name(f.Package)] = make(map[string]bool)
	}
	for ident, object := range p.info.Uses {
		if object.Pkg() != p.types || !object.Pos().IsValid() {
			continue
		}
		if from, to := p.name(ident.Pos()), p.name(object.Pos()); from != to {
			references[from][to] = true
		}
	}
	return references
}

// circles returns the strongly connected components with more than one node,
// each sorted, by Tarjan's algorithm.
func circles(graph map[string]map[string]bool) [][]string {
	t := tarjan{graph: graph, index: make(map[string]int), low: make(map[string]int), open: make(map[string]bool)}
	for _, node := range slices.Sorted(maps.Keys(graph)) {
		if _, seen := t.index[node]; !seen {
			t.visit(node)
		}
	}
	return t.found
}

type tarjan struct {
	graph      map[string]map[string]bool
	index, low map[string]int
	open       map[string]bool
	stack      []string
	found      [][]string
}

func (t *tarjan) visit(node string) {
	t.index[node] = len(t.index)
	t.low[node] = t.index[node]
	t.stack = append(t.stack, node)
	t.open[node] = true
	for _, next := range slices.Sorted(maps.Keys(t.graph[node])) {
		if _, seen := t.index[next]; !seen {
			t.visit(next)
			t.low[node] = min(t.low[node], t.low[next])
		} else if t.open[next] {
			t.low[node] = min(t.low[node], t.index[next])
		}
	}
	if t.low[node] != t.index[node] {
		return
	}
	at := slices.Index(t.stack, node)
	component := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, n := range component {
		t.open[n] = false
	}
	if len(component) > 1 {
		slices.Sort(component)
		t.found = append(t.found, component)
	}
}
