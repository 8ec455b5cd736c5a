package judge_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever asks the store takes a context: what cannot have one decides on the
// values that it is given. detect's board is held to the same by depguard.
func TestJudgingAsksNoStore(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"fold", "verdict"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		must(t, err)
		if len(files) == 0 {
			t.Fatalf("no files in %s", dir)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			must(t, err)
			for _, i := range file.Imports {
				if path := strings.Trim(i.Path.Value, `"`); path == "context" || path == "log/slog" || path == "database/sql" {
					t.Errorf("%s imports %s: what judges gets values and returns values", name, path)
				}
			}
		}
	}
}
