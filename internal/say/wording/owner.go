package wording

import "github.com/keyheat/keyheat/detect"

// Owner returns the account and Region of a table as far as they are known.
func Owner(of detect.Target) string {
	if of.Account != "" && of.Region != "" {
		return Printable(of.Account + " " + of.Region)
	}
	return Printable(of.Account + of.Region)
}

// Owners returns the account and Region of the table of each row. A table without both is
// marked as unknown if the list has another of its name.
func Owners[R any](rows []R, target func(*R) detect.Target) []string {
	all, elsewhere := make([]string, len(rows)), make(map[string]bool)
	for i := range rows {
		of := target(&rows[i])
		if all[i] = Owner(of); all[i] != "" {
			elsewhere[of.Table] = true
		}
	}
	for i := range rows {
		if all[i] == "" && elsewhere[target(&rows[i]).Table] {
			all[i] = "account and Region unknown"
		}
	}
	return all
}
