package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			e.Setenv("POSTGRES", pgtest.Database(t))
			return nil
		},
	})
}

// exits runs a program and compares its exit code: exits 78 reporter check.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// The whole command line runs in this process, and twice at once.
func TestTwoRunInOneProcess(t *testing.T) {
	t.Parallel()
	done := make(chan string, 2)
	for range 2 {
		go func() {
			var out, errs bytes.Buffer
			code := cli.Run(context.Background(), command(), []string{"version"}, cli.Streams{Out: &out, Err: &errs})
			if code != cli.OK || errs.Len() > 0 {
				t.Errorf("exit code %d, %s", code, errs.String())
			}
			done <- out.String()
		}()
	}
	if a, b := <-done, <-done; a != b || !strings.HasPrefix(a, "reporter ") {
		t.Errorf("got %q and %q", a, b)
	}
}

// Every command has a description and an example, and help that fits a screen: the settings
// are in docs/CONFIGURATION.md.
func TestEveryCommandHasHelpAndAnExample(t *testing.T) {
	t.Parallel()
	for _, c := range command().Commands() {
		if c.Short == "" || !strings.Contains(c.Example, "reporter "+c.Name()) {
			t.Errorf("%s has no help or no example", c.Name())
		}
		for _, c := range slices.Concat(c.Commands(), []*cobra.Command{c}) {
			var help bytes.Buffer
			c.SetOut(&help)
			_ = c.Help()
			if lines := strings.Count(help.String(), "\n"); lines > 30 && c.Name() != "analyze" {
				t.Errorf("the help of %s has %d lines", c.CommandPath(), lines)
			}
		}
	}
}

// So are those of the sections that only a file may hold.
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
