package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestTheFirstQuarterOfAnHour runs the commands of docs/START.md as a stranger does, one
// block after the other: what the page shows below a block is in its output. Its Go program compiles.
func TestTheFirstQuarterOfAnHour(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/START.md")
	must.Succeed(t, err)
	self, err := os.Executable()
	must.Succeed(t, err)
	dir := t.TempDir()
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	if err := os.Symlink(self, filepath.Join(dir, "bin", "reporter")); err != nil { // see TestMain
		t.Fatal(err)
	}
	var output string
	run, shown := 0, 0
	for _, block := range strings.Split(string(page), "\n```")[1:] {
		language, text, _ := strings.Cut(block, "\n")
		switch language {
		case "sh":
			c := exec.CommandContext(t.Context(), "sh", "-c", text)
			c.Dir = dir
			all, _ := c.CombinedOutput() // a verdict that is none is an error here, and shown
			output, run = string(all), run+1
		case "go":
			file := filepath.Join(dir, "main.go")
			must.Succeed(t, os.WriteFile(file, []byte(text), 0o600))
			// This compiles it, and links nothing; go vet would look into all of the SDK too.
			if out, err := exec.CommandContext(t.Context(), "go", "list", "-export", file).CombinedOutput(); err != nil {
				t.Errorf("go list -export: %v\n%s", err, out)
			}
			run++
		case "text":
			for line := range strings.Lines(text) {
				if shown++; !strings.Contains(output, strings.TrimSpace(line)) {
					t.Errorf("%q is not in\n%s", strings.TrimSpace(line), output)
				}
			}
		}
	}
	if run < 10 || shown < 14 {
		t.Errorf("%d blocks ran, %d lines were compared", run, shown)
	}
}
