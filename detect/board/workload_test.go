package board_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
	"github.com/keyheat/keyheat/sketch"
)

// workload is the traffic of one key, the same in every second. A list of them is
// a scenario.
type workload struct {
	key, index string
	units      float64 // a second
	each       float64 // of one request, 1 when 0
	reads      bool
	op         sample.Op // UpdateItem or GetItem when 0
	strong     bool
	sk         func(i int) sample.Key // of the i-th request since the beginning
	caller     string
	cause      string  // why `throttled` of the units are throttled
	throttled  float64 // a second
	bytes      int64
	edit       *sample.Edit
	rate       float64 // 1 when 0
	change     bool    // seen by a stream
	from, to   int     // in which seconds; all when both are 0
	every      int     // two seconds of so many; all when 0
}

// maxRecords is how many records stand for a key's second: beyond that each
// stands for several requests.
const maxRecords = 400

// sketched sends workloads through a sketch and returns every second, complete.
func sketched(workloads []workload, seconds int) []*sketch.Window {
	return mergedParts(partsOf(workloads, seconds, 1, nil), nil)
}

// sketchedParts sends workloads through so many sketches, each request through any
// of them, and returns the parts of seconds that they saw.
func partsOf(workloads []workload, seconds, shards int, random *rand.Rand) (parts []sketch.Window) {
	config := sketch.Config{Seed: scenario.Seed}
	all := make([]*sketch.Shard, shards)
	for i := range all {
		all[i] = sketch.NewShard(config)
	}
	sent := make([]int, len(workloads))
	for second := range seconds {
		var requests []sample.Record
		for i := range workloads {
			if a := &workloads[i]; (a.to == 0 || second >= a.from && second < a.to) && (a.every == 0 || second%a.every < 2) {
				of := a.send(second, sent[i])
				requests = append(requests, of...)
				sent[i] += len(of)
			}
		}
		slices.SortStableFunc(requests, func(a, b sample.Record) int { return cmp.Compare(a.Time, b.Time) })
		for i := range requests {
			shard := all[0]
			if shards > 1 {
				shard = all[random.IntN(shards)]
			}
			if err := shard.Add(&requests[i]); err != nil {
				panic(err)
			}
		}
	}
	for _, shard := range all {
		delta := sketch.NewDelta(config)
		shard.Seal(delta)
		parts = append(parts, delta.Windows...)
	}
	return parts
}

// mergedParts returns the complete seconds that parts make, merged in a random order,
// or in theirs.
func mergedParts(parts []sketch.Window, random *rand.Rand) (all []*sketch.Window) {
	order := inOrder(len(parts))
	if random != nil {
		order = random.Perm(len(parts))
	}
	merged := map[string]map[int64]*sketch.Window{}
	for _, i := range order {
		part := &parts[i]
		if merged[part.Index] == nil {
			merged[part.Index] = map[int64]*sketch.Window{}
		}
		w := merged[part.Index][part.Second]
		if w == nil {
			w = &sketch.Window{Target: part.Target, Second: part.Second}
			merged[part.Index][part.Second] = w
			all = append(all, w)
		}
		w.Merge(part)
	}
	slices.SortFunc(all, func(a, b *sketch.Window) int {
		return cmp.Or(cmp.Compare(a.Second, b.Second), cmp.Compare(a.Index, b.Index))
	})
	return all
}

// send returns a second's requests; sent is how many were made before.
func (a *workload) send(second, sent int) (all []sample.Record) {
	each := cmp.Or(a.each, 1)
	requests := int(a.units/each + 0.5)
	fold := (requests + maxRecords - 1) / maxRecords
	throttled := a.throttled / each
	for i := 0; i < requests; i += fold {
		n := min(fold, requests-i)
		r := sample.Record{
			Time: (scenario.Began+int64(second))*1000 + int64(1000*i/requests), Table: "orders", Index: a.index,
			PK: sample.KeyString(a.key), Op: a.op, N: int64(n), Rate: cmp.Or(a.rate, 1), Caller: a.caller, Bytes: a.bytes, Edit: a.edit, Change: a.change,
		}
		if a.op == sample.Scan {
			r.PK = sample.Key{}
		}
		if a.reads {
			r.RCU, r.Op = scenario.Milli(each), cmp.Or(a.op, sample.GetItem)
		} else {
			r.WCU, r.Op = scenario.Milli(each), cmp.Or(a.op, sample.UpdateItem)
		}
		if a.strong {
			r.Read = sample.Strong
		}
		if a.sk != nil {
			r.SK = a.sk(sent)
		}
		if float64(i) < throttled {
			r.Throttle = a.cause
		}
		all = append(all, r)
		sent++
	}
	return all
}

// Sort keys of workloads.

func shuffled(i int) sample.Key { return sample.KeyString(fmt.Sprintf("%08x", uint32(i)*2654435761)) }

func rising(i int) sample.Key { return sample.KeyString(fmt.Sprintf("2025-11-21T10:%08d", i)) }

func falling(i int) sample.Key { return sample.KeyString(fmt.Sprintf("%08d", 99999999-i)) }

// quarter returns one item in a quarter of the requests.
func quarter(i int) sample.Key {
	if i%4 == 0 {
		return sample.KeyString("the-one")
	}
	return shuffled(i)
}

// mostly returns one item in so many of ten requests, and many others.
func mostly(tenths int) func(int) sample.Key {
	return func(i int) sample.Key {
		if i%10 < tenths {
			return sample.KeyString("the-one")
		}
		return shuffled(i)
	}
}

func three(i int) sample.Key { return sample.KeyString(fmt.Sprintf("item-%d", i%3)) }

// jittered rises by the time, which clocks and networks shift by up to 50 requests.
func jittered(i int) sample.Key { return rising(i - int(uint32(i)*2654435761>>16)%50) }

// counter is a number that gains a digit.
func counter(i int) sample.Key {
	return sample.Key{Type: sample.TypeNumber, Text: fmt.Sprint(9500 + i)}
}

// inTurn is ten writers, of which each sends four seconds of a story's requests.
func inTurn(i int) sample.Key { return sample.KeyString(fmt.Sprintf("host-%d#%08d", i/1500%10, i)) }

// hashed is a time, as a producer hides it, hashedItem an item.
func hashed(i int) sample.Key {
	return sample.KeyString(keyhash.New([]byte("0123456789abcdef")).Hide("S", rising(i).Text))
}

func hashedItem(int) sample.Key { return hashed(7) }

func oneItem(int) sample.Key { return sample.KeyString("profile") }

// keysLike returns n keys of a form with the same traffic each.
func keysLike(form string, n int, a workload) (all []workload) {
	for i := range n {
		a.key = fmt.Sprintf(form, i)
		all = append(all, a)
	}
	return all
}
