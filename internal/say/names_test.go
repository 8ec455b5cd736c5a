package say_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say"
)

// TestNames holds the names of cases to a golden file.
func TestNames(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, code := range casebook.Codes() {
		name := say.CaseName(code)
		if name == string(code) {
			t.Errorf("%s has no name", code)
		}
		fmt.Fprintf(&text, "%s: %s\n", code, name)
	}
	fmt.Fprintf(&text, "of a key: %s, %s\n", say.Name(detect.KeyWrites, casebook.HotItem), say.Name(detect.KeyReads, casebook.HotItem))
	if got := say.CaseName("a\x1b"); got != `a\x1b` {
		t.Errorf("an unknown case is named %q", got)
	}
	compareGolden(t, "testdata/names.txt", text.String())
}
