package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/keyheat/keyheat/internal/testsupport/clitest"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/internal/testsupport/reference"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"reporter": main})
}

// The scripts check what each command prints, and its exit code.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": clitest.Exits},
		Setup: func(e *testscript.Env) error {
			e.Setenv("POSTGRES", pgtest.Database(t))
			return nil
		},
	})
}

func TestTwoRunInOneProcess(t *testing.T) {
	t.Parallel()
	clitest.CheckTwice(t, command)
}

func TestEveryCommandHasHelpAndAnExample(t *testing.T) {
	t.Parallel()
	clitest.CheckHelp(t, command())
}

// TestReferencesOfSectionsAreTrue holds the reference of the sections that only a file may hold to what the program says.
func TestReferencesOfSectionsAreTrue(t *testing.T) {
	t.Parallel()
	var sections struct {
		Reports struct {
			Reports Reports `yaml:"reports" help:"reports on a schedule, by name; only files set them"`
		}
		Receivers struct {
			Receivers Receivers `yaml:"receivers" help:"the receivers of incidents, by name"`
		}
	}
	for name, section := range map[string]struct {
		page string
		of   any
	}{
		"reports": {"CONFIGURATION", &sections.Reports}, "receivers": {"ALERTING", &sections.Receivers},
	} {
		reference.Check(t, "../../docs/"+section.page+".md", name, section.of)
	}
}

// The reference in the documentation is what the program says. On a mismatch
// write what is printed between the marks.
func TestReferenceIsTrue(t *testing.T) {
	t.Parallel()
	reference.Check(t, "../../docs/CONFIGURATION.md", "reporter", defaults(), "store", "web", "log", "policy", "tables")
}
