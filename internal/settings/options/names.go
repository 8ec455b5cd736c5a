package options

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"

	"github.com/keyheat/keyheat/sample"
)

var (
	accountForm = regexp.MustCompile(`^\d{12}$`)
	regionForm  = regexp.MustCompile(`^[a-z]+(-[a-z]+)+-\d+$`)
)

// IsAccount reports whether AWS can number an account so.
func IsAccount(text string) bool { return accountForm.MatchString(text) }

// IsRegion reports whether AWS can name a Region so, such as eu-west-1.
func IsRegion(text string) bool { return regionForm.MatchString(text) }

// Unseen is the error for a name that no sample had.
type Unseen struct {
	// What is table, index, account or region, and Name its name.
	What, Name string
	// scope is the part of the samples that were searched, such as " of orders"; empty for all.
	scope string
	known []string
}

// Error names the nearest name, or the known ones.
func (u Unseen) Error() string {
	if len(u.known) == 0 {
		return fmt.Sprintf("no sample%s has the %s %q, or any %[2]s: leave it out", u.scope, u.What, u.Name)
	}
	return fmt.Sprintf("no sample%s has the %s %q%s", u.scope, u.What, u.Name, Suggest(u.Name, u.known))
}

// CheckNames returns an Unseen error for the first name of a target that no known target has: a
// misspelt name finds nothing, and nothing looks calm. Empty names are not checked. Before the
// first sample of all, every name may come.
func CheckNames(asked sample.Target, known []sample.Target) error {
	return checkNames(asked, known, func(name, known string) bool { return name == known })
}

func checkNames(asked sample.Target, known []sample.Target, matches func(name, known string) bool) error {
	if len(known) == 0 {
		return nil
	}
	scope := ""
	for _, part := range []struct {
		what, scope string
		name        func(sample.Target) string
	}{
		{"table", " of ", func(t sample.Target) string { return t.Table }}, {"index", " with index ", func(t sample.Target) string { return t.Index }},
		{"account", " in account ", func(t sample.Target) string { return t.Account }}, {"region", "", func(t sample.Target) string { return t.Region }},
	} {
		name := part.name(asked)
		if name == "" {
			continue
		}
		var found []sample.Target
		all := make(map[string]bool)
		for _, of := range known {
			if matches(name, part.name(of)) {
				found = append(found, of)
			}
			all[part.name(of)] = true
		}
		if found == nil {
			delete(all, "")
			return Unseen{What: part.what, Name: name, scope: scope, known: slices.Sorted(maps.Keys(all))}
		}
		known, scope = found, scope+part.scope+name
	}
	return nil
}

// NamedSetting is a setting that names a table or index.
type NamedSetting struct {
	// Path is the setting's key, such as routes[2].
	Path string
	// Target has the names, which may be patterns of path.Match.
	Target sample.Target
	// Optional reports that samples need not have the names. Only a near name makes it
	// likely that they are misspelt.
	Optional bool
}

// CheckSettings returns a warning for each setting with a name that no known target has: its
// table may be yet to come.
func CheckSettings(settings []NamedSetting, known []sample.Target) (warnings []error) {
	for _, s := range settings {
		err := checkNames(s.Target, known, func(pattern, name string) bool {
			match, err := path.Match(pattern, name)
			return err == nil && match
		})
		unseen, is := errors.AsType[Unseen](err)
		if is && !(s.Optional && Nearest(unseen.Name, unseen.known) == "") {
			warnings = append(warnings, fmt.Errorf("%s: %w", s.Path, err))
		}
	}
	return warnings
}
