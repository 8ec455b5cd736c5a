package main

import (
	"cmp"
	"flag"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/reference"
)

// files is a folder; see scripts/package-files.
var files = flag.String("files", "", "write man pages and completions into this folder")

// TestManPagesAndCompletions writes the man pages and completions that packages contain.
func TestManPagesAndCompletions(t *testing.T) {
	reference.WriteFiles(t, command(), cmp.Or(*files, t.TempDir()))
}
