package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// rule is the name by which docs/ARCHITECTURE.md exempts a package.
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

// exemptionsFile holds the exemptions, under exemptionsHeading.
const (
	exemptionsFile    = "docs/ARCHITECTURE.md"
	exemptionsHeading = "## Packages beyond the measure"
)

// exemption lets one package break some rules. used are those it broke.
type exemption struct {
	rules, used []rule
}

type exemptions struct {
	packages map[string]*exemption
	wrong    []problem
}

// exemptionLine is "- `store` (lines, files): the reason".
var exemptionLine = regexp.MustCompile("^- `([^`]+)` \\(([a-z, ]+)\\): +\\S")

// readExemptions reads the list in exemptionsFile; none when it is missing.
func readExemptions(dir string) (*exemptions, error) {
	e := &exemptions{packages: make(map[string]*exemption)}
	text, err := os.ReadFile(filepath.Join(dir, exemptionsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	inside := false
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "## ") {
			inside = line == exemptionsHeading
		}
		if inside && strings.HasPrefix(line, "- ") {
			e.add(fmt.Sprintf("%s:%d", exemptionsFile, i+1), line)
		}
	}
	return e, nil
}

func (e *exemptions) add(where, line string) {
	m := exemptionLine.FindStringSubmatch(line)
	if m == nil {
		e.wrong = append(e.wrong, problem{where, "write - `package` (circle, lines, files): the reason"})
		return
	}
	if neverExempt(m[1]) {
		e.wrong = append(e.wrong, problem{where, m[1] + " keeps to the measure always"})
		return
	}
	x := &exemption{}
	for name := range strings.SplitSeq(m[2], ",") {
		r := rule(strings.TrimSpace(name))
		if r != ruleCircle && r != ruleLines && r != ruleFiles {
			e.wrong = append(e.wrong, problem{where, fmt.Sprintf("no rule %q: name circle, lines or files", r)})
		}
		x.rules = append(x.rules, r)
	}
	e.packages[m[1]] = x
}

// neverExempt reports whether a package belongs to the judgement, which has to
// stay readable room by room.
func neverExempt(path string) bool {
	return path == "detect" || strings.HasPrefix(path, "detect/")
}

// filter returns the findings on a package that it is not exempt from.
func (e *exemptions) filter(p *pkg, groups ...[]finding) []problem {
	var all []problem
	x := e.packages[p.path]
	for _, f := range slices.Concat(groups...) {
		if x != nil && slices.Contains(x.rules, f.rule) {
			x.used = append(x.used, f.rule)
			continue
		}
		all = append(all, problem{p.path, f.what})
	}
	return all
}

// unused reports exemptions that are malformed or that nothing needs any more.
func (e *exemptions) unused() []problem {
	all := e.wrong
	for path, x := range e.packages {
		for _, r := range x.rules {
			if !slices.Contains(x.used, r) {
				all = append(all, problem{exemptionsFile, fmt.Sprintf("%s keeps to the measure of %s: take the exemption out", path, r)})
			}
		}
	}
	return all
}
