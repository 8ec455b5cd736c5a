package say_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/say"
)

func TestHeat(t *testing.T) {
	from := time.Date(2026, 11, 22, 10, 30, 0, 0, time.UTC)
	to := from.Add(6 * time.Minute)
	for want, h := range map[string]say.Heat{
		"“a#1” was over the partition limit from 10:30:00 to 10:36:00 UTC, 177% at worst.": {
			Key: "a#1", Share: 1.77, At: from, From: from, To: to,
		},
		"“a#1” was over the partition limit from 2026-11-22 10:30 to 2026-11-22 10:36 UTC, 177% at worst. 2 more keys were over it.": {
			Key: "a#1", Share: 1.77, At: from, From: from, To: to, Others: 2, Dated: true,
		},
		"No key was over the partition limit. “a#1” came nearest, with 40% at 10:30:00 UTC.": {Key: "a#1", Share: 0.4, At: from},
	} {
		if got := h.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
