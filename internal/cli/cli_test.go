package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/settings/config"
)

// run executes a line against a daemon with one command "do" that fails so.
func run(t *testing.T, fails error, args ...string) (code int, out, errs string) {
	t.Helper()
	do := &cobra.Command{Use: "do", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error { return fails }}
	do.Flags().Bool("a", false, "")
	do.Flags().Bool("b", false, "")
	do.Flags().Duration("last", 0, "")
	do.MarkFlagsMutuallyExclusive("a", "b")
	root := &cobra.Command{Use: "daemon", Short: "A daemon"}
	root.AddCommand(do)
	var o, e bytes.Buffer
	code = cli.Run(t.Context(), root, args, cli.Streams{Out: &o, Err: &e})
	return code, o.String(), e.String()
}

func TestExitCodes(t *testing.T) {
	t.Parallel()
	var faults config.Faults
	faults.Addf("kafka.brokers", "no broker")
	for name, row := range map[string]struct {
		fails error
		args  []string
		code  int
		errs  string
	}{
		"well":               {nil, []string{"do"}, cli.OK, ""},
		"a failure":          {errors.New("broken"), []string{"do"}, cli.Failed, "daemon: broken\n"},
		"a stop":             {context.Canceled, []string{"do"}, cli.Failed, "daemon: context canceled\n"},
		"a wrong setting":    {&faults, []string{"do"}, cli.Misconfigured, "daemon: kafka.brokers: no broker\n"},
		"a marked error":     {cli.Wrong(errors.New("odd")), []string{"do"}, cli.Misconfigured, "daemon: odd\n"},
		"already reported":   {cli.ErrReported, []string{"do"}, cli.Misconfigured, ""},
		"no such command":    {nil, []string{"dodo"}, cli.Misconfigured, "unknown command"},
		"no such flag":       {nil, []string{"do", "--c"}, cli.Misconfigured, "unknown flag: --c"},
		"a misspelt flag":    {nil, []string{"do", "--lats"}, cli.Misconfigured, "unknown flag: --lats: did you mean --last?\nSee `daemon do --help`.\n"},
		"days":               {nil, []string{"do", "--last", "3d"}, cli.Misconfigured, "give numbers with the units h, m or s, such as 90m or 72h"},
		"flags that exclude": {nil, []string{"do", "--a", "--b"}, cli.Misconfigured, "[a b]"},
		"too many words":     {nil, []string{"do", "it"}, cli.Misconfigured, "See `daemon do --help`."},
	} {
		code, _, errs := run(t, row.fails, row.args...)
		if code != row.code || !strings.Contains(errs, row.errs) || row.errs == "" && errs != "" {
			t.Errorf("%s: exit code %d and %q, want %d and %q", name, code, errs, row.code, row.errs)
		}
	}
	if cli.Wrong(nil) != nil {
		t.Error("no error was made one")
	}
}

type settings struct {
	Log   cli.Log   `yaml:"log"`
	Store cli.Store `yaml:"store"`
}

// Check implements config.Checker.
func (s *settings) Check(f *config.Faults) {
	s.Log.Check(f)
	s.Store.Check(f)
}

// check runs the check command with a store and one more probe that ends so.
func check(t *testing.T, fails error, args ...string) (code int, out string) {
	t.Helper()
	s := &settings{Log: cli.DefaultLog()}
	root := &cobra.Command{Use: "daemon"}
	root.AddCommand(cli.CheckCommand("daemon", s, func() []cli.Probe {
		return []cli.Probe{s.Store.Probe(), {Name: "moon", Run: func(context.Context) (string, error) { return "it shines", fails }}}
	}, nil))
	var o, e bytes.Buffer
	code = cli.Run(t.Context(), root, append([]string{"check"}, args...), cli.Streams{Out: &o, Err: &e})
	if e.Len() > 0 {
		t.Errorf("unexpected standard error %q", e.String())
	}
	return code, o.String()
}

func TestCheckSaysASentenceAboutEach(t *testing.T) {
	t.Parallel()
	code, out := check(t, nil, "--store-url", "sqlite::memory:")
	if code != cli.OK || !strings.Contains(out, "ok  config  ") || !strings.Contains(out, "ok  moon    it shines\n") {
		t.Errorf("%d\n%s", code, out)
	}
	code, out = check(t, errors.New("it is new: wait"), "--store-url", "sqlite::memory:")
	if code != cli.Misconfigured || !strings.Contains(out, "WRONG  moon    it is new: wait\n") || !strings.Contains(out, "ok     store ") {
		t.Errorf("%d\n%s", code, out)
	}
}

func TestCheckStopsAtAWrongConfiguration(t *testing.T) {
	t.Parallel()
	code, out := check(t, nil, "-o", "json", "--log-format=xml")
	var report struct {
		OK     bool
		Checks []struct{ Name, Detail string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if code != cli.Misconfigured || report.OK || len(report.Checks) != 2 {
		t.Fatalf("%d, %+v", code, report)
	}
	for i, want := range []string{"store.url: no database", `--log-format: log.format: "xml" is no format`} {
		if got := report.Checks[1-i]; got.Name != "config" || !strings.HasPrefix(got.Detail, want) {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
}

func TestLoggerWritesAsAsked(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	cli.DefaultLog().Logger(&out).Info("hello")
	if !json.Valid(out.Bytes()) {
		t.Errorf("no JSON: %s", out.String())
	}
	out.Reset()
	quiet := cli.Log{Level: slog.LevelWarn, Format: "text"}.Logger(&out)
	quiet.Info("unheard")
	quiet.Warn("heard")
	if text := out.String(); strings.Contains(text, "unheard") || !strings.Contains(text, "level=WARN msg=heard") {
		t.Errorf("got %s", text)
	}
}

func TestStoreShowsNoPassword(t *testing.T) {
	t.Parallel()
	s := cli.Store{URL: "postgres://keyheat:hush@db/keyheat"}
	if got := s.String(); strings.Contains(got, "hush") || !strings.Contains(got, "keyheat:xxxxx@db") {
		t.Errorf("got %s", got)
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	root := &cobra.Command{Use: "daemon"}
	cli.AddVersion(root)
	var out, errs bytes.Buffer
	if code := cli.Run(t.Context(), root, []string{"version", "-o", "json"}, cli.Streams{Out: &out, Err: &errs}); code != cli.OK || !json.Valid(out.Bytes()) {
		t.Errorf("%d %s %s", code, out.String(), errs.String())
	}
	out.Reset()
	if code := cli.Run(t.Context(), root, []string{"--version"}, cli.Streams{Out: &out, Err: &errs}); code != cli.OK || !strings.HasPrefix(out.String(), "daemon ") {
		t.Errorf("--version: %d %s %s", code, out.String(), errs.String())
	}
}
