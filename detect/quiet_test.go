package detect_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/testsupport/must"
)

func TestQuietHours(t *testing.T) {
	t.Parallel()
	night, always := &detect.QuietHours{From: 22 * time.Hour, Lasts: 8 * time.Hour}, &detect.QuietHours{Lasts: 24 * time.Hour}
	for _, c := range []struct {
		hours     *detect.QuietHours
		now, want string
	}{
		{night, "2026-11-22T21:59:59Z", "2026-11-22T06:00:00Z"},
		{night, "2026-11-22T22:00:00Z", "2026-11-23T06:00:00Z"},
		{night, "2026-11-23T05:59:59Z", "2026-11-23T06:00:00Z"},
		{night, "2026-11-23T12:00:00Z", "2026-11-23T06:00:00Z"},
		{night, "2026-11-23T01:00:00+02:00", "2026-11-23T06:00:00Z"},
		{always, "2026-11-23T12:00:00Z", "2026-11-24T00:00:00Z"},
		{nil, "2026-11-23T12:00:00Z", "0001-01-01T00:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		must.Succeed(t, err)
		if got := c.hours.NewestEnd(now).Format(time.RFC3339); got != c.want {
			t.Errorf("at %s it is quiet until %s, want %s", c.now, got, c.want)
		}
	}
}
