// Package routing chooses the receivers of an incident, and combines incidents into common
// messages for a receiver, as Alertmanager groups alerts. It is pure: the judge reports
// changes of incidents, asks for due groups, and stores the changed groups in the transaction
// that stores the incidents and the notifications. A judge that dies loses no member and
// repeats no message, because a group's row holds its whole state.
//
// # The life of a group
//
// A group is a receiver and the incidents' values of the route's group_by. It begins with
// the first incident. After group_wait its first message is sent as firing, with all
// members so far. New members, worse ones and ends follow in one update, group_interval
// after the last message at the earliest. When all members are over the group ends: it is
// sent as resolved, and its row goes. A later incident begins another life of the same
// group, under the same ID, by which receivers deduplicate.
//
// # Messages that do not wait
//
// A member that is worse than the last message goes out at once: a page must not wait for
// five minutes because a warning came first. So does the end of the last member, where
// Alertmanager waits for its interval: incidents fire on for a minute after their last
// hot second, which keeps ends from flapping, and a pager that shows ended incidents
// wakes people for nothing.
//
// # Incidents without a message
//
// If all members end before group_wait does, no message is sent, like an incident that
// ends before its first attempt. An incident that begins and ends between two updates is
// in the next one.
package routing

import (
	"fmt"
	"path"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/settings/options"
)

// Tree is a list of routes. An incident takes the first matching route, and goes on to
// the next ones if the route continues; an incident without a matching route reaches
// nobody.
type Tree []Route

// Route is where incidents of some kind go.
type Route struct {
	Match     Match
	Receivers []string
	// Group combines incidents into common messages; nil for one message each.
	Group *Grouping
	// Continue has an incident that matches take the next route that matches too.
	Continue bool
}

// Destination is a receiver of an incident.
type Destination struct {
	Receiver string
	// Group chooses the incidents of a common message; nil for a message of its own.
	Group *Grouping
}

// Match chooses incidents. An empty field takes any. Texts are patterns as in
// path.Match.
type Match struct {
	Account, Region, Table, Index string
	// Cause is the incident's, Kind the root finding's.
	Cause, Kind string
	Owner       string
	Severities  []string
	// Labels are labels of the table's policy.
	Labels map[string]string
}

// Everything sends all incidents to these receivers.
func Everything(receivers ...string) Tree { return Tree{{Receivers: receivers}} }

// Destinations returns the receivers of an incident with its root finding: each receiver
// once, from its first matching route, in the order of the routes. `info` findings are
// never sent.
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

// matches reports whether a route takes an incident. Writes to a global table are in all
// of its Regions, so a match in any of them counts: a silence that needed all would page
// people, and a route would skip them.
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

type field struct{ name, pattern string }

func (m *Match) fields() []field {
	return []field{
		{"account", m.Account}, {"region", m.Region}, {"table", m.Table}, {"index", m.Index},
		{"cause", m.Cause}, {"kind", m.Kind}, {"owner", m.Owner},
	}
}

// Faults returns the faults of a match.
func (m *Match) Faults() []options.Fault {
	var all []options.Fault
	for _, f := range m.fields() {
		if _, err := path.Match(f.pattern, ""); err != nil {
			all = append(all, options.Fault{Field: f.name, Err: fmt.Errorf("%q: %w: * stands for any text without /, ? for one character", f.pattern, err)})
		} else if err := checkPattern(f.name, f.pattern, func(text string) bool { return matches(f.pattern, text) }); err != nil {
			all = append(all, options.Fault{Field: f.name, Err: err})
		}
	}
	for _, s := range m.Severities {
		if err := faultOfSeverity(s); err != nil {
			all = append(all, options.Fault{Field: "severity", Err: err})
		}
	}
	return all
}

// faultOfSeverity returns the fault of a severity that should page people.
func faultOfSeverity(s string) error {
	if s == string(detect.Critical) || s == string(detect.Warning) {
		return nil
	}
	return fmt.Errorf("%q: give critical, warning, or both; of what is worth knowing only, nobody is told", s)
}
