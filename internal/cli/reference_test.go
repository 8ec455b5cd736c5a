package cli_test

import (
	"testing"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/reference"
)

// The reference lists the settings that both programs have. On a mismatch write what is
// printed between the marks.
func TestReferenceIsTrue(t *testing.T) {
	t.Parallel()
	shared := struct {
		Store cli.Store `yaml:"store"`
		Web   cli.Web   `yaml:"web"`
		Log   cli.Log   `yaml:"log"`
	}{Log: cli.DefaultLog()}
	reference.Check(t, "../../docs/CONFIGURATION.md", "both", &shared)
}
