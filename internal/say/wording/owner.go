package wording

import "github.com/keyheat/keyheat/detect"

// Owner returns the account and Region of a table as far as they are known.
func Owner(of detect.Target) string {
	if of.Account != "" && of.Region != "" {
		return Printable(of.Account + " " + of.Region)
	}
	return Printable(of.Account + of.Region)
}

// Owners returns the account and Region of each table. A table without both is marked as
// unknown if the list has another of its name.
func Owners(of []detect.Target) []string {
	all, elsewhere := make([]string, len(of)), make(map[string]bool)
	for i, target := range of {
		if all[i] = Owner(target); all[i] != "" {
			elsewhere[target.Table] = true
		}
	}
	for i, target := range of {
		if all[i] == "" && elsewhere[target.Table] {
			all[i] = "account and Region unknown"
		}
	}
	return all
}
