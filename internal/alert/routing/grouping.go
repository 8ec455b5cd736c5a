package routing

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/settings/options"
)

// The default times of a Grouping, which are Alertmanager's.
const (
	defaultWait     = 30 * time.Second
	defaultInterval = 5 * time.Minute
)

const (
	// ofReceiver groups all incidents of a receiver.
	ofReceiver = "receiver"
	// byAll is Alertmanager's name for all labels: each incident is a group of its own.
	byAll = "..."
)

// Grouping combines a route's incidents into common messages. Its terms are
// Alertmanager's.
type Grouping struct {
	// By are the names of the texts that the incidents of a group have in common.
	By []string
	// Wait is how long a group waits for others before its first message, Interval the
	// time between two of its messages.
	Wait, Interval time.Duration
}

// NewGrouping returns a route's grouping, with the default times for nil ones, nil for no
// grouping, or its faults: each with its field, under the routes' names.
func NewGrouping(by []string, wait, interval *time.Duration) (*Grouping, []options.Fault) {
	g := &Grouping{By: by, Wait: defaultWait, Interval: defaultInterval}
	var faults []options.Fault
	fault := func(field, format string, args ...any) {
		faults = append(faults, options.Fault{Field: field, Err: fmt.Errorf(format, args...)})
	}
	apart := len(by) == 0 || slices.Equal(by, []string{byAll})
	for _, t := range []struct {
		field string
		given *time.Duration
		taken *time.Duration
	}{{"group_wait", wait, &g.Wait}, {"group_interval", interval, &g.Interval}} {
		switch {
		case t.given == nil:
			continue
		case apart:
			fault(t.field, "nothing is grouped here: give group_by, such as [table], or take this out")
		case *t.given < 0 || *t.given > 24*time.Hour:
			fault(t.field, "%s: give a time from 0s to 24h", *t.given)
		}
		*t.taken = *t.given
	}
	if apart {
		return nil, faults
	}
	for n, name := range by {
		switch {
		case name == byAll:
			fault("group_by", "%q stands for all labels: give it alone, to tell of each incident by itself", name)
		case name == "incident":
			fault("group_by", "each incident would be a group: leave group_by out to tell of each by itself")
		case name != ofReceiver && !isName(name):
			fault("group_by", "there is no %.40q: give %s, %sNAME, or %s for all that the route tells one", name, strings.Join(groupNames(), ", "), labelPrefix, ofReceiver)
		case !IsLine(name) || len(name) > maxValue:
			fault("group_by", "%.40q is not one short line of text", name)
		case slices.Contains(by[:n], name):
			fault("group_by", "%q is there twice", name)
		}
	}
	return g, faults
}

func groupNames() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return name == "incident" })
}

// Labels returns the values that determine the group of an incident with its root
// finding. For writes to a global table the Region is all of the table's, whichever one
// the root is in.
func (g *Grouping) Labels(i *detect.Incident, root *detect.Finding) map[string]string {
	labels := make(map[string]string, len(g.By))
	for _, name := range g.By {
		if name != ofReceiver {
			labels[name] = strings.Join(texts(name, i, root), ",")
		}
	}
	return labels
}

// GroupName names the common values of a group's incidents.
func GroupName(labels map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, fmt.Sprintf("%s=%q", name, labels[name]))
	}
	return cmp.Or(strings.Join(all, " "), "all incidents")
}
