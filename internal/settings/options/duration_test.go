package options_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"
)

func TestParse(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "0s": 0, "24h": day, "7d": 7 * day, "1d12h": 36 * time.Hour, "0d": 0, "1d1ms": day + time.Millisecond,
		"106000d": 106_000 * day, "1.5h": 90 * time.Minute, "-2s": -2 * time.Second,
	} {
		if got, err := options.ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is read as %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "5", "d", "-1d", "1.5d", "1d-2h", "1d+2h", "1d0", "1d5", "12h1d", "1d1d", "106751d25h", "99999999999d", "7 d", "7D"} {
		if got, err := options.ParseDuration(text); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": 0, "500ms": 500 * time.Millisecond, "10m": 10 * time.Minute, "24h": 24 * time.Hour, "36h": 36 * time.Hour, "2d": 48 * time.Hour,
		"49h": 49 * time.Hour, "90d": 90 * 24 * time.Hour, "1h0m1s": time.Hour + time.Second,
	} {
		if got := options.FormatDuration(d); got != want {
			t.Errorf("%d is written as %q, want %q", d, got, want)
		}
		if back, err := options.ParseDuration(want); err != nil || back != d {
			t.Errorf("%q is read as %s, %v, want %s", want, back, err, d)
		}
	}
}
