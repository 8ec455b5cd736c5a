package board_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// refusedLoad is the load of a key in some seconds. A part is refused because of a key range,
// unless for another cause. Requests are sampled one by one.
type refusedLoad struct {
	key      string
	requests int     // a second
	units    float64 // of each
	refused  float64 // part
	from, to int     // seconds
	bare     bool    // refused requests carry no units
	cause    string
}

// send adds a second's sampled requests to a shard. Every so many-th request is refused.
func (l *refusedLoad) send(t *testing.T, shard *sketch.Shard, random *rand.Rand, second int, rate float64) {
	t.Helper()
	if second < l.from || second >= l.to {
		return
	}
	for i := range l.requests {
		if random.Float64() >= rate {
			continue
		}
		n := second*l.requests + i
		r := sample.Record{
			Time: (scenario.Began+int64(second))*1000 + int64(i*997/l.requests), Table: "orders", PK: sample.KeyString(l.key), SK: sample.KeyString(fmt.Sprint(n % 97)),
			Op: sample.UpdateItem, WCU: scenario.Milli(l.units), Rate: rate, N: 1, Caller: fmt.Sprintf("web-%d", n%7),
		}
		if int(float64(n+1)*l.refused) > int(float64(n)*l.refused) {
			r.Throttle = cmp.Or(l.cause, keyRangeCause)
			if l.bare {
				r.WCU = 0
			}
		}
		if err := shard.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
}

// refusedStory judges loads second by second, and calls each with the findings after it.
func refusedStory(t *testing.T, rate float64, seconds int, loads []refusedLoad, each func(second int, found []detect.Finding)) {
	t.Helper()
	b, shard, random := board.New(board.Options{}), sketch.NewShard(sketch.Config{Seed: scenario.Seed}), rand.New(rand.NewPCG(4, 5))
	b.Settle(scenario.Began-1, true)
	for second := range seconds {
		for i := range loads {
			loads[i].send(t, shard, random, second, rate)
		}
		for _, w := range scenario.SealedWindows(shard) {
			b.Observe(&w)
		}
		b.Settle(scenario.Began+int64(second), true)
		each(second, b.Findings())
	}
}

// TestRefusedShares holds when refused requests make a finding, and how severe it is, whatever
// is proven about the load. The last second with one is the finding's last.
func TestRefusedShares(t *testing.T) {
	t.Parallel()
	cold := refusedLoad{key: "cold", requests: 100, units: 1, to: 1000}
	for sentence, c := range map[string]struct {
		rate     float64
		seconds  int
		loads    []refusedLoad
		kind     detect.Subject
		severity detect.Severity
		lasting  detect.Severity
		fires    int // at the latest; 0 for never
	}{
		"one request of 5,000, near the limit": {
			1, 130, []refusedLoad{{key: "k", requests: 970, units: 1, refused: 0.0002, to: 120}}, detect.KeyWrites, detect.Warning, detect.Warning, 5,
		},
		"a fiftieth, near the limit": {
			1, 30, []refusedLoad{{key: "k", requests: 870, units: 1, refused: 0.02, to: 30}}, detect.KeyWrites, detect.Critical, detect.Critical, 3,
		},
		"a fiftieth of attempts that a retry serves": {
			1, 30, []refusedLoad{{key: "k", requests: 900, units: 1, refused: 0.02, to: 30, bare: true}}, detect.KeyWrites, detect.Critical, detect.Critical, 3,
		},
		"a third of ten large requests, two seconds long": {
			1, 30, []refusedLoad{{key: "k", requests: 9, units: 100, refused: 0.34, from: 10, to: 12}, cold}, detect.KeyWrites, detect.Warning, detect.Warning, 12,
		},
		"a third of five large requests, one in ten sampled": {
			0.1, 300, []refusedLoad{{key: "k", requests: 5, units: 200, refused: 0.34, to: 300}, cold}, detect.KeyWrites, detect.Critical, detect.Critical, 60,
		},
		"a fifth, one in a hundred sampled": {
			0.01, 300, []refusedLoad{{key: "k", requests: 1000, units: 1, refused: 0.2, to: 300}, cold}, detect.KeyWrites, detect.Critical, detect.Critical, 20,
		},
		"a five-hundredth, one in ten sampled": {
			0.1, 300, []refusedLoad{{key: "k", requests: 950, units: 1, refused: 0.002, to: 300}, cold}, detect.KeyWrites, detect.Warning, detect.Warning, 60,
		},
		"a third for lack of capacity, one in a hundred sampled": {
			0.01, 300, []refusedLoad{{key: "k", requests: 10, units: 36, refused: 0.34, to: 300, cause: provisionedCause}}, detect.SubjectTable, detect.Warning, "", 120,
		},
		"of a cool key beside one that may be hot and is served, one in a hundred sampled": {
			0.01, 120, []refusedLoad{{key: "k", requests: 600, units: 1, to: 120}, {key: "cool", requests: 100, units: 1, refused: 0.5, to: 120}}, detect.SubjectPartition, detect.Warning, "", 60,
		},
		"of a cool key beside one that is hot and served": {
			1, 60, []refusedLoad{{key: "k", requests: 990, units: 1, to: 60}, {key: "cool", requests: 100, units: 1, refused: 0.1, to: 60}}, detect.SubjectPartition, detect.Warning, "", 5,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			var last *detect.Finding
			fired := 0
			refusedStory(t, c.rate, c.seconds, c.loads, func(second int, found []detect.Finding) {
				if last = single(t, found, c.kind); last != nil && last.State == detect.Firing && fired == 0 {
					fired = second + 1
				}
			})
			if last == nil || last.Severity != c.severity || last.Lasting != c.lasting {
				t.Fatalf("found %+v", last)
			}
			if (fired > 0) != (c.fires > 0) || fired > c.fires {
				t.Errorf("it fired after %d s, want at most %d", fired, c.fires)
			}
			truth := c.loads[0].refused
			if share := last.Throttling; share != nil && truth > 0 {
				if exact := share.ShareLow == share.ShareHigh; exact != (c.rate == 1) || !exact && (truth < share.ShareLow || truth > share.ShareHigh) {
					t.Errorf("a share of %v is said to be %v, %v to %v", truth, share.Share, share.ShareLow, share.ShareHigh)
				}
			}
		})
	}
}

