package shards_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/source/shards"
)

// TestTheEndIsBelievedSlowly: the end of an open shard counts as reached after ten empty
// pages within three seconds or more. It is the end as of three seconds ago, and two
// seconds before the last five pages.
func TestTheEndIsBelievedSlowly(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	every := func(n int, d time.Duration) (all []time.Time) {
		for i := range n {
			all = append(all, begin.Add(time.Duration(i)*d))
		}
		return all
	}
	for _, c := range []struct {
		name  string
		asked []time.Time
		full  map[int]bool
		end   time.Duration // after begin; 0 when it is not believed
	}{
		{"nothing was asked", nil, nil, 0},
		{"one empty page proves nothing", every(1, 0), nil, 0},
		{"a hole of many pages in a second", every(14, 220*time.Millisecond), nil, 0},
		{"ten pages over three seconds", every(15, 220*time.Millisecond), nil, 80 * time.Millisecond},
		{"few pages over a long time", every(9, time.Second), nil, 0},
		{"a record restarts the count", every(20, time.Second), map[int]bool{12: true}, 0},
		{"and it ends some time after", every(30, time.Second), map[int]bool{12: true}, 23 * time.Second},
	} {
		end, at := shards.Idle(c.asked, c.full)
		if end != (c.end > 0) || end && !at.Equal(begin.Add(c.end)) {
			t.Errorf("%s: %v at %s, want %s after the beginning", c.name, end, at, c.end)
		}
	}
}
