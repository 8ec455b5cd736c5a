package config_test

import (
	"slices"
	"testing"

	"github.com/keyheat/keyheat/internal/settings/config"
)

func TestChanged(t *testing.T) {
	t.Parallel()
	type entry struct {
		Rate   float64       `yaml:"rate"`
		Secret config.Secret `yaml:"secret"`
	}
	type all struct {
		Names  []string `yaml:"names"`
		Nested struct {
			A int
			B string `yaml:"b"`
		} `yaml:"nested"`
		Entries map[string]entry `yaml:"entries"`
		List    []entry          `yaml:"list"`
	}
	var a, b all
	a.Names, b.Names = []string{"x"}, []string{"x"}
	a.Nested.A = 7 // no setting
	if got := config.ChangedFields(&a, &b); len(got) > 0 {
		t.Errorf("equal settings differ in %q", got)
	}
	b.Names, b.Nested.B = []string{"x", "y"}, "z"
	a.Entries = map[string]entry{"kept": {Rate: 1, Secret: "old"}, "gone": {}}
	b.Entries = map[string]entry{"kept": {Rate: 1, Secret: "new"}, "new": {}}
	b.List = []entry{{Rate: 1}}
	want := []string{"entries.gone", "entries.kept.secret", "entries.new", "list", "names", "nested.b"}
	if got := config.ChangedFields(&a, &b); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
