// Package clitest holds the command lines of both programs to what they share.
package clitest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
)

// Exits runs a program in a script and compares its exit code: exits 78 reporter check.
func Exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// CheckTwice runs the whole command line in this process, and twice at once.
func CheckTwice(t *testing.T, command func() *cobra.Command) {
	t.Helper()
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
	if a, b := <-done, <-done; a != b || !strings.HasPrefix(a, command().Name()+" ") {
		t.Errorf("got %q and %q", a, b)
	}
}

// screenLines is how many lines of help fit a screen.
const screenLines = 30

// CheckHelp holds every command to a description, an example, and help that fits a screen: the
// settings are in docs/CONFIGURATION.md.
func CheckHelp(t *testing.T, program *cobra.Command) {
	t.Helper()
	for _, c := range program.Commands() {
		if c.Short == "" || !strings.Contains(c.Example, program.Name()+" "+c.Name()) {
			t.Errorf("%s has no help or no example", c.Name())
		}
		for _, c := range slices.Concat(c.Commands(), []*cobra.Command{c}) {
			var help bytes.Buffer
			c.SetOut(&help)
			_ = c.Help()
			if lines := strings.Count(help.String(), "\n"); lines > screenLines && !slices.Contains([]string{"analyze", "serve", "up", "run"}, c.Name()) { // these list all settings
				t.Errorf("the help of %s has %d lines", c.CommandPath(), lines)
			}
		}
	}
}
