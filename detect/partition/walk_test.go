package partition_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/sketch"
)

var walkSeeds = flag.Int("partition.walks", 10, "simulated tables of each kind")

// walkWorld is a table with skewed traffic, and perhaps a copy that goes through the key space.
type walkWorld struct {
	random *rand.Rand
	zipf   *rand.Zipf
	cells  []uint16 // of the keys
	rate   int      // requests a second of the traffic
	// A copy of `items` items by some workers, of so many requests a second together.
	items, copied, workers int
	begin                  float64 // where the copy begins
	sampled                float64 // rate of sampling
}

func newWalkWorld(seed uint64, rate, items, copied, workers int) *walkWorld {
	w := &walkWorld{random: rand.New(rand.NewPCG(seed, 28)), rate: rate, items: items, copied: copied, workers: workers, sampled: 1}
	w.zipf = rand.NewZipf(w.random, 1.01, 1, 100_000)
	w.begin = w.random.Float64() * 0.5
	for range 100_001 {
		w.cells = append(w.cells, uint16(w.random.IntN(1<<sketch.CellBits)))
	}
	return w
}

// second returns a second of the table, so many seconds after the copy began.
func (w *walkWorld) second(at, copying int64) *sketch.Window {
	var loads [1 << sketch.CellBits]sample.Milli
	window := &sketch.Window{Target: sample.Target{Table: "orders"}, Second: at}
	add := func(cell int) {
		if w.random.Float64() < w.sampled {
			units := sample.Milli(1000 / w.sampled)
			loads[cell] += units
			window.Total.Write += units
		}
	}
	for range 9*w.rate/10 + w.random.IntN(w.rate/5+1) {
		add(int(w.cells[w.zipf.Uint64()]))
	}
	if copying >= 0 {
		for i := range w.copied {
			worker, done := i%w.workers, copying*int64(w.copied/w.workers)+int64(i/w.workers)
			at := w.begin + float64(worker)/float64(w.workers) + float64(done)/float64(w.items)
			add(int((at-float64(int(at)))*float64(len(loads))) % len(loads))
		}
	}
	if w.sampled < 1 {
		window.Total.WriteLargest = 1 / w.sampled
	}
	for cell, units := range loads {
		if units > 0 {
			window.Cells = append(window.Cells, sketch.Cell{At: uint16(cell), Write: units})
		}
	}
	return window
}

// delay returns how many seconds after a copy began it is told; -1 if it is not within a time.
func (w *walkWorld) delay(before, most int64) int64 {
	const start = 1_700_000_000
	d := &partition.WalkDetector{}
	for at := range before + most {
		d.Observe(w.second(start+at, at-before))
		if d.HasWalked(start, start+at) {
			return at - before
		}
	}
	return -1
}

// TestWalks: a copy in the order of positions is told within the delays that were measured,
// whatever its speed and its workers, and one that harms nobody is not.
func TestWalks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story                        string
		rate, items, copied, workers int
		most                         int64 // seconds to wait, zero if it is not told
		sampled                      float64
	}{
		{"10⁵ items, 41 cells a second", 500, 1e5, 1000, 1, 21, 1},
		{"10⁶ items", 500, 1e6, 1000, 1, 21, 1},
		{"10⁷ items", 500, 1e7, 1000, 1, 21, 1},
		{"10⁷ items without other traffic", 0, 1e7, 1000, 1, 21, 1},
		{"10⁷ items beside 3,000 requests a second", 3000, 1e7, 1000, 1, 21, 1},
		{"10⁷ items, one of four requests sampled", 500, 1e7, 1000, 1, 21, 0.25},
		{"10⁸ items", 500, 1e8, 1000, 1, 125, 1},
		{"10⁹ items stay at one place for minutes", 500, 1e9, 1000, 1, 0, 1},
		{"4 workers", 500, 1e7, 3000, 4, 21, 1},
		{"16 workers, each 0.1 cells a second", 500, 1e7, 4000, 16, 42, 1},
		{"8 workers beside 4,000 requests a second", 4000, 1e7, 2000, 8, 42, 1},
		{"64 workers, each below 40 units", 500, 1e7, 1000, 64, 0, 1},
		{"300 requests a second beside 2,000", 2000, 1e6, 300, 1, 21, 1},
		{"300 requests a second beside 4,000", 4000, 1e6, 300, 1, 0, 1},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			var delays []int64
			for seed := range brief(*walkSeeds, 3) {
				w := newWalkWorld(uint64(seed), c.rate, c.items, c.copied, c.workers)
				w.sampled = c.sampled
				delays = append(delays, w.delay(70, max(c.most+60, 240)))
			}
			slices.Sort(delays)
			t.Logf("told of %d: after %d to %d s, median %d", len(delays), delays[0], delays[len(delays)-1], delays[len(delays)/2])
			if least, most := delays[0], delays[len(delays)-1]; c.most > 0 && (least < 0 || most > c.most) || c.most == 0 && most >= 0 {
				t.Errorf("told after %v s, want %d", delays, c.most)
			}
		})
	}
}

