// Package cli holds the shared parts of both daemons' command lines: exit codes, the
// layers of configuration, logs, the commands check and version.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/keyheat/keyheat/internal/settings/config"
	"github.com/keyheat/keyheat/internal/settings/options"
)

// The exit codes. Configuration includes all of the operator's text, flags too: a restart
// without a change cannot help, and systemd's RestartPreventExitStatus=78 prevents it. 78
// is EX_CONFIG of sysexits.h.
const (
	OK            = 0
	Failed        = 1
	Found         = 2 // the command found what it was asked to fail on; see [Finding]
	Misconfigured = 78
)

// ErrReported ends a command as Misconfigured without another word, because the faults
// are already printed.
var ErrReported error = &codedError{errors.New("already reported"), Misconfigured, true}

// Streams are where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run executes a command line and returns the exit code. Errors go to s.Err,
// once.
func Run(ctx context.Context, root *cobra.Command, args []string, s Streams) int {
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(remedy)
	begun := false
	note(root, &begun)
	called, err := root.ExecuteContextC(ctx)
	code := exitCode(err, begun)
	if coded, is := errors.AsType[*codedError](err); err != nil && !(is && coded.told) {
		fmt.Fprintf(s.Err, "%s: %v\n", root.Name(), err)
		if !begun {
			fmt.Fprintf(s.Err, "See `%s --help`.\n", called.CommandPath())
		}
	}
	return code
}

// remedy adds to a flag's error an accepted value, or the flag that was probably meant.
func remedy(c *cobra.Command, err error) error {
	if unknown, is := errors.AsType[*pflag.NotExistError](err); is {
		var flags []string
		c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		if nearest := options.Nearest(unknown.GetSpecifiedName(), flags); nearest != "" {
			return fmt.Errorf("%w: did you mean --%s?", err, nearest)
		}
	}
	if wrong, is := errors.AsType[*pflag.InvalidValueError](err); is && wrong.GetFlag().Value.Type() == "duration" {
		return fmt.Errorf("%w: give numbers with the units h, m or s, such as 90m or 72h", err)
	}
	return err
}

// note sets begun when a command begins: once cobra has accepted its line, which it also
// checks after its own hooks.
func note(c *cobra.Command, begun *bool) {
	if run := c.RunE; run != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			*begun = true
			return run(c, args)
		}
	}
	for _, child := range c.Commands() {
		note(child, begun)
	}
}

// exitCode distinguishes a wrong configuration from a failure. Before a command has
// begun only its line can be wrong.
func exitCode(err error, begun bool) int {
	var faults *config.Faults
	coded, is := errors.AsType[*codedError](err)
	switch {
	case err == nil:
		return OK
	case !begun, errors.As(err, &faults):
		return Misconfigured
	case is:
		return coded.code
	}
	return Failed
}

// codedError is an error with an exit code of its own.
type codedError struct {
	error

	code int
	told bool // printed or logged
}

func (e *codedError) Unwrap() error { return e.error }

// Finding marks an error as one that the command was asked to fail on: Run exits with
// Found. Without an error it returns nil.
func Finding(err error) error {
	if err == nil {
		return nil
	}
	return &codedError{error: err, code: Found}
}

// Wrong marks an error as one of the configuration: Run exits with Misconfigured. Without
// an error it returns nil.
func Wrong(err error) error {
	if err == nil {
		return nil
	}
	return &codedError{error: err, code: Misconfigured}
}
