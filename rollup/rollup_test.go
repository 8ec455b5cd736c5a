package rollup_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

func must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// second is a window of keys with these write units, ordered by hash.
func second(loads map[string]int) *sketch.Window {
	w := &sketch.Window{Target: sample.Target{Table: "orders"}}
	for key, wcu := range loads {
		w.Keys = append(w.Keys, sketch.KeyLoad{
			Hash: sketch.Hash(w.Target, sample.KeyString(key), 7), Key: sample.KeyString(key), Low: sketch.Load{Write: sample.Milli(wcu) * 1000},
		})
	}
	slices.SortFunc(w.Keys, func(a, b sketch.KeyLoad) int {
		if a.Hash < b.Hash {
			return -1
		}
		return 1
	})
	return w
}

// TestHighestSecondsAreExact: through all levels, with three times as many keys as a
// roll-up lists, the highest second of each listed key is the true one, a sum is no more
// than the truth, and what is not listed is bounded.
func TestHighestSecondsAreExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	highest, sums := make(map[string]int), make(map[string]int)
	hour := &rollup.Rollup{}
	for range 6 {
		minute := &rollup.Rollup{}
		for range 6 {
			ten := &rollup.Rollup{}
			for range 10 {
				loads := make(map[string]int)
				for range 300 {
					key := fmt.Sprintf("key %d", random.IntN(3*rollup.Keys))
					loads[key] = 1 + random.IntN(2000)
				}
				for key, wcu := range loads {
					highest[key], sums[key] = max(highest[key], wcu), sums[key]+wcu
				}
				ten.Add(rollup.OfSecond(second(loads), true))
			}
			ten.Trim()
			minute.Add(ten)
		}
		minute.Trim()
		hour.Add(minute)
	}
	hour.Trim()
	if len(hour.Keys) != rollup.Keys || hour.Seconds != 360 {
		t.Fatalf("%d keys of %d seconds", len(hour.Keys), hour.Seconds)
	}
	listed := make(map[string]bool)
	for _, k := range hour.Keys {
		listed[k.Key.Text] = true
		if got := int(k.Write.Max.Value / 1000); got != highest[k.Key.Text] {
			t.Errorf("%s: highest second %d, want %d", k.Key.Text, got, highest[k.Key.Text])
		}
		if got := int(k.Write.Sum / 1000); got > sums[k.Key.Text] || got < highest[k.Key.Text] {
			t.Errorf("%s: sum %d, want at most %d", k.Key.Text, got, sums[k.Key.Text])
		}
	}
	for key, wcu := range highest {
		if !listed[key] && sample.Milli(wcu)*1000 > hour.Unlisted.Write {
			t.Errorf("%s is not listed, with %d above the bound %d", key, wcu, hour.Unlisted.Write/1000)
		}
	}
}

// TestAKeyThatIsCut is known by its hash, with all of its text where any part has it.
func TestAKeyThatIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	whole, cut := second(map[string]int{long: 900}), second(map[string]int{long: 30})
	cut.Keys[0].Key.Text, cut.Keys[0].Cut = long[:32], true
	other := second(map[string]int{long + "other": 30})
	other.Keys[0].Key.Text, other.Keys[0].Cut = long[:32], true
	r := rollup.OfSecond(cut, true)
	r.Add(rollup.OfSecond(other, true))
	r.Add(rollup.OfSecond(whole, true))
	if len(r.Keys) != 2 {
		t.Fatalf("%d keys, want 2: %+v", len(r.Keys), r.Keys)
	}
	i := slices.IndexFunc(r.Keys, func(k rollup.Key) bool { return !k.Cut })
	if i < 0 || r.Keys[i].Key.Text != long || r.Keys[i].Write.Sum != 930_000 || r.Keys[i].Seconds != 2 {
		t.Errorf("the key is %+v", r.Keys)
	}
}

func TestThrottledKeysHaveReasons(t *testing.T) {
	t.Parallel()
	w := second(map[string]int{"a": 2000, "b": 10})
	for i := range w.Keys {
		if w.Keys[i].Key.Text == "a" {
			w.Keys[i].Throttled.Write = 1_000_000
			w.Keys[i].Evidence = &sketch.Evidence{}
			w.Keys[i].Evidence.Refused[sample.KeyRange] = 3
		}
	}
	r := rollup.OfSecond(w, false)
	if r.Incomplete != 1 || r.Keys[0].Write.Throttled != 1_000_000 || !slices.Equal(r.Keys[0].Reasons.Words(), []string{"KeyRangeThroughputExceeded"}) || len(r.Keys[1].Reasons.Words()) != 0 {
		t.Errorf("%+v", r)
	}
}

// TestRaise: neither of two roll-ups of one bucket is lost, and nothing counts twice.
func TestRaise(t *testing.T) {
	t.Parallel()
	before := rollup.OfSecond(second(map[string]int{"a": 900, "b": 50}), true)
	before.Add(rollup.OfSecond(second(map[string]int{"a": 100}), true))
	after := rollup.OfSecond(second(map[string]int{"a": 100, "c": 70}), true)
	after.Raise(before)
	var got []string
	for _, k := range after.Keys {
		got = append(got, fmt.Sprintf("%s %d %d %d", k.Key.Text, k.Seconds, k.Write.Max.Value/1000, k.Write.Sum/1000))
	}
	if want := []string{"a 2 900 1000", "b 1 50 50", "c 1 70 70"}; !slices.Equal(got, want) || after.Seconds != 2 {
		t.Errorf("%d seconds of %q, want 2 of %q", after.Seconds, got, want)
	}
}

