package config

import (
	"slices"
	"strings"

	"github.com/keyheat/keyheat/internal/settings/options"
)

// readEnvironment lays the KEYHEAT_ variables over the fields. An empty variable sets
// nothing, because compose files set missing variables empty.
func (f *fields) readEnvironment(environ, reserved []string) {
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, EnvPrefix) || isReserved(name, reserved) {
			continue
		}
		i := slices.IndexFunc(f.leaves, func(l *leaf) bool { return l.env() == name })
		if i < 0 {
			var known []string
			for _, l := range f.leaves {
				known = append(known, l.env())
			}
			slices.Sort(known)
			f.faults.bad("", "%s: no setting has this variable%s", name, options.Suggest(name, known))
			continue
		}
		if text == "" {
			continue
		}
		f.set(f.leaves[i], origin{fromEnvironment, name}, text)
	}
}

func isReserved(name string, reserved []string) bool {
	return slices.ContainsFunc(reserved, func(r string) bool {
		return name == r || strings.HasSuffix(r, "_") && strings.HasPrefix(name, r)
	})
}
