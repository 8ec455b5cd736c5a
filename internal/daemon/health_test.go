package daemon_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/daemon"
)

func TestStatusReportsEachPartUntilItHeals(t *testing.T) {
	t.Parallel()
	var s daemon.Health
	if got := s.Reasons(); got != nil {
		t.Fatalf("a new status reports %q", got)
	}
	if !s.Fail("b", "down") || s.Fail("b", "down") || !s.Fail("b", "slow") {
		t.Error("only another reason is news")
	}
	s.Fail("a", "down")
	s.Fail(daemon.Whole, "no store")
	if want := []string{"no store", "a: down", "b: slow"}; !slices.Equal(s.Reasons(), want) {
		t.Errorf("reasons are %q, want %q", s.Reasons(), want)
	}
	if !s.Heal("b") || s.Heal("b") {
		t.Error("only the first heal is news")
	}
	if want := []string{"no store", "a: down"}; !slices.Equal(s.Reasons(), want) {
		t.Errorf("reasons are %q, want %q", s.Reasons(), want)
	}
}

// TestFaultsBeginWithTheFirstFailure: a part fails since its first failure, whatever the reason,
// and the whole is no part.
func TestFaultsBeginWithTheFirstFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s daemon.Health
		began := time.Now()
		s.Fail("b", "down")
		s.Fail(daemon.Whole, "no store")
		time.Sleep(time.Second)
		s.Fail("b", "slow")
		s.FailAfter("a", "throttled", time.Now())
		if got, want := s.Faults(), []daemon.Fault{{Part: "a", Since: began.Add(time.Second)}, {Part: "b", Since: began}}; !slices.Equal(got, want) {
			t.Errorf("the faults are %+v, want %+v", got, want)
		}
		s.Heal("b")
		s.Heal("a")
		if got := s.Faults(); len(got) > 0 {
			t.Errorf("the faults are %+v, want none", got)
		}
	})
}

func TestStatusWaitsAndGroups(t *testing.T) {
	t.Parallel()
	var s daemon.Health
	start := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	table := func(part string) string { name, _, _ := strings.Cut(part, "/"); return name }
	s.FailAfter("orders/1", "throttled", start)
	s.FailAfter("orders/1", "refused", start.Add(30*time.Second)) // still failing since the start
	s.FailAfter("orders/2", "refused", start)
	s.FailAfter("users/1", "refused", start.Add(50*time.Second))
	if got := s.Lasting(start.Add(59*time.Second), time.Minute, table); got != nil {
		t.Errorf("before the time is up it reports %q", got)
	}
	got := s.Lasting(start.Add(time.Minute), time.Minute, table)
	if want := []string{"orders: refused (2 times)"}; !slices.Equal(got, want) {
		t.Errorf("reasons are %q, want %q", got, want)
	}
}