// busy is a roll-up of many keys of about 25 bytes.
func busy(n int) *rollup.Rollup {
	random := rand.New(rand.NewPCG(3, 4))
	loads := make(map[string]int)
	for len(loads) < n {
		loads[fmt.Sprintf("TENANT#%04d#ORDER#2026-%02d", random.IntN(10_000), random.IntN(12))] = 20 + random.IntN(900)
	}
	r := &rollup.Rollup{}
	for range 10 {
		for key := range loads {
			loads[key] = 20 + random.IntN(900)
		}
		r.Add(rollup.OfSecond(second(loads), true))
	}
	r.Trim()
	return r
}

// TestSumsThatOverflowAreReadBack: of loads that nobody can have had.
func TestSumsThatOverflowAreReadBack(t *testing.T) {
	t.Parallel()
	most := sketch.Load{Write: math.MaxInt64, Read: 1}
	r := rollup.OfSecond(&sketch.Window{Unseen: most, Keys: []sketch.KeyLoad{{Hash: 1, Key: sample.KeyString("a"), Low: most, Err: most}}}, true)
	for range 3 {
		r.Add(r)
	}
	body, err := r.MarshalBinary()
	must(t, err)
	var read rollup.Rollup
	must(t, read.UnmarshalBinary(body))
	if read.Unlisted.Write != math.MaxInt64 || read.Keys[0].Write.Max.High != math.MaxInt64 {
		t.Errorf("read %+v", read)
	}
}

func TestCodec(t *testing.T) {
	t.Parallel()
	cut := second(map[string]int{strings.Repeat("y", 40): 30, "\x00\xff": 7, "": 5})
	cut.Keys[0].Cut = true
	for _, r := range []*rollup.Rollup{{Keys: []rollup.Key{}}, rollup.OfSecond(cut, false), busy(500)} {
		body, err := r.MarshalBinary()
		must(t, err)
		var read rollup.Rollup
		must(t, read.UnmarshalBinary(body))
		if !reflect.DeepEqual(*r, read) {
			t.Errorf("written %+v\nread %+v", *r, read)
		}
		holdPeek(t, body, read)
		for i := range body {
			damaged := slices.Clone(body)
			damaged[i] ^= 0x55
			if err := new(rollup.Rollup).UnmarshalBinary(damaged); err == nil {
				t.Fatalf("byte %d of %d is damaged, and nobody sees it", i, len(body))
			} else if !errors.Is(err, rollup.ErrCorrupt) {
				t.Fatalf("byte %d: %v, want ErrCorrupt", i, err)
			}
			if _, err := rollup.Peek(damaged); !errors.Is(err, rollup.ErrCorrupt) {
				t.Fatalf("byte %d is damaged, and a peek returns %v", i, err)
			}
		}
	}
}

// holdPeek holds a peek to what the whole has: one of its hottest keys.
func holdPeek(t *testing.T, body []byte, whole rollup.Rollup) {
	t.Helper()
	peek, err := rollup.Peek(body)
	must(t, err)
	keys, highest := whole.Keys, 0.0
	for i := range keys {
		highest = max(highest, keys[i].Utilization())
	}
	one := slices.IndexFunc(keys, func(k rollup.Key) bool { return k.Utilization() == highest })
	if len(keys) == 0 && len(peek.Keys) == 0 {
		return
	}
	if len(peek.Keys) != 1 || peek.Keys[0] != keys[one] || peek.Unlisted != whole.Unlisted || peek.Seconds != whole.Seconds {
		t.Errorf("a peek returns %+v, want %+v of %+v", peek, keys[one], whole)
	}
}

func FuzzUnmarshalBinary(f *testing.F) {
	for _, r := range []*rollup.Rollup{{}, busy(3)} {
		body, err := r.MarshalBinary()
		must(f, err)
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r rollup.Rollup
		if err := r.UnmarshalBinary(body); err != nil {
			return
		}
		written, err := r.MarshalBinary()
		must(t, err)
		var again rollup.Rollup
		must(t, again.UnmarshalBinary(written))
		if !reflect.DeepEqual(r, again) {
			t.Errorf("%+v is read as %+v", r, again)
		}
		holdPeek(t, body, r)
	})
}

// BenchmarkMarshal reports the bytes of a roll-up of so many keys.
func BenchmarkMarshal(b *testing.B) {
	for _, n := range []int{10, 50, rollup.Keys} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r, size := busy(n), 0
			for b.Loop() {
				body, err := r.MarshalBinary()
				must(b, err)
				size = len(body)
			}
			b.ReportMetric(float64(size), "B/rollup")
		})
	}
}

// BenchmarkOfSecond is what the judge does for a second of 512 keys.
func BenchmarkOfSecond(b *testing.B) {
	loads := make(map[string]int)
	for k := range 512 {
		loads[fmt.Sprintf("TENANT#%04d", k)] = 20 + k
	}
	w := second(loads)
	for b.Loop() {
		rollup.OfSecond(w, true)
	}
}