// TestRefusalsGoOn: an incident is not over while requests are refused, though the load has
// fallen, and is over a minute after the last one or the last sample. Its partition is none
// beside it.
func TestRefusalsGoOn(t *testing.T) {
	t.Parallel()
	const fallen, quiet, silent = 60, 200, 250
	for _, rate := range []float64{1, 0.1} {
		for _, end := range []int{quiet, silent} {
			var lastRefusal int64
			loads := []refusedLoad{
				{key: "k", requests: 1400, units: 1, refused: 0.3, to: fallen},
				{key: "k", requests: 400, units: 1, refused: 0.3, from: fallen, to: quiet},
				{key: "k", requests: 100, units: 1, from: quiet, to: end},
			}
			refusedStory(t, rate, silent+2*detect.ResolveSeconds, loads, func(second int, found []detect.Finding) {
				f := single(t, found, detect.KeyWrites)
				if p := single(t, found, detect.SubjectPartition); p != nil {
					t.Fatalf("sampled at %v, after %d s, beside the key: %+v", rate, second, p)
				}
				if second < quiet {
					lastRefusal = int64(second)
				}
				if second < 10 {
					return
				}
				at := detect.TimeOf(scenario.Began + lastRefusal)
				over := int64(second)-lastRefusal >= detect.ResolveSeconds
				if f == nil || !f.LastSeen.Equal(at) || (f.State == detect.Resolved) != over {
					t.Fatalf("sampled at %v, after %d s: %+v", rate, second, f)
				}
			})
		}
	}
}
