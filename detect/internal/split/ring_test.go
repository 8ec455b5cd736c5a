package split_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/split"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
	"github.com/keyheat/keyheat/sketch"
)

// seconds returns what a sketch shows of a key with 1,500 requests a second.
func seconds(n int, sk func(r *rand.Rand, at float64) sample.Key) (all []sketch.Window) {
	r := rand.New(rand.NewPCG(1, 2))
	shard := sketch.NewShard(sketch.Config{Seed: scenario.Seed, Sets: 16, CounterBytes: 1 << 12})
	for second := range n {
		for i := range 1500 {
			at := float64(second) + float64(i)/1500
			record := sample.Record{
				Time: scenario.Began*1000 + int64(at*1000), Table: "orders", PK: sample.KeyString("k"), SK: sk(r, at),
				Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1,
			}
			if err := shard.Add(&record); err != nil {
				panic(err)
			}
		}
		all = append(all, scenario.SealedWindows(shard)...)
	}
	return all
}

// TestRingInAnyOrder observes seconds in random orders, some of them twice, and first
// a part of them: the verdict is that of all, once and in order.
func TestRingInAnyOrder(t *testing.T) {
	t.Parallel()
	windows := seconds(125, uuid)
	var want split.Ring
	for i := range windows {
		want.Add(windows[i].Second, &windows[i].Keys[0])
	}
	wanted := want.Judge(detect.KeyWrites, scenario.Began)
	if wanted == nil || wanted.Verdict != detect.SplitHelps || wanted.Seconds != 120 {
		t.Fatalf("in order the verdict is %+v", wanted)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 10 {
		var got split.Ring
		for _, i := range append(random.Perm(len(windows))[:80], random.Perm(len(windows))...) {
			got.Add(windows[i].Second, &windows[i].Keys[0])
		}
		for _, time := range []string{"first", "second"} {
			v := got.Judge(detect.KeyWrites, scenario.Began)
			if !reflect.DeepEqual(v, wanted) {
				t.Fatalf("in a random order the verdict is %+v the %s time, want %+v", v, time, wanted)
			}
			v.Verdict = detect.SplitUnknown // is the caller's
		}
	}
}

// TestRingForgets judges a key whose load moves after it was spread for minutes: what
// is more than two minutes old does not count, nor what was before an episode.
func TestRingForgets(t *testing.T) {
	t.Parallel()
	windows := seconds(400, func(r *rand.Rand, at float64) sample.Key {
		if at < 200 {
			return uuid(r, at)
		}
		return timestamp(r, at)
	})
	var ring split.Ring
	verdict := func(from int64) detect.SplitVerdict {
		return ring.Judge(detect.KeyWrites, scenario.Began+from).Verdict
	}
	if v := ring.Judge(detect.KeyWrites, scenario.Began); v != nil {
		t.Errorf("of nothing the verdict is %+v", v)
	}
	for i := range windows {
		ring.Add(windows[i].Second, &windows[i].Keys[0])
		switch i {
		case 199:
			if v := verdict(0); v != detect.SplitHelps {
				t.Errorf("while it is spread the verdict is %s", v)
			}
		case 210:
			if v := verdict(200); v != detect.SplitMoving {
				t.Errorf("of an episode that moves the verdict is %s", v)
			}
		case 399:
			if v := verdict(0); v != detect.SplitMoving {
				t.Errorf("when it has moved for minutes the verdict is %s", v)
			}
		}
	}
}

// TestReadsAndWritesAreJudgedApart has writes that move and reads of one item.
func TestReadsAndWritesAreJudgedApart(t *testing.T) {
	t.Parallel()
	shard := sketch.NewShard(sketch.Config{Seed: scenario.Seed, Sets: 16, CounterBytes: 1 << 12})
	var ring split.Ring
	for second := range 30 {
		for i := range 2000 {
			at := float64(second) + float64(i)/2000
			record := sample.Record{
				Time: scenario.Began*1000 + int64(at*1000), Table: "orders", PK: sample.KeyString("k"), SK: timestamp(nil, at),
				Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1,
			}
			if i%2 == 0 {
				record.Op, record.WCU, record.RCU, record.SK = sample.GetItem, 0, 16_000, sample.KeyString("profile")
			} else {
				record.WCU = 1500
			}
			must.Succeed(t, shard.Add(&record))
		}
		for _, w := range scenario.SealedWindows(shard) {
			ring.Add(w.Second, &w.Keys[0])
		}
	}
	if v := ring.Judge(detect.KeyWrites, scenario.Began); v.Verdict != detect.SplitMoving || v.Direction != detect.Rising {
		t.Errorf("of writes the verdict is %+v", v)
	}
	if v := ring.Judge(detect.KeyReads, scenario.Began); v.Verdict != detect.SplitHotItem || v.Item > 16_000 {
		t.Errorf("of reads the verdict is %+v", v)
	}
}

// TestHiddenSortKeys says that hashes have no order, in one part or several, and that
// other texts of their length have.
func TestHiddenSortKeys(t *testing.T) {
	t.Parallel()
	hash := func(text string) string {
		return keyhash.New([]byte("0123456789abcdef")).Hide("S", text) // one each, since a hasher is for one goroutine
	}
	for name, c := range map[string]struct {
		sk     func(i int) sample.Key
		hidden bool
	}{
		"one part":  {func(i int) sample.Key { return sample.KeyString(hash(fmt.Sprint(i))) }, true},
		"two parts": {func(i int) sample.Key { return sample.KeyString(hash("order") + "#" + hash(fmt.Sprint(i))) }, true},
		"four parts, cut off": {func(i int) sample.Key {
			s := hash(fmt.Sprint(i))
			return sample.KeyString(s + "#" + s + "#" + s + "#" + s)
		}, true},
		"behind today's date":     {func(i int) sample.Key { return text("2025-11-21#%s", hash(fmt.Sprint(i))) }, true},
		"behind a time":           {func(i int) sample.Key { return text("2025-11-21T07:%06d#%s", i, hash(fmt.Sprint(i))) }, false},
		"behind three letters":    {func(i int) sample.Key { return text("abc%s", hash(fmt.Sprint(i))) }, true},
		"a hash behind a word":    {func(i int) sample.Key { return text("order#%s#%08d", hash("a"), i) }, false},
		"two attributes":          {func(i int) sample.Key { return sample.JoinKeys(text("%s", hash("a")), text("%s", hash(fmt.Sprint(i)))) }, true},
		"no hash":                 {func(i int) sample.Key { return text("order-2025-11-21-%05d", i) }, false},
		"a plain part at the end": {func(i int) sample.Key { return text("%s#%08d", hash("a"), i) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := 0
			var ring split.Ring
			windows := seconds(10, func(*rand.Rand, float64) sample.Key { i++; return c.sk(i) })
			for n := range windows {
				ring.Add(windows[n].Second, &windows[n].Keys[0])
			}
			if v := ring.Judge(detect.KeyWrites, scenario.Began); (v.Verdict == detect.SplitHidden) != c.hidden {
				t.Errorf("the verdict is %+v", v)
			}
		})
	}
}

// BenchmarkJudge is a verdict that is asked again: "new" after another second, "same"
// with nothing in between.
func BenchmarkJudge(b *testing.B) {
	windows := seconds(125, uuid)
	var ring split.Ring
	for i := range windows {
		ring.Add(windows[i].Second, &windows[i].Keys[0])
	}
	for name, changes := range map[string]bool{"new": true, "same": false} {
		b.Run(name, func(b *testing.B) {
			last := &windows[len(windows)-1]
			b.ReportAllocs()
			for b.Loop() {
				if changes {
					ring.Add(last.Second, &last.Keys[0])
				}
				ring.Judge(detect.KeyWrites, scenario.Began)
			}
		})
	}
}

// TestMeanOfPauses holds the mean of a load that comes every ten seconds to that of the
// time: of n loads only n−1 pauses are seen.
func TestMeanOfPauses(t *testing.T) {
	t.Parallel()
	var ring split.Ring
	windows := seconds(200, uuid)
	for i := 9; i < len(windows); i += 10 {
		ring.Add(windows[i].Second, &windows[i].Keys[0])
		if i < 29 {
			continue
		}
		if v := ring.Judge(detect.KeyWrites, scenario.Began); math.Abs(v.Load-150) > 0.1 {
			t.Errorf("after %d seconds a load of 1,500 units every ten seconds is %.1f a second", i+1, v.Load)
		}
	}
}
