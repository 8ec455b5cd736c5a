package judge

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// TestAJudgeThatIsBehindIsNotReady, also in the middle of a pass that does not end.
func TestAJudgeThatIsBehindIsNotReady(t *testing.T) {
	t.Parallel()
	for behind, ready := range map[time.Duration]bool{time.Second: true, maxBehind + 3*time.Second: false} {
		j, err := New(Config{}, nil, "judge", slog.New(slog.DiscardHandler))
		must.Succeed(t, err)
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

// renewals is a store that counts how often a lease is renewed.
type renewals struct {
	Store
	n int
}

func (r *renewals) RenewLease(_ context.Context, l store.Lease, _ time.Duration) (store.Lease, error) {
	r.n++
	return l, nil
}

// hanging is a store that gives the lease, and then answers nothing.
type hanging struct{ renewals }

func (h *hanging) AcquireLease(context.Context, string, string, time.Duration) (store.Lease, bool, error) {
	return store.Lease{}, true, nil
}

func (h *hanging) HashSeed(ctx context.Context) (uint64, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestAJudgeThatHangsAtItsStartIsNotReady: it has the lease, so that nobody else judges.
func TestAJudgeThatHangsAtItsStartIsNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, err := New(Config{}, &hanging{}, "judge", slog.New(slog.DiscardHandler))
		must.Succeed(t, err)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { _, err := j.turn(ctx, nil); ended <- err }()
		time.Sleep(maxBehind)
		if reasons := j.Ready(); len(reasons) > 0 {
			t.Errorf("not ready after %s: %q", maxBehind, reasons)
		}
		time.Sleep(3 * time.Second)
		if reasons := strings.Join(j.Ready(), "; "); !strings.Contains(reasons, "33s ago") {
			t.Errorf("after 33 s readiness says %q", reasons)
		}
		stop()
		if err := <-ended; err == nil {
			t.Error("a turn that hung has no error")
		}
	})
}

// TestATurnThatHangsLosesItsLease: it is renewed for five minutes, and then others may judge.
func TestATurnThatHangsLosesItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &renewals{}
		j, err := New(Config{}, r, "judge", slog.New(slog.DiscardHandler))
		must.Succeed(t, err)
		stop := j.keepLease(t.Context(), store.Lease{})
		time.Sleep(time.Hour)
		stop()
		if want := int(5 * time.Minute / (5 * time.Second)); r.n < want-1 || r.n > want {
			t.Errorf("it was renewed %d times, want %d", r.n, want)
		}
	})
}

// TestEvictedKeysAreCounted: they are logged once an hour, and the judge stays ready.
func TestEvictedKeysAreCounted(t *testing.T) {
	t.Parallel()
	var logged strings.Builder
	j, err := New(Config{}, nil, "judge", slog.New(slog.NewTextHandler(&logged, nil)))
	must.Succeed(t, err)
	registry := prometheus.NewRegistry()
	registry.MustRegister(j.measures)
	counted := func() (n float64) {
		families, err := registry.Gather()
		must.Succeed(t, err)
		for _, f := range families {
			if f.GetName() == "keyheat_report_evicted_keys_total" {
				n = f.GetMetric()[0].GetCounter().GetValue()
			}
		}
		return n
	}
	judged, start := &term{judge: j}, time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		evicted int64
		after   time.Duration
		logs    int
	}{{0, 0, 0}, {7, time.Minute, 1}, {9, 2 * time.Minute, 1}, {9, 2 * time.Hour, 1}, {12, 3 * time.Hour, 2}} {
		judged.sayEvicted(c.evicted, start.Add(c.after))
		if n := counted(); int64(n) != c.evicted {
			t.Errorf("after %s the metric is %v, want %d", c.after, n, c.evicted)
		}
		if n := strings.Count(logged.String(), "more keys near a limit"); n != c.logs {
			t.Errorf("after %s it was logged %d times, want %d", c.after, n, c.logs)
		}
	}
	if reasons := j.Ready(); len(reasons) > 0 {
		t.Errorf("not ready: %q", reasons)
	}
}
