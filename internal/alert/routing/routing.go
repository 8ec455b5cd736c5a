// Package routing decides which receivers are told of an incident.
package routing

import (
	"fmt"
	"path"
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// Tree is a list of routes. An incident takes the first that matches, and goes on to
// the next ones where that says so; one that no route matches is told to nobody.
type Tree []Route

// Route is where incidents of some kind go.
type Route struct {
	Match     Match
	Receivers []string
	// Continue has an incident that matches take the next route that matches too.
	Continue bool
}

// Match chooses incidents. An empty field takes any. Texts are patterns as in
// path.Match.
type Match struct {
	Account, Region, Table, Index string
	// Cause is the incident's, Kind that of the finding that it is about.
	Cause, Kind string
	Owner       string
	// Severities are those that match.
	Severities []string
	// Labels are those of the table's policy.
	Labels map[string]string
}

// Everything sends all incidents to these receivers.
func Everything(receivers ...string) Tree { return Tree{{Receivers: receivers}} }

// Receivers returns who is told of an incident, whose root finding is of a kind: each
// once, in the order of the routes. Nobody is told of what is only worth knowing.
func (t Tree) Receivers(i *detect.Incident, kind detect.Kind) []string {
	var to []string
	if i.Severity == detect.Info {
		return nil
	}
	for _, r := range t {
		if !r.Match.matches(i, kind) {
			continue
		}
		for _, name := range r.Receivers {
			if !slices.Contains(to, name) {
				to = append(to, name)
			}
		}
		if !r.Continue {
			break
		}
	}
	return to
}

func (m *Match) matches(i *detect.Incident, kind detect.Kind) bool {
	for _, f := range m.fields() {
		if f.pattern != "" && !matches(f.pattern, text(f.name, i, kind)) {
			return false
		}
	}
	if len(m.Severities) > 0 && !slices.Contains(m.Severities, string(i.Severity)) {
		return false
	}
	for name, pattern := range m.Labels {
		if !matches(pattern, i.Labels[name]) {
			return false
		}
	}
	return true
}

func matches(pattern, text string) bool {
	match, err := path.Match(pattern, text)
	return err == nil && match || pattern == text
}

// field is the pattern of one text.
type field struct{ name, pattern string }

func (m *Match) fields() []field {
	return []field{
		{"account", m.Account}, {"region", m.Region}, {"table", m.Table}, {"index", m.Index},
		{"cause", m.Cause}, {"kind", m.Kind}, {"owner", m.Owner},
	}
}

// Fault is what is wrong with one field of a match.
type Fault struct {
	Field string
	Err   error
}

// Faults returns what is wrong with a match.
func (m *Match) Faults() []Fault {
	var all []Fault
	for _, f := range m.fields() {
		if _, err := path.Match(f.pattern, ""); err != nil {
			all = append(all, Fault{f.name, fmt.Errorf("%q: %w: * stands for any text without /, ? for one character", f.pattern, err)})
		}
	}
	for _, s := range m.Severities {
		if err := faultOfSeverity(s); err != nil {
			all = append(all, Fault{"severity", err})
		}
	}
	return all
}

// faultOfSeverity returns what is wrong with a severity of which people are told.
func faultOfSeverity(s string) error {
	if s == string(detect.Critical) || s == string(detect.Warning) {
		return nil
	}
	return fmt.Errorf("%q: give critical, warning, or both; of what is worth knowing only, nobody is told", s)
}
