package collect

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// TestRejectedSamplesAreLoggedOnceAMinute: with their number by reason, and without text.
func TestRejectedSamplesAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	noon := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	bad := func(n int64) *counters {
		return &counters{bad: map[sample.RejectReason]*badCounter{sample.RejectBadUTF8: {count: n, excerpts: []sample.Text{"secret"}}}}
	}
	var r rejections
	for _, c := range []struct {
		after  time.Duration
		stored *counters
		want   string
	}{
		{0, &counters{}, ""},
		{time.Second, bad(3), "by_reason.bad_utf8=3\n"},
		{2 * time.Second, bad(4), ""},
		{30 * time.Second, bad(5), ""},
		{62 * time.Second, &counters{}, "by_reason.bad_utf8=9\n"},
		{5 * time.Minute, &counters{}, ""},
	} {
		out.Reset()
		r.log(log, noon.Add(c.after), c.stored)
		if got := out.String(); !strings.HasSuffix(got, c.want) || (c.want == "") != (got == "") || strings.Contains(got, "secret") {
			t.Errorf("after %s it logs %q, want %q", c.after, got, c.want)
		}
	}
}
