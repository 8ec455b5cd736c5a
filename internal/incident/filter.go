package incident

import (
	"fmt"
	"path"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/settings/options"
)

// Filter chooses the incidents that a receiver gets. An empty field takes all.
type Filter struct {
	// Tables and Accounts are patterns as in [path.Match]. An incident of Keyheat itself
	// has no table, and passes: whoever relies on any table must know that nobody is
	// watching.
	Tables, Accounts []string
	// Severities are critical, warning or both.
	Severities []string
}

// Takes reports whether the receiver gets an incident. Nobody gets info.
func (f *Filter) Takes(i *detect.Incident) bool {
	ofKeyheat := i.Table == ""
	return i.Severity != detect.Info &&
		(len(f.Severities) == 0 || slices.Contains(f.Severities, string(i.Severity))) &&
		(ofKeyheat || matchesAny(f.Tables, i.Table) && matchesAny(f.Accounts, i.Account))
}

func matchesAny(patterns []string, text string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(pattern string) bool {
		match, err := path.Match(pattern, text)
		return err == nil && match || pattern == text
	})
}

// Faults returns the faults of a filter.
func (f *Filter) Faults() (all []options.Fault) {
	for field, patterns := range map[string][]string{"tables": f.Tables, "accounts": f.Accounts} {
		for _, pattern := range patterns {
			if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
				all = append(all, options.Fault{Field: field, Err: fmt.Errorf("%q is not a pattern: write a name, or a part of it with *, such as orders-*", pattern)})
			}
		}
	}
	for _, severity := range f.Severities {
		if err := CheckSeverity(severity); err != nil {
			all = append(all, options.Fault{Field: "severity", Err: err})
		}
	}
	return all
}

// CheckSeverity returns an error for a severity that no message has.
func CheckSeverity(s string) error {
	if s == string(detect.Critical) || s == string(detect.Warning) {
		return nil
	}
	return fmt.Errorf("%q: write critical, warning, or both; info findings are never sent", s)
}
