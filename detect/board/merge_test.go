package board_test

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestMergingInAnyOrder spreads the requests of keys of every kind, sampled at
// mixed rates, over four collectors: in whatever order their parts are merged,
// the verdict is the same, to the letter.
func TestMergingInAnyOrder(t *testing.T) {
	t.Parallel()
	workloads := slices.Concat(
		keysLike("celebrity#SHARD_%d", 6, workload{units: 1300, sk: shuffled, caller: "api"}),
		[]workload{
			{key: "clock", units: 1600, sk: rising, caller: "batch"},
			{key: "sampled", units: 30, rate: 0.01, sk: quarter, caller: "web"},
			{key: "mixed", units: 150, rate: 0.1, each: 1.5, sk: mostly(6)}, {key: "mixed", units: 40, rate: 0.03, each: 0.7, sk: shuffled},
			{key: "refused", units: 990, throttled: 50, cause: keyRangeCause}, {key: "read", reads: true, units: 4000, strong: true, sk: oneItem},
			{key: "large", units: 1200, bytes: 8192, edit: &sample.Edit{Changed: 40, Grown: 3, Attributes: []string{"seen"}}},
		},
	)
	const collectors, lasts = 4, 4
	config := sketch.Config{Seed: scenario.Seed}
	random := rand.New(rand.NewPCG(11, 12))
	shards := make([]*sketch.Shard, collectors)
	for i := range shards {
		shards[i] = sketch.NewShard(config)
	}
	for second := range lasts {
		var all []sample.Record
		for i := range workloads {
			all = append(all, workloads[i].send(second, second*1000)...)
		}
		slices.SortStableFunc(all, func(a, b sample.Record) int { return cmp.Compare(a.Time, b.Time) })
		for i := range all {
			if err := shards[random.IntN(collectors)].Add(&all[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	var parts [][]byte // of windows: merging changes them
	for _, s := range shards {
		d := sketch.NewDelta(config)
		s.Seal(d)
		for i := range d.Windows {
			body, err := d.Windows[i].MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, body)
		}
	}
	var want []detect.Finding
	for range 20 {
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		got := findingsOf(t, parts)
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("found %+v\nwant %+v", got, want)
		}
	}
	if len(want) < 10 {
		t.Fatalf("found only %+v", want)
	}
}

// findingsOf returns the verdict on windows that are merged in the given order.
func findingsOf(t *testing.T, parts [][]byte) []detect.Finding {
	t.Helper()
	windows := map[int64]*sketch.Window{}
	b := board.New(board.Options{})
	b.Settle(scenario.Began-1, true)
	for _, body := range parts {
		var part sketch.Window
		if err := part.UnmarshalBinary(body); err != nil {
			t.Fatal(err)
		}
		w := windows[part.Second]
		if w == nil {
			w = &part
			windows[part.Second] = w
		} else {
			w.Merge(&part)
		}
		b.Observe(w) // late parts come while others are judged
	}
	b.Settle(scenario.Began+3, true)
	return b.Findings()
}
