package detect_test

import (
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
)

// TestAnyOver counts each second once in which some of several keys were over the limit,
// and does not know them where they are not known of one of these.
func TestAnyOver(t *testing.T) {
	t.Parallel()
	over := func(seconds ...int64) *detect.Finding {
		f := &detect.Finding{OverSeconds: new(len(seconds))}
		for _, s := range seconds {
			f.OverIn = detect.AddSecond(f.OverIn, s)
		}
		return f
	}
	if n, in := detect.AnyOver([]*detect.Finding{over(5, 6, 9), over(1, 6, 7), over()}); n == nil || *n != 5 ||
		!slices.Equal(in, []detect.Span{{From: 1, To: 1}, {From: 5, To: 7}, {From: 9, To: 9}}) {
		t.Errorf("%v in %v", n, in)
	}
	before := over(5, 6)
	before.OverSeconds = new(9) // seven of them were another judge's
	for _, unknown := range []*detect.Finding{before, {}} {
		if n, in := detect.AnyOver([]*detect.Finding{over(1), unknown}); n != nil || in != nil {
			t.Errorf("%d seconds in %v of %+v", *n, in, unknown)
		}
	}
	many := make([]int64, 200)
	for i := range many {
		many[i] = int64(2 * i)
	}
	if n, _ := detect.AnyOver([]*detect.Finding{over(many...)}); n != nil {
		t.Errorf("%d seconds of more ranges than are kept", *n)
	}
}
