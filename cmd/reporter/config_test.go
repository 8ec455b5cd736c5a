package main

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

// TestRetentionWithoutASettingFollows checks that the defaults are the store's, and that
// an operator who shortens findings and history shortens every row with keys.
func TestRetentionWithoutASettingFollows(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	followers := func(r store.Retention) [3]time.Duration {
		return [3]time.Duration{r.Views, r.Gaps, r.Notifications}
	}
	if got, want := followers(defaults().Retention.store()), followers(store.DefaultRetention()); got != want {
		t.Errorf("by default %v, want %v", got, want)
	}
	short := defaults().Retention
	short.Findings = day
	if got, want := followers(short.store()), [3]time.Duration{day, day, day}; got != want {
		t.Errorf("with a day of findings %v, want %v", got, want)
	}
}
