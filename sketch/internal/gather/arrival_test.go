package gather_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// TestBatches checks which seconds look like a flush.
func TestBatches(t *testing.T) {
	t.Parallel()
	anywhere := func(r *rand.Rand) int64 { return int64(r.IntN(1000)) }
	flush := func(*rand.Rand) int64 { return 417 }
	for _, c := range []struct {
		story   string
		records int
		at      func(*rand.Rand) int64
		change  func(r *sample.Record, i int)
		flushed bool
	}{
		{"requests of a second", 300, anywhere, nil, false},
		{"a flush", 300, flush, nil, true},
		{"a flush that takes 30 ms", 300, func(r *rand.Rand) int64 { return 410 + int64(r.IntN(30)) }, nil, true},
		{"a burst of a tenth of a second", 300, func(r *rand.Rand) int64 { return 400 + int64(r.IntN(100)) }, nil, false},
		{"nine requests at once", 9, flush, nil, false},
		{"nine batches of 25 at once", 225, flush, func(r *sample.Record, _ int) { r.Op = sample.BatchWriteItem }, false},
		{"one batch that names itself", 100, flush, func(r *sample.Record, _ int) { r.Call = "c-1" }, false},
		{"twenty calls that name themselves", 100, flush, func(r *sample.Record, i int) { r.Call = fmt.Sprint(i / 5) }, true},
		{"one record of a minute's requests", 1, flush, func(r *sample.Record, _ int) { r.N = 12_000 }, true},
		{"records that say their calls", 300, flush, func(r *sample.Record, _ int) { r.Calls = 1 }, false},
		{"changes of a stream", 300, flush, func(r *sample.Record, _ int) { r.Change = true }, false},
		{"a flush that takes 60 ms", 300, func(r *rand.Rand) int64 { return 400 + int64(r.IntN(60)) }, nil, true},
		{"a burst of a tenth of a second of few calls", 60, func(r *rand.Rand) int64 { return 400 + int64(r.IntN(100)) }, nil, false},
		{"few calls in half of a second", 60, func(r *rand.Rand) int64 { return 400 + int64(r.IntN(500)) }, nil, false},
		{"times in tenths of a second", 300, func(r *rand.Rand) int64 { return 100 * int64(r.IntN(10)) }, nil, false},
		{"flushes of eight hosts under one name", 300, func(r *rand.Rand) int64 { return 110 + 110*int64(r.IntN(8)) }, nil, true},
		{"times in whole seconds", 300, func(*rand.Rand) int64 { return 1000 }, nil, true},
		{"times before 1970", 300, func(*rand.Rand) int64 { return -583 }, nil, true},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 1))
			var times gather.Times
			want := uint64(0)
			for i := range c.records {
				r := sample.Record{Time: c.at(random), Op: sample.PutItem, Rate: 1, N: 1}
				if c.change != nil {
					c.change(&r, i)
				}
				times.Add(7, 0, r.N, gather.MomentOf(&r))
				if c.flushed {
					want += uint64(r.N)
				}
			}
			got, at := times.Arrivals(7).Decide()
			if other, _ := times.Arrivals(8).Decide(); got != want || other != 0 || (at != 0) != c.flushed {
				t.Errorf("%d requests are flushed at %b, want %d", got, at, want)
			}
			times.Clear()
			if got, at := times.Arrivals(7).Decide(); got != 0 || at != 0 {
				t.Errorf("%d requests are flushed in the next second", got)
			}
		})
	}
}

// TestProducersAreTold finds a producer's flush beside other producers, and checks that their
// number stays within its bound.
func TestProducersAreTold(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	var times gather.Times
	add := func(table uint16, r *sample.Record) {
		times.Add(table, xxh3.HashString(r.Caller), r.N, gather.MomentOf(r))
	}
	for range 50 {
		add(1, &sample.Record{Time: 300, Caller: "flushes", Op: sample.PutItem, Rate: 1, N: 1})
		add(1, &sample.Record{Time: int64(random.IntN(1000)), Caller: "does not", Op: sample.PutItem, Rate: 1, N: 1})
	}
	if got, at := times.Arrivals(1).Decide(); got != 50 || at != 1<<16 { // the first bit is for whole seconds
		t.Errorf("%d requests are flushed at %b, want those of one of both producers at 300 ms", got, at)
	}
	for i := range 10_000 {
		add(2, &sample.Record{Time: 300, Caller: fmt.Sprint(i), Op: sample.PutItem, Rate: 1, N: 20})
	}
	if got, _ := times.Arrivals(2).Decide(); got == 0 || got > 20*256 {
		t.Errorf("%d requests of ten thousand producers are flushed", got)
	}
}

// TestBatchesBesideHonestRequests holds how much of the load of mixed seconds is taken for
// a flush, and that seconds of honest requests are not, however many there are.
func TestBatchesBesideHonestRequests(t *testing.T) {
	t.Parallel()
	const seconds = 500
	for _, honest := range []int{15, 60, 100, 300, 700, 1500} {
		for _, width := range []int{1000, 500, 250, 120} {
			for _, flushed := range []int{0, honest} {
				random := rand.New(rand.NewPCG(3, uint64(honest+flushed)))
				wrong := 0
				for range seconds {
					var b gather.Bins
					add := func(ms int) {
						b.Add(gather.MomentOf(&sample.Record{Time: int64(ms), Op: sample.PutItem, Rate: 1, N: 1}), 1)
					}
					for range honest {
						add(random.IntN(width))
					}
					for range flushed {
						add(417)
					}
					weight, _ := b.Arrivals().Decide()
					got := int(weight)
					if flushed == 0 && got > 0 || flushed > 0 && width == 1000 && (got < flushed || got > flushed+honest/8+5) {
						wrong++
					}
				}
				if wrong > seconds/50 {
					t.Errorf("%d honest requests within %d ms and %d of a flush: %d of %d seconds are wrong", honest, width, flushed, wrong, seconds)
				}
			}
		}
	}
}

// TestPartsOfASecond checks that the verdict on a second does not depend on the number of parts
// that its records went to, or on the order of merging.
func TestPartsOfASecond(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var records []sample.Record
		for caller := range rapid.IntRange(1, 4).Draw(t, "callers") {
			n, width := rapid.IntRange(1, 60).Draw(t, "records"), rapid.IntRange(1, 999).Draw(t, "width")
			for range n {
				records = append(records, sample.Record{
					Caller: fmt.Sprint(caller), Op: sample.PutItem, Rate: 1,
					Time: int64(rapid.IntRange(0, width).Draw(t, "at")), N: int64(rapid.SampledFrom([]int{1, 1, 9, 50}).Draw(t, "n")),
				})
			}
		}
		merged := func(parts int) gather.Arrivals {
			all := make([]gather.Times, parts)
			for i := range records {
				r := &records[i]
				all[rand.IntN(parts)].Add(1, xxh3.HashString(r.Caller), r.N, gather.MomentOf(r))
			}
			var sum gather.Arrivals
			for _, i := range rand.Perm(parts) {
				sum = all[i].Arrivals(1).Plus(sum)
			}
			return sum
		}
		whole := merged(1)
		flushed, at := whole.Decide()
		for _, parts := range []int{1, 4, 8} {
			if got, in := merged(parts).Decide(); got != flushed || in != at {
				t.Fatalf("over %d parts %d requests are flushed at %b, over one %d at %b", parts, got, in, flushed, at)
			}
		}
		if got, in := whole.Settle().Decide(); got != flushed || in != at {
			t.Fatalf("decided, %d requests are flushed at %b, want %d at %b", got, in, flushed, at)
		}
	})
}
