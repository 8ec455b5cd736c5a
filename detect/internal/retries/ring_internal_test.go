package retries

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

const began = int64(1_763_690_400)

// retriedKey returns a second of a key that is near its limit, by its retries.
func retriedKey(r *sketch.Retries) *sketch.KeyLoad {
	return &sketch.KeyLoad{Low: sketch.Load{Write: 900_000}, Retries: r}
}

// sentCalls are calls of a caller that were sent twice each, waited a second for that, and
// failed one time in two.
func sentCalls(calls int64, callers ...string) *sketch.Retries {
	r := &sketch.Retries{}
	for i, c := range callers {
		s := sample.Sent{Calls: 1000 * calls, Attempts: 2000 * calls, Failed: 500 * calls, Waited: 1000 * calls}
		r.Sent = r.Sent.Plus(s)
		r.Callers = append(r.Callers, sketch.CallerRetries{Hash: uint64(i + 1), Text: c, Sent: s})
	}
	return r
}

func TestTheLastMinute(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story       string
		add         func(r *Ring)
		first, last int64
		want        float64 // calls
		from, to    int64
		seconds     int
	}{
		{"nothing", func(*Ring) {}, 0, 100, 0, 0, 0, 0},
		{"a hundred seconds", func(r *Ring) {
			for s := range int64(100) {
				r.Add(began+s, retriedKey(sentCalls(10, "a")))
			}
		}, 0, 99, 600, 40, 100, 60},
		{"one of which is known better later", func(r *Ring) {
			for s := range int64(100) {
				r.Add(began+s, retriedKey(sentCalls(10, "a")))
			}
			r.Add(began+70, retriedKey(sentCalls(15, "a")))
		}, 0, 99, 605, 40, 100, 60},
		{"in any order, and one that is too late", func(r *Ring) {
			for s := range int64(60) {
				r.Add(began+159-s, retriedKey(sentCalls(10, "a")))
			}
			r.Add(began, retriedKey(sentCalls(10, "a")))
		}, 0, 159, 600, 100, 160, 60},
		{"an episode that began within it", func(r *Ring) {
			for s := range int64(100) {
				r.Add(began+s, retriedKey(sentCalls(10, "a")))
			}
		}, 90, 99, 100, 90, 100, 10},
		{"an episode that ended a while ago", func(r *Ring) {
			for _, s := range []int64{3, 5, 500} {
				r.Add(began+s, retriedKey(sentCalls(10, "a")))
			}
		}, 0, 5, 20, 3, 6, 2},
		{"one of which nothing is kept", func(r *Ring) {
			for _, s := range []int64{300, 500} {
				r.Add(began+s, retriedKey(sentCalls(10, "a")))
			}
		}, 0, 5, 10, 500, 501, 1},
		{"a cool second, one of which nothing is told, and one that samples make cool", func(r *Ring) {
			cool := retriedKey(sentCalls(10, "a"))
			cool.Low.Write = 300_000
			r.Add(began, cool)
			sampled := retriedKey(sentCalls(0, "a"))
			sampled.Low.Write, sampled.Draws.RateLow = 300_000, 0.01
			r.Add(began+3, sampled)
			r.Add(began+1, retriedKey(nil))
			r.Add(began+2, retriedKey(sentCalls(10, "a")))
		}, 0, 5, 10, 2, 4, 2},
	} {
		t.Run(c.story, func(t *testing.T) {
			t.Parallel()
			var r Ring
			c.add(&r)
			got := r.Summarise(began+c.first, began+c.last)
			if got == nil {
				if c.want != 0 {
					t.Fatal("nothing is known")
				}
				return
			}
			if got.Calls != c.want || got.Attempts != 2*c.want || got.Amplification != 2 || got.Waited.Value != c.want || got.Failed.Value != c.want/2 {
				t.Errorf("%+v, want %v calls", got, c.want)
			}
			if got.From.Unix() != began+c.from || got.To.Unix() != began+c.to || got.Seconds != c.seconds || got.Estimated || got.Partial {
				t.Errorf("of %v to %v, %d seconds", got.From.Unix()-began, got.To.Unix()-began, got.Seconds)
			}
		})
	}
}

