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
	// Group says how incidents are told of together; nil for one by one.
	Group *Grouping
	// Continue has an incident that matches take the next route that matches too.
	Continue bool
}

// Destination is a receiver that is told of an incident.
type Destination struct {
	Receiver string
	// Group says with which other incidents; nil for by itself.
	Group *Grouping
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

// Destinations returns who is told of an incident with its root finding: each receiver
// once, as the first route says that has it, in the order of the routes. Nobody is told
// of what is only worth knowing.
func (t Tree) Destinations(i *detect.Incident, root *detect.Finding) []Destination {
	var to []Destination
	if i.Severity == detect.Info {
		return nil
	}
	for _, r := range t {
		if !r.Match.matches(i, root) {
			continue
		}
		for _, name := range r.Receivers {
			if !slices.ContainsFunc(to, func(d Destination) bool { return d.Receiver == name }) {
				to = append(to, Destination{name, r.Group})
			}
		}
		if !r.Continue {
			break
		}
	}
	return to
}

// matches reports whether a route is one of an incident. Of writes to a global table,
// which are in all of its Regions, it is where any of them matches: a silence that chose
// any would hide the others from people, and a route that did not would.
func (m *Match) matches(i *detect.Incident, root *detect.Finding) bool {
	for _, f := range m.fields() {
		matched := func(text string) bool { return matches(f.pattern, text) }
		if f.pattern != "" && !slices.ContainsFunc(texts(f.name, i, root), matched) {
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