// TestNoWalk: skewed traffic, bursts of one key after another, and a hot key that comes
// and goes are no walk.
func TestNoWalk(t *testing.T) {
	t.Parallel()
	for seed := range uint64(brief(*walkSeeds, 3)) {
		w := newWalkWorld(seed, []int{300, 1000, 5000}[seed%3], 0, 0, 0)
		d := &partition.WalkDetector{}
		cell := uint16(0)
		for at := range int64(1800) {
			if at%7 == 0 {
				cell = uint16(w.random.IntN(1 << sketch.CellBits))
			}
			s := w.second(at+1, -1)
			if seed%2 == 0 {
				s.Keys = append(s.Keys, sketch.KeyLoad{Key: sample.KeyString(fmt.Sprint("burst#", at/20)), Low: sketch.Load{Write: 400_000}})
				s.Keys = append(s.Keys, sketch.KeyLoad{Key: sample.KeyString("hidden"), Place: sample.Place(cell<<2) + 1, Low: sketch.Load{Write: 300_000}})
				s.Total.Write += 700_000
			}
			if d.Observe(s); d.HasWalked(0, at+1) {
				t.Fatalf("seed %d: a walk at %d s", seed, at)
			}
		}
	}
}

// TestWalkOfListedKeys: listed keys, plain and hidden, count as cells do. A second that comes again
// counts once, and the walk is over once nobody walks.
func TestWalkOfListedKeys(t *testing.T) {
	t.Parallel()
	var keys []string
	for i := range 60_000 {
		keys = append(keys, fmt.Sprint("key#", i))
	}
	slices.SortFunc(keys, func(a, b string) int {
		if position.String(a) < position.String(b) {
			return -1
		}
		return 1
	})
	d := &partition.WalkDetector{}
	const begins = 20
	for at := int64(1); at < 100; at++ {
		for range 2 { // the second time it is left out
			s := &sketch.Window{Second: at}
			for i := range 500 {
				k := sketch.KeyLoad{Key: sample.KeyString(keys[(int(at)*500+i)%len(keys)]), Low: sketch.Load{Write: 1000}}
				if at < begins {
					k.Key = sample.KeyString(fmt.Sprint("other#", i))
				} else if i%2 == 0 {
					k.Place, k.Key = position.String(k.Key.Text).Place(), sample.KeyString("hidden")
				}
				s.Keys = append(s.Keys, k)
				s.Total.Write += 1000
			}
			d.Observe(s)
		}
		if walked := d.HasWalked(begins, at); walked != (at >= begins+19) {
			t.Fatalf("%d s after the copy began, it walks: %v", at-begins, walked)
		}
	}
	if d.HasWalked(100, 200) || d.HasWalked(0, begins-1) || d.IsQuiet(99+detect.Horizon) || !d.IsQuiet(100+detect.Horizon) {
		t.Errorf("the walk has no end: %+v", d.Walk(100))
	}
}
