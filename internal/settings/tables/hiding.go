package tables

import (
	"maps"
	"slices"

	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/sample"
)

// Hashing is the secret of hidden keys.
type Hashing struct {
	Secret     config.Secret `yaml:"secret" help:"the secret of hashed keys: base64 of 16 bytes or more; further lines, each with the time from which it holds before it, rotate it"`
	SecretFile string        `yaml:"secret_file" help:"a file with the secret"`
}

// CheckHiding adds the faults of the policies and secrets that hide keys: for programs
// that hide them.
func (s *FileSection) CheckHiding(h Hashing, f *config.Faults) {
	if err := (*Section)(s).ValidateHiding(h); err != nil {
		f.Addf("keys.secret", "%w", err)
	}
}

// ValidateHiding returns the faults of the secret of hashed keys; a policy that needs a
// missing secret is one.
func (s *Section) ValidateHiding(h Hashing) error {
	if h.Secret == "" && !s.hashes() {
		return nil
	}
	_, err := keypolicy.ParseSecrets(string(h.Secret))
	return err
}

// hashes reports whether the keys of any table are hashed.
func (s *Section) hashes() bool {
	return s.Policy.hiding().Hashes() || slices.ContainsFunc(slices.Collect(maps.Values(s.Tables)), func(t Table) bool { return t.Policy.hiding().Hashes() })
}

// Hider is [Section.Hider].
func (s *FileSection) Hider(h Hashing) func() *keypolicy.Hider { return (*Section)(s).Hider(h) }

// Hider returns a function that makes a hider for each goroutine; nil if all keys are
// plain. Check and CheckHiding must have accepted the sections.
func (s *Section) Hider(h Hashing) func() *keypolicy.Hider {
	plain := func(p Policy) bool { return p.hiding().Mode == keypolicy.Plain }
	if plain(s.Policy) && !slices.ContainsFunc(slices.Collect(maps.Values(s.Tables)), func(t Table) bool { return !plain(t.Policy) }) {
		return nil
	}
	secrets, _ := keypolicy.ParseSecrets(string(h.Secret))
	return func() *keypolicy.Hider {
		return keypolicy.NewHider(func(of sample.Target) keypolicy.Policy { return s.policyOf(of).hiding() }, secrets)
	}
}

// NamedTargets returns a table, and the tables of single accounts and Regions with
// entries of their own that share its name: their policies may differ.
func (t Tables) NamedTargets(table sample.Target) []sample.Target {
	all := []sample.Target{table}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		of, err := ParseName(name)
		if err == nil && of != table && of.Table == table.Table && (table.Account == "" || of.Account == table.Account) && (table.Region == "" || of.Region == table.Region) {
			all = append(all, of)
		}
	}
	return all
}

// hiding returns the policy as keypolicy takes it.
func (p Policy) hiding() keypolicy.Policy {
	hiding, _ := keypolicy.Parse(p.Keys)
	hiding.Positions = p.Positions
	return hiding
}
