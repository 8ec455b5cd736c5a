package say_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/prose"
)

// TestTemplates holds the fixed words of pages and reports to words that name things.
func TestTemplates(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"../web/page/*.html", "../demo/page/*.html", "../report/report.html", "../report/report.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	action := regexp.MustCompile(`(?s)\{\{.*?\}\}|<[^<>]*>`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must.Succeed(t, err)
		for line := range strings.Lines(action.ReplaceAllString(string(text), " ")) {
			if found := prose.Vague.FindString(line); found != "" {
				t.Errorf("%s: %q names nothing: %s", file, found, strings.TrimSpace(line))
			}
		}
	}
}
