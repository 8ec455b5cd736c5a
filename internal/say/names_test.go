package say_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/sample"
)

// TestNames holds the names of kinds and causes to a golden file.
func TestNames(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, k := range hostile.Kinds() {
		name := say.KindName(k)
		if name == string(k) {
			t.Errorf("%s has no name", k)
		}
		fmt.Fprintf(&text, "%s: %s\n", k, name)
		f := detect.NewFinding(k, detect.Target{Table: "orders"}, sample.KeyString("k"))
		cause := detect.Incidents([]detect.Finding{f})[0].Cause
		if name = say.CauseName(cause); name == string(cause) {
			t.Errorf("the cause %s has no name", cause)
		}
		fmt.Fprintf(&text, "%s as a cause: %s\n", k, name)
	}
	if got := say.KindName("a\x1b"); got != `a\x1b` {
		t.Errorf("an unknown kind is named %q", got)
	}
	compareGolden(t, "testdata/names.txt", text.String())
}
