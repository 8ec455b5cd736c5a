package terminal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/keyheat/keyheat/internal/cli/terminal"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

func TestOnlyATerminalIsOne(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	must.Succeed(t, err)
	t.Cleanup(func() { _ = file.Close() })
	reader, pipe, err := os.Pipe()
	must.Succeed(t, err)
	t.Cleanup(func() { _, _ = reader.Close(), pipe.Close() })
	var none *os.File
	if terminal.Is(file) || terminal.Is(pipe) || terminal.Is(&bytes.Buffer{}) || terminal.Is(none) || terminal.Is(nil) {
		t.Error("a file, a pipe, memory or nothing is taken for a terminal")
	}
}

func TestNoColorIsHeeded(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	if !terminal.Colours() {
		t.Error("without NO_COLOR there are no colours")
	}
	t.Setenv("NO_COLOR", "1")
	if terminal.Colours() {
		t.Error("with NO_COLOR there are colours")
	}
}
