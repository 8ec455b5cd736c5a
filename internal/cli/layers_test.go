package cli_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/keyheat/keyheat/internal/cli"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestTheFileHereIsRead: keyheat.yaml in the current folder is read where no file is named, and the
// help of a daemon shows its settings by section.
func TestTheFileHereIsRead(t *testing.T) {
	t.Chdir(t.TempDir())
	type settings struct {
		Name string `yaml:"name" help:"its name: see [Names](#names)"`
		Log  struct {
			Level string `yaml:"level" help:"what is logged"`
		} `yaml:"log"`
	}
	run := func(args ...string) (level, out string) {
		root := &cobra.Command{Use: "program"}
		serve := cli.Reloadable(&cobra.Command{Use: "serve"}, func() *settings { return &settings{} }, func(_ *cobra.Command, s *settings, _ func() (*settings, error)) error {
			level = s.Log.Level
			return nil
		})
		root.AddCommand(serve)
		var text bytes.Buffer
		if code := cli.Run(t.Context(), root, append([]string{"serve"}, args...), cli.Streams{Out: &text, Err: &text}); code != cli.OK {
			t.Errorf("%v: exits %d: %s", args, code, text.String())
		}
		return level, text.String()
	}
	for path, level := range map[string]string{"keyheat.yaml": "here", "other.yaml": "other"} {
		must.Succeed(t, os.WriteFile(path, []byte("log: {level: "+level+"}\n"), 0o600))
	}
	if level, _ := run(); level != "here" {
		t.Errorf("without a file named: %q", level)
	}
	if level, _ := run("--config", "other.yaml"); level != "other" {
		t.Errorf("with one named: %q", level)
	}
	_, help := run("--help")
	for _, want := range []string{"Settings of log:\n      --log-level text   what is logged", "its name: see Names\n"} {
		if !strings.Contains(help, want) {
			t.Errorf("%q is not in\n%s", want, help)
		}
	}
}
