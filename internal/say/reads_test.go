package say_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say"
)

// TestReads tells the stories of hot keys of reads: nothing that is said of reads names
// writes, or a metric of writes.
func TestReads(t *testing.T) {
	t.Parallel()
	told := 0
	for _, code := range casebook.Codes() {
		f := caseFinding(t, code)
		writes := slices.Contains([]detect.Case{casebook.LargeItem, casebook.IndexKey, casebook.TooManyShards}, code) || f.Rolling != nil
		if f.Peak.WCU.Value == 0 || writes {
			continue
		}
		if f.Subject == detect.KeyWrites {
			f.Subject = detect.KeyReads
		}
		f.Peak.WCU, f.Peak.RCU = f.Peak.RCU, detect.ExactFigure(3*f.Peak.WCU.Value)
		f.Consumed.WCU, f.Consumed.RCU = 0, 3*f.Consumed.WCU
		f.Advice = slices.DeleteFunc(f.Advice, func(s detect.Step) bool { return s.Fix == detect.FixFewerWrites })
		for _, s := range f.Advice {
			if s.After != nil {
				s.After.Unit = "rcu"
			}
		}
		for _, unharmed := range []bool{false, true} {
			if unharmed {
				f.Throttling, f.Evidence.Refused = nil, nil
			}
			brief := say.New(f)
			told++
			text := brief.Title + "\n" + say.Text(brief.Lines())
			if strings.Contains(strings.ToLower(text), "write") || strings.Contains(text, "WCU") {
				t.Errorf("%s, of reads: %s", code, text)
			}
		}
	}
	if told < 20 {
		t.Errorf("only %d stories are about a key's load", told)
	}
}
