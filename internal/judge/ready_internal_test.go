package judge

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestAJudgeThatIsBehindIsNotReady, also in the middle of a pass that does not end.
func TestAJudgeThatIsBehindIsNotReady(t *testing.T) {
	t.Parallel()
	for behind, ready := range map[time.Duration]bool{time.Second: true, maxBehind + 3*time.Second: false} {
		j, err := New(Config{}, nil, "judge", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if reasons := j.Ready(); len(reasons) > 0 {
			t.Errorf("while another one judges it is not ready: %q", reasons)
		}
		at := time.Now().Add(-behind)
		j.current.Store(&at)
		if reasons := strings.Join(j.Ready(), "; "); (reasons == "") != ready || !ready && !strings.Contains(reasons, "33s ago") {
			t.Errorf("%s behind readiness says %q", behind, reasons)
		}
	}
}
