package board_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
)

// TestASecondIsOpenUntilItIsSettled observes two readers that catch up, one of them 16
// minutes ahead when the other brings the rest of a second.
func TestASecondIsOpenUntilItIsSettled(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]float64{"part of it was seen": 600, "nothing of it was seen": 0} {
		part, whole := story{seconds: []demand{{units: first}}}, story{seconds: []demand{{units: 1200}}}
		ahead := story{key: "user#7", seconds: []demand{{units: 900}}}
		b := whole.board()
		if first > 0 {
			b.Observe(part.window(0))
		}
		far := ahead.window(0)
		far.Second += 16 * 60
		b.Observe(far)
		b.Observe(whole.window(0))
		b.Settle(scenario.Began, true)
		var found *detect.Finding
		for _, f := range b.Findings() {
			if f.Key == "user#42" {
				found = &f
			}
		}
		if found == nil || found.SecondsOver() != 1 || found.Peak.WCU.Value != 1200 {
			t.Errorf("%s: found %+v, want a peak of 1,200", name, found)
		}
	}
}
