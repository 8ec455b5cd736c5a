package fold_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge/fold"
)

// TestOneDesignAnIncident holds the verdict on a key design to one an incident, and to a
// minute of samples.
func TestOneDesignAnIncident(t *testing.T) {
	t.Parallel()
	views := fold.NewViews(0, func(detect.Target) detect.Policy { return detect.DefaultPolicy() })
	begin := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		says    string
		seconds int
		judged  detect.DesignVerdict
		firing  bool
		want    detect.DesignVerdict
	}{
		{"two seconds are no view", 2, detect.DesignWatch, true, detect.DesignUnjudged},
		{"the first verdict", 60, detect.DesignPoor, true, detect.DesignPoor},
		{"it stands", 62, detect.DesignWatch, true, detect.DesignPoor},
		{"for the whole incident", 600, detect.DesignGood, true, detect.DesignPoor},
		{"and moves after it", 660, detect.DesignGood, false, detect.DesignGood},
		{"the next incident keeps the verdict before it", 720, detect.DesignPoor, true, detect.DesignGood},
	} {
		table := detect.Table{Target: detect.Target{Table: "orders"}, View: &detect.View{
			From: begin, To: begin.Add(time.Duration(step.seconds) * time.Second), Design: detect.Design{Verdict: step.judged},
		}}
		if views.HoldDesign(&table, step.firing); table.View.Design.Verdict != step.want {
			t.Errorf("%s: %s, want %s", step.says, table.View.Design.Verdict, step.want)
		}
	}
}
