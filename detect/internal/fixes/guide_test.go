package fixes_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestTheGuideHasEverySection holds docs/KEY_DESIGN.md to the sections that steps name.
func TestTheGuideHasEverySection(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/KEY_DESIGN.md")
	must.Succeed(t, err)
	sections := map[string]bool{"": true}
	for _, heading := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(text), -1) {
		sections[strings.ReplaceAll(strings.ToLower(heading[1]), " ", "-")] = true
	}
	for _, link := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(string(text), -1) {
		if !sections[link[1]] {
			t.Errorf("the page links to %q, which it does not have", link[1])
		}
	}
	for _, f := range detect.Fixes() {
		if s := detect.NewStep(f); !sections[s.Guide] || s.Guide == "" && s.Action != detect.ActionPipeline {
			t.Errorf("%s names the section %q, which the page does not have", f, s.Guide)
		}
	}
}
