package board

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestOpenSecondsLoseNothing compares packed seconds with a plain map, in the order of
// time, with late data, and while the oldest are closed.
func TestOpenSecondsLoseNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(12, 1))
	s, plain, since := newOpenSeconds(), map[int64]openSecond{}, int64(-5000)
	for n := range int64(20_000) {
		newest := -3000 + n/3
		second := newest - random.Int64N(3)
		if n%5 == 0 {
			second = newest - random.Int64N(400)
		}
		_, known := plain[second]
		if s.has(second) != (known && second >= since) {
			t.Fatalf("whether %d is open is %t", second, !known)
		}
		if second < since {
			continue
		}
		o := randomSecond(random, second)
		plain[second] = o
		*s.ensure(second) = o
		if n%97 == 0 {
			since = max(since, newest-450)
			s.close(since, func(o *openSecond) {
				if !reflect.DeepEqual(*o, plain[o.second]) {
					t.Fatalf("%+v was closed as %+v", plain[o.second], *o)
				}
				delete(plain, o.second)
			})
		}
		if n%53 == 0 {
			same(t, &s, plain, since, newest)
		}
	}
}

func randomSecond(random *rand.Rand, second int64) openSecond {
	if random.IntN(3) > 0 { // one caller, as in many of the other seconds
		write := sample.Milli(random.IntN(1000))
		return openSecond{second, 3, sketch.Load{Write: write}, sketch.Top{Entries: []sketch.Entry{{Hash: 7, Text: "caller", Weight: 3 * uint64(write)}}}}
	}
	o := openSecond{second: second, requests: random.Int64N(5000), load: sketch.Load{Read: sample.Milli(random.Int64N(9)), Write: sample.Milli(random.Int64())}}
	o.callers.Missing = random.Uint64N(3)
	for i := range random.IntN(4) {
		hash := uint64(i)<<60 + random.Uint64N(5)
		o.callers.Entries = append(o.callers.Entries, sketch.Entry{Hash: hash, Text: fmt.Sprint("caller-", hash), Weight: random.Uint64()})
	}
	return o
}

func same(t *testing.T, s *openSeconds, plain map[int64]openSecond, since, newest int64) {
	t.Helper()
	var want sketch.Load
	from, to := newest-300, newest-20
	for _, second := range slices.Sorted(maps.Keys(plain)) {
		if max(from, since) <= second && second <= to {
			want = want.Plus(plain[second].load)
		}
	}
	var got sketch.Load
	s.eachLoadBetween(from, to, func(l sketch.Load) { got = got.Plus(l) })
	if got != want {
		t.Fatalf("from %d to %d there is %+v, want %+v", from, to, got, want)
	}
	var order []int64
	s.eachKept(func(o *openSecond) {
		order = append(order, o.second)
		if !reflect.DeepEqual(*o, plain[o.second]) {
			t.Fatalf("%+v is kept as %+v", plain[o.second], *o)
		}
	})
	if !slices.Equal(order, slices.Sorted(maps.Keys(plain))) {
		t.Fatalf("the seconds %v are kept", order)
	}
}

// BenchmarkManyCallers packs seconds and reads their loads. Callers may be sessions, with new
// names in every second: packing should cost as much for each as with few of them, and
// reading the same.
func BenchmarkManyCallers(b *testing.B) {
	const first = 1_800_000_000 / blockSeconds * blockSeconds
	for _, callers := range []int{1, 25, 400} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 1))
			s := newOpenSeconds()
			for n := range int64(blockSeconds) {
				o := openSecond{second: first + n, requests: 1, load: sketch.Load{Write: 1}}
				for range callers {
					o.callers.Entries = append(o.callers.Entries, sketch.Entry{Hash: random.Uint64(), Text: "session", Weight: 1})
				}
				*s.ensure(o.second) = o
			}
			var pack, read time.Duration
			for b.Loop() {
				s.blocks[0].unpack()
				began := time.Now()
				s.pack(0)
				packed := time.Now()
				s.eachLoadBetween(first, first+blockSeconds, func(sketch.Load) {})
				pack, read = pack+packed.Sub(began), read+time.Since(packed)
			}
			b.ReportMetric(float64(pack.Nanoseconds())/float64(b.N*blockSeconds*callers), "pack-ns/caller")
			b.ReportMetric(float64(read.Nanoseconds())/float64(b.N*blockSeconds), "read-ns/second")
		})
	}
}
