package board_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFactsNameTheirTests keeps docs/FACTS.md true: every test that it names is
// there.
func TestFactsNameTheirTests(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/FACTS.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z/]+)\\.(Test[A-Za-z0-9]+)(/[^`]+)?`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 40 {
		t.Fatalf("only %d tests are named", len(named))
	}
	for _, m := range named {
		files, err := filepath.Glob("../../" + m[1] + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(source), "func "+m[2]+"(")
		}
		if !found {
			t.Errorf("%s has no %s", m[1], m[2])
		}
		if row, ok := strings.CutPrefix(m[3], "/"); ok && m[1] == "detect/board" && m[2] == "TestStories" && !hasStory(row) {
			t.Errorf("no story is called %q", row)
		}
	}
}

func hasStory(name string) bool {
	for _, s := range stories {
		if s.name == name {
			return true
		}
	}
	return false
}
