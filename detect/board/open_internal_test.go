package board

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestOpenSecondsLoseNothing compares open seconds with a plain map, in the order of time, with
// late data, and while the oldest are closed.
func TestOpenSecondsLoseNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(12, 1))
	s, plain, since := openSeconds{}, map[int64]openSecond{}, int64(1000)
	for n := range int64(20_000) {
		newest := 3000 + n/3
		second := newest - random.Int64N(3)
		if n%5 == 0 {
			second = newest - random.Int64N(400)
		}
		_, known := plain[second]
		if s.has(second) != known {
			t.Fatalf("whether %d is open is %t", second, !known)
		}
		if second < since {
			continue
		}
		plain[second] = openSecond{second: second, load: sketch.Load{Write: sample.Milli(random.Int64N(9))}}
		*s.ensure(second) = plain[second]
		if n%97 == 0 {
			since = max(since, newest-450)
			s.closeBefore(since, func(o openSecond) {
				if o != plain[o.second] {
					t.Fatalf("%+v was closed as %+v", plain[o.second], o)
				}
				delete(plain, o.second)
			})
		}
		from, to := newest-random.Int64N(500), newest-random.Int64N(500)
		var want openSeconds
		for _, second := range slices.Sorted(maps.Keys(plain)) {
			if from <= second && second <= to {
				want = append(want, plain[second])
			}
		}
		if n%53 == 0 && !slices.Equal(s.between(from, to), want) {
			t.Fatalf("from %d to %d there is %+v, want %+v", from, to, s.between(from, to), want)
		}
	}
}

// TestCallersOfASecondAreReplaced while it is recent. A new second counts however late it is,
// and more of an old one does not.
func TestCallersOfASecondAreReplaced(t *testing.T) {
	t.Parallel()
	var c callerSums
	of := func(weight uint64) sketch.Top {
		return sketch.Top{Entries: []sketch.Entry{{Hash: 7, Text: "orders-api", Weight: weight}}}
	}
	for second := range int64(100) {
		c.observe(second, of(1), false)
		c.observe(second, of(10), true)
	}
	if top := c.total(); len(top.Entries) != 1 || top.Entries[0].Weight != 1000 {
		t.Errorf("100 seconds of 10: %+v", top)
	}
	c.observe(3, of(10_000), true)
	c.observe(-5, of(7), false)
	if top := c.total(); top.Entries[0].Weight != 1007 {
		t.Errorf("with a new second of 7: %+v", top)
	}
}
