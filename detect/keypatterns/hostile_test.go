package keypatterns_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/keypatterns"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
)

// TestNoPatternShowsATextRaw draws keys named after a time, of which every other text is an
// attack, before the time and behind it.
func TestNoPatternShowsATextRaw(t *testing.T) {
	t.Parallel()
	m := hostile.New(11)
	patterns := 0
	for _, layout := range []string{"2006-01-02", "2006-01-02T15", "2006-01-02T15:04", "20060102"} {
		for range 20 {
			before, behind, table := m.Text(), m.Text(), m.Text()
			var hot []detect.Finding
			for i := range 4 {
				at := time.Date(2026, 5, 20+i, 9, 0, 0, 0, time.UTC)
				f := m.Finding(detect.HotKeyWrite)
				f.Target = detect.Target{Table: table, Index: table}
				f.Key, f.KeyType, f.Severity, f.State = before+at.Format(layout)+behind, "S", detect.Critical, detect.Firing
				f.Rolling = keypatterns.MatchTime(f.Key, at)
				f.FirstSeen, f.LastSeen, f.Peak.At = at, at.Add(time.Minute), at
				hot = append(hot, f)
			}
			for _, f := range (keypatterns.Rolling{}).Findings(hot, func(detect.Target) detect.Policy { return detect.DefaultPolicy() }) {
				patterns++
				if wrong := hostile.FaultOfSentence(f.Why); wrong != "" {
					t.Fatalf("it lets %s through: %q", wrong, f.Why)
				}
			}
		}
	}
	if patterns < 50 {
		t.Errorf("only %d patterns were found", patterns)
	}
}
