package fold_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge/fold"
)

// TestAVerdictFollowsItsEvidence: a view is replaced whole, and at once unless it changes the
// verdict on the key design; a changed verdict waits for a minute, whatever fires.
func TestAVerdictFollowsItsEvidence(t *testing.T) {
	t.Parallel()
	views := fold.NewViews(0, func(detect.Target) detect.Policy { return detect.DefaultPolicy() }, nil)
	begin := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		says    string
		seconds int
		judged  detect.DesignVerdict
		want    detect.DesignVerdict // of the view that is written; none while the stored one stays
	}{
		{"two seconds are no view", 2, detect.DesignWatch, detect.DesignUnjudged},
		{"the first verdict", 60, detect.DesignCatastrophic, detect.DesignCatastrophic},
		{"the same verdict with new figures", 120, detect.DesignCatastrophic, detect.DesignCatastrophic},
		{"another verdict waits", 180, detect.DesignGood, ""},
		{"and is told after a minute", 240, detect.DesignGood, detect.DesignGood},
		{"a verdict that comes", 300, detect.DesignWatch, ""},
		{"and goes", 360, detect.DesignGood, detect.DesignGood},
		{"evidence that changes again", 420, detect.DesignPoor, ""},
		{"is not held for longer", 480, detect.DesignWatch, detect.DesignWatch},
	} {
		now := begin.Add(time.Duration(step.seconds) * time.Second)
		table := detect.Table{Target: detect.Target{Table: "orders"}, View: &detect.View{From: begin, To: now, Design: detect.Design{Verdict: step.judged}}}
		held := views.Holds(&table, now)
		if held != (step.want == "") || !held && table.View.Design.Verdict != step.want {
			t.Errorf("%s: %s, held %t, want %s", step.says, table.View.Design.Verdict, held, step.want)
		}
		if views.MarkWritten(); views.Due(now.Add(time.Minute), time.Minute) != held {
			t.Errorf("%s: it is not looked at again", step.says)
		}
	}
}
