package say_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/testsupport/reasons"
	"github.com/keyheat/keyheat/sample"
)

// TestEveryRejectReasonHasAdvice holds each reason to a sentence of its own kind, of at
// most 28 words.
func TestEveryRejectReasonHasAdvice(t *testing.T) {
	t.Parallel()
	collectors := []sample.RejectReason{"too_old", "too_far_ahead", "ahead_of_clock", "too_many_tables", "too_scattered", "unreadable"}
	for _, r := range slices.Concat(reasons.All(), collectors) {
		text := say.RejectAdvice(r)
		if text == say.RejectAdvice("new") || !strings.HasSuffix(text, ".") || len(strings.Fields(text)) > 28 {
			t.Errorf("%s: %q", r, text)
		}
	}
}