func TestCallersOfARing(t *testing.T) {
	t.Parallel()
	var r Ring
	r.Add(began, retriedKey(sentCalls(10, "a", "b")))
	more := sentCalls(30, "a", "b")
	more.Callers = more.Callers[1:] // what "a" sent is only in the sum
	more.Untold = 7
	r.Add(began+1, retriedKey(more))
	got := r.Summarise(began, began+1)
	if len(got.Callers) != 2 || got.Callers[0].Caller != "b" || got.Callers[0].Attempts != 80 || got.Callers[0].Share != 0.5 || got.Callers[1].Retries() != 10 {
		t.Errorf("callers %+v", got.Callers)
	}
	if !got.Partial || got.Attempts != 160 {
		t.Errorf("%+v", got)
	}
}

// rounds is how many minutes TestTollOfSamples draws in each of its ways.
var rounds = flag.Int("toll", 60, "draw so many `minutes` of sampled retries in each way")

// TestTollOfSamples draws the calls of seconds at one in ten and one in a hundred, folded
// and not, with the waits of full jitter: the 95% intervals hold the truth.
func TestTollOfSamples(t *testing.T) {
	t.Parallel()
	const seconds, calls = 20, 900
	missed, intervals := 0, 0
	shard := sketch.NewShard(sketch.Config{Seed: 9, Sets: 1, CounterBytes: 4096})
	for _, c := range []struct {
		rate   float64
		folded bool
	}{{0.1, false}, {0.1, true}, {0.01, false}, {0.01, true}} {
		r, of := rand.New(rand.NewPCG(5, 5)), missed
		for range *rounds {
			var ring Ring
			var waited, failed float64
			for s := range int64(seconds) {
				w, f, k := drawSecond(r, shard, began+s, calls, c.rate, c.folded)
				waited, failed = waited+w, failed+f
				if k != nil {
					ring.Add(began+s, k)
				}
			}
			got := ring.Summarise(began, began+seconds)
			if !got.Estimated {
				t.Fatalf("%+v is not called an estimate", got)
			}
			for _, of := range []struct {
				f     detect.Figure
				truth float64
			}{{got.Waited, waited}, {got.Failed, failed}} {
				intervals++
				if of.truth < of.f.Low || of.truth > of.f.High {
					missed++
				}
				if of.f.Low > of.f.Value || of.f.High < of.f.Value || of.f.Low < 0 {
					t.Fatalf("%+v", of.f)
				}
			}
		}
		t.Logf("at %v, folded %t: %d of %d intervals miss the truth", c.rate, c.folded, missed-of, 2**rounds)
	}
	if share := float64(missed) / float64(intervals); share > 0.06 {
		t.Errorf("%.1f%% of the intervals miss the truth", 100*share)
	}
}

// drawSecond draws the calls of a second into a shard: one in three is sent up to four
// times, with full jitter from 100 ms on, and fails if that does not do. The key is nil
// where none is sampled.
func drawSecond(r *rand.Rand, shard *sketch.Shard, at int64, calls int, rate float64, folded bool) (waited, failed float64, k *sketch.KeyLoad) {
	cells := map[[2]int64]*sample.Record{}
	for range calls {
		rec := sample.Record{
			Time: at * 1000, Table: "orders", PK: sample.KeyString("k"), Op: sample.PutItem, WCU: 1000, Rate: rate, N: 1, Calls: 1,
			Caller: "svc", Attempts: 1,
		}
		for r.IntN(3) == 0 {
			if rec.Attempts == 4 {
				rec.Failed, rec.Throttle = true, "TableWriteKeyRangeThroughputExceeded"
				failed++
				break
			}
			rec.Waited += math.Round(r.Float64() * 100 * float64(int(1)<<rec.Attempts))
			rec.Attempts++
		}
		waited += rec.Waited / 1000
		if r.Float64() >= rate {
			continue
		}
		if !folded {
			must(shard.Add(&rec))
			continue
		}
		cell := [2]int64{rec.Attempts, 0}
		if rec.Failed {
			cell[1] = 1
		}
		if f := cells[cell]; f != nil {
			f.Waited = (f.Waited*float64(f.N) + rec.Waited) / float64(f.N+1)
			f.N, f.Calls = f.N+1, f.Calls+1
		} else {
			cells[cell] = &rec
		}
	}
	for a := range int64(4) {
		for f := range int64(2) {
			if rec := cells[[2]int64{a + 1, f}]; rec != nil {
				must(shard.Add(rec))
			}
		}
	}
	d := sketch.NewDelta(sketch.Config{Seed: 9})
	shard.Seal(d)
	if len(d.Windows) == 0 {
		return waited, failed, nil
	}
	return waited, failed, &d.Windows[0].Keys[0]
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
