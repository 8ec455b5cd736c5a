package main

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/judge/heat"
	"github.com/keyheat/keyheat/store"
)

// TestRetentionWithoutASettingFollows checks that the defaults are the store's, and that
// an operator who shortens findings and history shortens every row with keys.
func TestRetentionWithoutASettingFollows(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	followers := func(r store.Retention) [4]time.Duration {
		return [4]time.Duration{r.Views, r.Gaps, r.Notifications, r.Peaks}
	}
	if got, want := followers(defaults().Retention.store()), followers(store.DefaultRetention()); got != want {
		t.Errorf("by default %v, want %v", got, want)
	}
	short := defaults().Retention
	short.Findings, short.History = day, day
	if got, want := followers(short.store()), [4]time.Duration{day, day, day, heat.GrowthSpan}; got != want {
		t.Errorf("with a day of findings and history %v, want %v", got, want)
	}
}
