package analyze

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
)

// TestExplanationsDoNotMislead holds words to what they stand beside.
func TestExplanationsDoNotMislead(t *testing.T) {
	t.Parallel()
	p, e := &page{}, &explanation{}
	e.finding(p, &detect.Finding{
		Kind: detect.TooFewShards, KeyRef: detect.KeyRef{Target: detect.Target{Table: "orders"}, Key: "celebrity#SHARD_*"}, Severity: detect.Info, Reason: detect.Undetermined,
		Peak: detect.Peak{Loads: detect.Loads{WCU: detect.Figure{Value: 9000, Low: 9000, High: 9000}}},
	})
	for _, wrong := range []string{"share", "proven above the limit", "UNDETERMINED", "by itself"} {
		if strings.Contains(p.String(), wrong) {
			t.Errorf("a page about a sharded key says %q:\n%s", wrong, p)
		}
	}
	estimated := true
	for says, q := range map[string]detect.Quality{
		"The peak is exact":                {Sampling: detect.SamplingNone},
		"some units were computed":         {Sampling: detect.SamplingNone, Estimated: &estimated},
		"not every request was sampled":    {Sampling: detect.SamplingByCall, Estimated: &estimated},
		"cannot be proven from such sampl": {Sampling: detect.SamplingUnknowable},
	} {
		p = &page{}
		f := detect.Finding{Quality: q, Peak: detect.Peak{Loads: detect.Loads{WCU: detect.Figure{Value: 9000, Low: 9000, High: 9000}}}}
		e.confidence(p, &f, measureOf(&f))
		text := strings.Join(strings.Fields(p.String()), " ")
		if !strings.Contains(text, says) || strings.Contains(text, "exact") != (says == "The peak is exact") {
			t.Errorf("confidence in %+v: %s", q, text)
		}
	}
	if got := noFinding(1_800_000, 0); strings.Contains(got, "is not close") {
		t.Errorf("a key that is seen with 1,800 WCU, of which nothing is proven: %s", got)
	}
	if got := noFinding(300_000, 0); !strings.Contains(got, "is not close") {
		t.Errorf("a key with 300 WCU: %s", got)
	}
}
