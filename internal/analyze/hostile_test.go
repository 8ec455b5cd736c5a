package analyze_test

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/analyze"
)

// TestHostileKeysDoNothing: a key that is a formula or an escape sequence is text in
// every format, and the same key in JSON.
func TestHostileKeysDoNothing(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"=HYPERLINK(\"http://x\")", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1", "a\x1b[2Jb", "a\u009b31mb", "a\x1b]8;;http://x\x07b", "a\u202egnp.exe",
	} {
		quoted, err := json.Marshal(key)
		must(t, err)
		var lines []string
		for s := range 3 {
			lines = append(lines, strings.Replace(line(s, "orders", "KEY", 1500), `"KEY"`, string(quoted), 1))
		}
		text := strings.Join(lines, "\n")
		rows, err := csv.NewReader(strings.NewReader(run(t, text, analyze.FormatCSV))).ReadAll()
		must(t, err)
		if cell := rows[1][4]; strings.ContainsAny(cell, "\x1b\t\r\a\u009b\u202e") || strings.ContainsRune("=+-@", rune(cell[0])) {
			t.Errorf("%q is the cell %q", key, cell)
		}
		for _, format := range []analyze.Format{analyze.FormatTable, analyze.FormatJSON} {
			if out := run(t, text, format); strings.ContainsAny(out, "\x1b\a\u009b\u202e") {
				t.Errorf("%q reaches the terminal as %s:\n%q", key, format, out)
			}
		}
		var r analyze.Result
		must(t, json.Unmarshal([]byte(run(t, text, analyze.FormatJSON)), &r))
		if len(r.Findings) == 0 || r.Findings[0].Key != key {
			t.Errorf("%q is another key in JSON: %+v", key, r.Findings)
		}
	}
}
