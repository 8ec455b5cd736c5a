package notify

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
)

func (n *Notice) groupFacts() []Fact {
	facts := append(n.delayFacts(), Fact{Name: "Severity", Value: string(n.Severity())})
	if common := say.GroupLabels(n.Group, ", ", func(name, value string) string { return name + " " + value }); common != "" {
		facts = append(facts, Fact{Name: "Group", Value: common})
	}
	facts = append(facts, Fact{Name: "Since", Value: instant(n.Group.OpenedAt)})
	for i := range n.Members {
		facts = append(facts, Fact{Name: fmt.Sprintf("Incident %d", i+1), Value: n.Members[i].Headline(), Wide: true})
	}
	if more := n.Group.Firing + n.Group.Over - len(n.Group.Members); more > 0 {
		facts = append(facts, Fact{Name: "Incidents", Value: "and " + wording.Count(int64(more)) + " more", Wide: true})
	}
	if drawn := sparkline(n.Recent); drawn != "" {
		facts = append(facts, Fact{Name: "Load of the worst", Value: drawn, Wide: true})
	}
	return facts
}

// filters are the labels of a group that the page of findings filters by.
var filters = []string{"account", "region", "table", "kind", "severity"}

// groupPage is the page of a group's incidents, filtered by their common values as far as
// pages can. It is the worst incident's page if there is no filter.
func (n *Notice) groupPage(pages, worst string) string {
	query := url.Values{}
	for _, name := range filters {
		value := n.Group.Labels[name]
		if value != "" && !(name == "region" && strings.Contains(value, ",")) { // a global table's incident has several Regions
			query.Set(name, value)
		}
	}
	if n.Group.Total == 1 || len(query) == 0 {
		return worst
	}
	return pages + "/?" + query.Encode()
}

// Labels are the labels that distinguish incidents, or a group's common ones. Their names
// match routes' matchers; a policy's labels have no prefix. Unprintable values are
// quoted: accounts and Regions come from samples. Unknown labels are left out.
func (n *Notice) Labels() map[string]string {
	i := &n.Incident
	all := map[string]string{
		"account": i.Account, "region": i.Region, "table": i.Table, "index": i.Index,
		"cause": string(i.Cause), "kind": string(n.Finding.Kind), "owner": i.Owner,
	}
	policy := i.Labels
	if n.Group != nil {
		clear(all)
		policy = make(map[string]string)
		for name, value := range n.Group.Labels {
			if label, is := strings.CutPrefix(name, "labels."); is {
				policy[label] = value
			} else {
				all[name] = value
			}
		}
	}
	for name, value := range policy {
		if _, taken := all[name]; !taken && !slices.Contains(reserved, name) {
			all[name] = value
		}
	}
	for name, value := range all {
		if all[name] = wording.Printable(value); value == "" {
			delete(all, name)
		}
	}
	return all
}

// reserved are the names of labels that receivers add themselves.
var reserved = []string{"alertname", "severity", "incident", "key"}

// Incidents is the number of firing incidents in the notice.
func (n *Notice) Incidents() int {
	if n.Group != nil {
		return n.Group.Firing
	}
	return 1
}
