package receiver

import (
	"slices"

	"github.com/keyheat/keyheat/internal/say/wording"
)

// Labels are the labels that distinguish incidents. Their names match silences' matchers;
// a policy's labels have no prefix. Unprintable values are
// quoted: accounts and Regions come from samples. Unknown labels are left out.
func (n *Notice) Labels() map[string]string {
	i := &n.Incident
	all := map[string]string{
		"account": i.Account, "region": i.Region, "table": i.Table, "index": i.Index,
		"case": string(i.Case), "subject": string(i.Subject), "owner": i.Owner,
	}
	for name, value := range i.Labels {
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
