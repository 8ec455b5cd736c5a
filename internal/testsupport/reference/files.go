package reference

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/keyheat/keyheat/internal/cli"
)

// WriteFiles generates a program's man pages and completions and writes them into a
// folder, one below it for each kind. They depend on the commands alone, so that two builds
// have the same. It fails if a page or a completion lacks a command.
func WriteFiles(t *testing.T, root *cobra.Command, folder string) {
	t.Helper()
	cli.Install(root)
	root.InitDefaultCompletionCmd()
	root.DisableAutoGenTag = true
	pages := filepath.Join(folder, "man")
	if err := os.MkdirAll(pages, 0o755); err != nil {
		t.Fatal(err)
	}
	never := time.Unix(0, 0).UTC()
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "Keyheat", Manual: "Keyheat", Date: &never}, pages); err != nil {
		t.Fatal(err)
	}
	undate(t, pages, root.Name())
	for shell, write := range map[string]func(*bytes.Buffer) error{
		"bash": func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) },
		"zsh":  func(b *bytes.Buffer) error { return root.GenZshCompletion(b) },
		"fish": func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) },
	} {
		var text bytes.Buffer
		if err := write(&text); err != nil || !bytes.Contains(text.Bytes(), []byte(root.Name())) {
			t.Errorf("%s: %v", shell, err)
		}
		to := filepath.Join(folder, shell)
		if err := os.MkdirAll(to, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, root.Name()), text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range root.Commands() {
		if _, err := os.Stat(filepath.Join(pages, root.Name()+"-"+c.Name()+".1")); c.IsAvailableCommand() && err != nil {
			t.Errorf("no man page of %s: %v", c.CommandPath(), err)
		}
	}
}

// date matches the date of a man page's head, which says nothing here.
var date = regexp.MustCompile(`"Jan 1970"`)

// undate takes the date out of the man pages of a program.
func undate(t *testing.T, pages, program string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pages, program+"*.1"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, date.ReplaceAll(text, []byte(`""`)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
