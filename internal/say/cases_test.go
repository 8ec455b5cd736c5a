package say_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// TestCasesAreDocumented: the table of cases has each with its name, in their order, and names
// all subjects.
func TestCasesAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/ALERTING.md")
	must.Succeed(t, err)
	_, rows, _ := strings.Cut(string(text), "| case | in words | subject |\n| --- | --- | --- |\n")
	rows, _, _ = strings.Cut(rows, "\n\n")
	lines := strings.Split(rows, "\n")
	if codes := casebook.Codes(); len(lines) != len(codes) {
		t.Fatalf("the table has %d rows, want %d", len(lines), len(codes))
	}
	for i, code := range casebook.Codes() {
		row := fmt.Sprintf("| `%s` | %s | ", code, say.CaseName(code))
		if subject := casebook.SubjectOf(code); !strings.HasPrefix(lines[i], row) || subject != "" && !strings.Contains(lines[i], "`"+string(subject)+"`") {
			t.Errorf("row %d is %q, want %q with %q", i+1, lines[i], row, subject)
		}
	}
	for _, subject := range detect.Subjects() {
		if !strings.Contains(rows, "`"+subject+"`") {
			t.Errorf("no row names the subject %s", subject)
		}
	}
	if got := say.Name(detect.KeyReads, casebook.HotItem); got != "hot item (reads)" {
		t.Errorf("a hot item of reads is named %q", got)
	}
	if got := say.CaseName("a\x1b"); got != `a\x1b` {
		t.Errorf("an unknown case is named %q", got)
	}
}
