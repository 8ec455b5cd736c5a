package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mapFile is the map of the structure, below the module's root.
const mapFile = "scripts/structure/layers.txt"

// structure is the content of mapFile.
type structure struct {
	layers  []layer
	allowed []edge
	large   []exemption
	wrong   []problem
}

// layer is a group of packages; see mapFile for its rules.
type layer struct {
	name             string
	roots            []string
	either, siblings bool
	// only are the lower layers that it may import; all if there are none.
	only []string
}

// edge is one import within a layer that mapFile allows.
type edge struct {
	from, to string
	used     bool
}

// exemption lets one package exceed some measures.
type exemption struct {
	path        string
	rules, used []rule
}

var (
	layerLine = regexp.MustCompile(`^layer ([a-z ]+?)(?: \(([a-z, ]+)\))?: (\S.*)$`)
	onlyLine  = regexp.MustCompile(`^only ([a-z ]+) -> ([a-z, ]+): \S`)
	allowLine = regexp.MustCompile(`^allow (\S+) -> (\S+): \S`)
	largeLine = regexp.MustCompile(`^large (\S+) \(([a-z, ]+)\): \S`)
)

// readMap reads mapFile below a directory.
func readMap(dir string) (*structure, error) {
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(mapFile)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	s := &structure{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line != "" && !strings.HasPrefix(line, "#") && !s.addLine(line) {
			s.wrong = append(s.wrong, problem{fmt.Sprintf("%s:%d", mapFile, n), "write a layer, only, allow or large line as the head of the file shows"})
		}
	}
	return s, lines.Err()
}

// addLine adds one line of mapFile, and reports whether it has a known form.
func (s *structure) addLine(line string) bool {
	if m := layerLine.FindStringSubmatch(line); m != nil {
		s.layers = append(s.layers, layer{name: m[1], roots: strings.Fields(m[3]), either: strings.Contains(m[2], "either"), siblings: strings.Contains(m[2], "siblings")})
		return true
	}
	if m := onlyLine.FindStringSubmatch(line); m != nil {
		i := slices.IndexFunc(s.layers, func(l layer) bool { return l.name == m[1] })
		if i >= 0 {
			s.layers[i].only = strings.Split(m[2], ", ")
		}
		return i >= 0
	}
	if m := allowLine.FindStringSubmatch(line); m != nil {
		s.allowed = append(s.allowed, edge{from: m[1], to: m[2]})
		return true
	}
	if m := largeLine.FindStringSubmatch(line); m != nil {
		x := exemption{path: m[1]}
		for name := range strings.SplitSeq(m[2], ",") {
			x.rules = append(x.rules, rule(strings.TrimSpace(name)))
		}
		s.large = append(s.large, x)
		return !within(m[1], "detect") // the judgement keeps to the measure always
	}
	return false
}

// checkImports reports imports that run upward, or across a layer without an allow line,
// and allow lines that no import needs.
func (s *structure) checkImports(m *module) []problem {
	all := s.wrong
	for _, p := range m.packages {
		from := s.layerOf(p.path)
		if from < 0 {
			all = append(all, problem{p.path, "has no layer: add its root to " + mapFile})
			continue
		}
		for _, imported := range p.imports {
			i := slices.IndexFunc(s.allowed, func(e edge) bool { return e.from == p.path && e.to == imported })
			if i >= 0 {
				s.allowed[i].used = true
			}
			if to := s.layerOf(imported); i < 0 || to != from {
				if what := s.judgeImport(from, to, p.path, imported); what != "" {
					all = append(all, problem{p.path, what})
				}
			}
		}
	}
	for _, e := range s.allowed {
		if !e.used {
			all = append(all, problem{mapFile, fmt.Sprintf("%s does not import %s: delete the line", e.from, e.to)})
		}
	}
	return all
}

// judgeImport returns the fault of an import, empty for none.
func (s *structure) judgeImport(from, to int, importer, imported string) string {
	below := within(imported, importer)
	switch {
	case to > from:
		return fmt.Sprintf("imports %s: %s must not know %s above it", imported, s.layers[from].name, s.layers[to].name)
	case to < from && len(s.layers[from].only) > 0 && !slices.Contains(s.layers[from].only, s.layers[to].name):
		return fmt.Sprintf("imports %s: %s must not know %s", imported, s.layers[from].name, s.layers[to].name)
	case to < from, within(importer, imported), within(imported, importer+"/internal"):
		return ""
	case below && s.layers[from].either, !below && s.layers[from].siblings:
		return ""
	case below:
		return fmt.Sprintf("imports %s: a package must not know packages below its own path", imported)
	}
	return fmt.Sprintf("imports %s: two packages of the layer %q must not know each other; move their shared part down, or allow it in %s", imported, s.layers[from].name, mapFile)
}

// layerOf returns the index of a package's layer, -1 for none.
func (s *structure) layerOf(path string) int {
	at, longest := -1, 0
	for i, l := range s.layers {
		for _, root := range l.roots {
			if within(path, root) && len(root) > longest {
				at, longest = i, len(root)
			}
		}
	}
	return at
}

// within reports whether a path is a root or below it.
func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}

// filter returns the findings on a package from which mapFile does not exempt it.
func (s *structure) filter(p *pkg, groups ...[]finding) []problem {
	i := slices.IndexFunc(s.large, func(x exemption) bool { return x.path == p.path })
	var all []problem
	for _, f := range slices.Concat(groups...) {
		if i >= 0 && slices.Contains(s.large[i].rules, f.rule) {
			s.large[i].used = append(s.large[i].used, f.rule)
			continue
		}
		all = append(all, problem{p.path, f.what})
	}
	return all
}

// unusedExemptions reports exemptions that no package needs.
func (s *structure) unusedExemptions() []problem {
	var all []problem
	for _, x := range s.large {
		for _, r := range x.rules {
			if !slices.Contains(x.used, r) {
				all = append(all, problem{mapFile, fmt.Sprintf("%s keeps to the measure of %s: delete the exemption", x.path, r)})
			}
		}
	}
	return all
}
