package keydesign_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
	"github.com/keyheat/keyheat/sketch"
)

// recorder sends requests through a shard into a census, and counts them exactly.
type recorder struct {
	shard    *sketch.Shard
	config   sketch.Config
	loads    map[string]float64 // consumed throughput by key
	requests int
}

func newRecorder(sets int) *recorder {
	config := sketch.Config{Sets: sets, CounterBytes: 4096, Seed: 7}
	return &recorder{shard: sketch.NewShard(config), config: config, loads: map[string]float64{}}
}

func (w *recorder) write(t *testing.T, second int64, key string, wcu float64) {
	t.Helper()
	err := w.shard.Add(&sample.Record{Time: (scenario.Began + second) * 1000, Table: "orders", PK: sample.KeyString(key),
		Op: sample.PutItem, WCU: scenario.Milli(wcu), Rate: 1, N: 1})
	must.Succeed(t, err)
	w.loads[key] += 3 * wcu
	w.requests++
}

func (w *recorder) view(t *testing.T) *detect.View {
	t.Helper()
	d := sketch.NewDelta(w.config)
	w.shard.Seal(d)
	c := keydesign.NewCensus()
	merged := map[int64]*sketch.Window{}
	var order []int64
	for i := range d.Windows {
		part := &d.Windows[i]
		if merged[part.Second] == nil {
			merged[part.Second] = &sketch.Window{Target: sample.Target{Table: part.Table}, Second: part.Second}
			order = append(order, part.Second)
		}
		merged[part.Second].Merge(part)
	}
	for _, second := range order {
		c.Observe(merged[second])
	}
	for _, r := range d.Cardinality {
		c.Count(r)
	}
	return c.View(detect.Target{Table: "orders"}, detect.DefaultPolicy())
}

// The listed loads of the top keys hold the truth between their bounds, and no
// key that is not listed has more, with a front far too small for the keys.
func TestTopKeysWithinBounds(t *testing.T) {
	t.Parallel()
	for _, sets := range []int{1, 16, 1024} {
		t.Run(fmt.Sprint(sets), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(sets), 1))
			zipf := rand.NewZipf(random, 1.2, 1, 20_000)
			w := newRecorder(sets)
			for second := range int64(60) {
				for range 3000 {
					w.write(t, second, fmt.Sprintf("user#%d", zipf.Uint64()), float64(1+random.IntN(3)))
				}
			}
			v := w.view(t)
			total := 0.0
			for _, load := range w.loads {
				total += load
			}
			least := math.Inf(1)
			listed := map[string]bool{}
			for _, k := range v.Top {
				truth := w.loads[string(k.Key)] / total
				if truth < k.Share.Low-1e-9 || truth > k.Share.High+1e-9 {
					t.Errorf("%s has %.5f, found in %.5f to %.5f", k.Key, truth, k.Share.Low, k.Share.High)
				}
				least = min(least, k.Share.Low)
				listed[string(k.Key)] = true
			}
			if sets == 1024 && v.Top[0].Share.High-v.Top[0].Share.Low > 0.001 {
				t.Errorf("with room for all keys the first is in %.5f to %.5f", v.Top[0].Share.Low, v.Top[0].Share.High)
			}
			for _, key := range []string{"user#0", "user#1", "user#2"} {
				if !listed[key] {
					t.Errorf("%s with %.3f of the load is not listed", key, w.loads[key]/total)
				}
			}
			distinct := float64(len(w.loads))
			if distinct < v.DistinctKeys.Low || distinct > v.DistinctKeys.High {
				t.Errorf("%g keys, found %+v", distinct, v.DistinctKeys)
			}
			if v.Template.Pattern != "user#<id>" || v.Template.Keys != v.Template.Of {
				t.Errorf("template %+v", v.Template)
			}
		})
	}
}

// EffectiveKeys is the inverse of Simpson's index, and does not mistake a quiet
// second for a skewed one.
func TestEffectiveKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		keys      int
		perSecond int
		skew      bool
		want      float64
	}{
		{"even and busy", 50, 5000, false, 50},
		{"even and quiet", 50, 10, false, 50},
		{"80% on one of many", 1000, 2000, true, 1 / (0.64 + 0.04/1000)},
		{"80% on one of many, quiet", 1000, 20, true, 1 / (0.64 + 0.04/1000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(3, 3))
			w := newRecorder(1024)
			for second := range int64(600_000 / c.perSecond) {
				if second == 4000 {
					break
				}
				for range c.perSecond {
					key := random.IntN(c.keys)
					if c.skew && random.Float64() < 0.8 {
						key = -1
					}
					w.write(t, second, fmt.Sprint("k", key), 1)
				}
			}
			if got := w.view(t).EffectiveKeys; got == nil || math.Abs(*got-c.want) > 0.1*c.want {
				t.Errorf("%v keys at a time, want %.2f", got, c.want)
			}
		})
	}
}

// TestEffectiveKeysOfCalls samples calls of 25 items of one key at 1%: that the items of one
// call are for the same key says nothing of how often two calls are.
func TestEffectiveKeysOfCalls(t *testing.T) {
	t.Parallel()
	const items, rate = 25, 0.01
	random := rand.New(rand.NewPCG(4, 4))
	w := newRecorder(1024)
	add := func(second int64, key string, calls float64) {
		err := w.shard.Add(&sample.Record{Time: (scenario.Began + second) * 1000, Table: "orders", PK: sample.KeyString(key),
			Op: sample.BatchWriteItem, WCU: scenario.Milli(1), Rate: rate, N: 1, Calls: calls})
		must.Succeed(t, err)
	}
	for second := range int64(4000) {
		for range 600 / items {
			if random.Float64() < rate {
				for range items {
					add(second, "big", 1./items)
				}
			}
		}
		for range 400 {
			if random.Float64() < rate {
				add(second, fmt.Sprint("k", random.IntN(300)), 1)
			}
		}
	}
	want := 1 / (0.6*0.6 + 0.4*0.4/300)
	switch got := w.view(t).EffectiveKeys; {
	case got == nil:
		t.Error("how many keys there are at a time is not known")
	case math.Abs(*got-want) > 0.15*want:
		t.Errorf("%v keys at a time, want %.2f", *got, want)
	}
}

// A key's share is of the time in which it was there: a date's key has all of
// its day, and so bounds the table, however many days there are.
func TestCeilings(t *testing.T) {
	t.Parallel()
	dates := newRecorder(1024)
	for second := range int64(1000) {
		for range 20 {
			dates.write(t, second, fmt.Sprintf("2025-11-%02d", 10+second/100), 1)
		}
	}
	v := dates.view(t)
	if v.Ceiling.WCU == nil || *v.Ceiling.WCU != 1000 || v.Ceiling.RCU != nil || *v.EffectivePartitions != 1 {
		t.Errorf("by date: ceiling %v, effective partitions %v", v.Ceiling, v.EffectivePartitions)
	}
	if v.Design.Verdict != detect.DesignPoor || v.Template.Pattern != "<date>" || v.DistinctKeys != (detect.Figure{Value: 10, Low: 10, High: 10}) {
		t.Errorf("by date: %+v %+v %+v", v.Design, v.Template, v.DistinctKeys)
	}

	status := newRecorder(1024)
	random := rand.New(rand.NewPCG(1, 1))
	for second := range int64(100) {
		for range 200 {
			key := "OPEN"
			if random.Float64() > 0.8 {
				key = []string{"PAID", "SENT", "DONE"}[random.IntN(3)]
			}
			status.write(t, second, key, 1)
		}
	}
	v = status.view(t)
	if math.Abs(*v.Ceiling.WCU-1250) > 15 || v.Design.Verdict != detect.DesignVeryPoor || v.WriteShare != 1 {
		t.Errorf("a status with 80%% on one value: ceiling %.0f, %+v", *v.Ceiling.WCU, v.Design)
	}
	if v.Hottest.Key != "OPEN" || v.Hottest.WCU < 150 || v.Hottest.Utilization != v.Hottest.WCU/1000 {
		t.Errorf("hottest second %+v", v.Hottest)
	}

	users := newRecorder(1024)
	for second := range int64(100) {
		for range 50 {
			users.write(t, second, fmt.Sprint("user#", random.IntN(5000)), 1)
		}
	}
	if v = users.view(t); v.Ceiling.WCU != nil || v.EffectivePartitions != nil {
		t.Errorf("no user stands out, but the ceiling is %v", v.Ceiling)
	}
}

// TestSeveralForms holds what is said of a table whose keys have several forms: what one
// of them had for its own time bounds that time and not the table, and the key that is
// named has its own form.
func TestSeveralForms(t *testing.T) {
	t.Parallel()
	w := newRecorder(1024)
	random := rand.New(rand.NewPCG(4, 4))
	for second := range int64(1000) {
		users := 200
		if second >= 900 { // at night a job has nearly everything for 90 seconds
			users = 5
			if second < 990 {
				for range 60 {
					w.write(t, second, "job#nightly", 1)
				}
			}
		}
		for range users {
			w.write(t, second, fmt.Sprint("user#", random.IntN(5000)), 1)
		}
		if second%100 == 99 { // named after its time, and there for one second
			for range 150 {
				w.write(t, second, fmt.Sprintf("2025-11-%02d", 10+second/100), 1)
			}
		}
	}
	v := w.view(t)
	if v.Ceiling.WCU != nil && *v.Ceiling.WCU < 20_000 {
		t.Errorf("the ceiling is %.0f, and the job had 3%% of all", *v.Ceiling.WCU)
	}
	if d := v.Design; d.Verdict != detect.DesignPoor || d.Rule != detect.RuleDominantKey || d.Key != "job#nightly" || d.Share < 0.92 || d.Share > 0.93 {
		t.Errorf("%+v", v.Design)
	}
}

// TestEffectiveKeysAreNotKnown holds that nothing is said of how many keys there are at
// a time where no two requests of a second met.
func TestEffectiveKeysAreNotKnown(t *testing.T) {
	t.Parallel()
	w := newRecorder(1024)
	for second := range int64(100) {
		for i := range int64(20) {
			w.write(t, second, fmt.Sprintf("%x", uint32(20*second+i)*2654435761), 1)
		}
	}
	if v := w.view(t); v.EffectiveKeys != nil {
		t.Errorf("%v keys at a time", *v.EffectiveKeys)
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	ids := func(form string, n int) (keys []string) {
		for i := range n {
			keys = append(keys, fmt.Sprintf(form, 3*i+7))
		}
		return keys
	}
	hashes := func(form string, n int) (keys []string) {
		hasher := keyhash.New([]byte("0123456789abcdef"))
		for i := range n {
			keys = append(keys, fmt.Sprintf(form, hasher.Hide("S", fmt.Sprint(i))))
		}
		return keys
	}
	for _, c := range []struct {
		want string
		fit  int
		keys []string
	}{
		{"user#<id>", 50, ids("user#%d", 50)},
		{"user<id>", 50, ids("user%d", 50)},
		{"<number>", 50, ids("%d", 50)},
		{"<uuid>", 20, ids("0b4e1d7c-6a64-4f0e-9d8a-%012x", 20)},
		{"<date>", 20, ids("2026-11-%02d", 9)[:0:0]},
		{"tenant#<id>#order#<id>", 30, ids("tenant#4#order#%d", 30)},
		{"device_<id>_<date>", 30, ids("device_%d_2026-11-21", 30)},
		{"events#<hour>", 9, ids("events#2026-11-2%[1]dT07", 1)[:0:0]},
		{"user<id>order<id>", 30, ids("user12order%d", 30)},
		{"OPEN#SHARD_<shard>", 12, ids("OPEN#SHARD_%d", 12)},
		{"<word>", 5, []string{"OPEN", "PAID", "SENT", "DONE", "LOST"}},
		{"status#<word>", 4, []string{"status#OPEN", "status#PAID", "status#SENT", "status#DONE"}},
		{"ALL", 1, []string{"ALL"}},
		{"<email>", 3, []string{"a.b@example.com", "c@example.org", "d_e@sub.example.net"}},
		{"<id>", 3, []string{"9f86d081884c7d659a2feaa0", "60303ae22b998861bce3b28f", "fd61a03af4f77d870fc21e05"}},
		{"user#<hash>", 30, hashes("user#%s", 30)},
		{"<hash>#<date>", 30, hashes("%s#2026-11-21", 30)},
		{"‹id›#<id>", 2, []string{"<id>#1", "<id>#2"}},
	} {
		if len(c.keys) == 0 {
			for day := range c.fit {
				c.keys = append(c.keys, map[string]string{
					"<date>": fmt.Sprintf("2026-11-%02d", 1+day), "events#<hour>": fmt.Sprintf("events#2026-11-2%dT07", day),
				}[c.want])
			}
		}
		w := newRecorder(1024)
		for _, key := range c.keys {
			w.write(t, 0, key, 1)
		}
		if got := w.view(t).Template; string(got.Pattern) != c.want || got.Keys != c.fit || got.Of != len(c.keys) {
			t.Errorf("%s…: %+v, want %s with %d", c.keys[0], got, c.want, c.fit)
		}
	}
}

// What was counted does not depend on the order within a second, nor on that of
// maps.
func TestViewIsDeterministic(t *testing.T) {
	t.Parallel()
	build := func() string {
		w := newRecorder(16)
		random := rand.New(rand.NewPCG(5, 5))
		for second := range int64(20) {
			for range 2000 {
				w.write(t, second, fmt.Sprint("k#", random.IntN(3000)), 1)
			}
		}
		text, err := json.Marshal(w.view(t))
		must.Succeed(t, err)
		return string(text)
	}
	first := build()
	for range 3 {
		if again := build(); again != first {
			t.Fatalf("once %s\nthen %s", first, again)
		}
	}
}

// Of very many tables fewer keys each are counted, and the bounds still hold.
func TestManyTables(t *testing.T) {
	t.Parallel()
	const tables = 300
	random := rand.New(rand.NewPCG(9, 9))
	zipf := rand.NewZipf(random, 1.3, 1, 5000)
	shard, config := sketch.NewShard(sketch.Config{Seed: 7}), sketch.Config{Seed: 7}
	loads, totals := map[string]float64{}, map[string]float64{}
	c := keydesign.NewCensus()
	for second := range int64(30) {
		for range 30_000 {
			table, key := fmt.Sprint("t", random.IntN(tables)), fmt.Sprint("k", zipf.Uint64())
			if err := shard.Add(&sample.Record{Time: (scenario.Began + second) * 1000, Table: table, PK: sample.KeyString(key),
				Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1}); err != nil {
				t.Fatal(err)
			}
			loads[table+"/"+key]++
			totals[table]++
		}
		d := sketch.NewDelta(config)
		shard.Seal(d)
		for i := range d.Windows {
			c.Observe(&d.Windows[i])
		}
	}
	for i := range tables {
		table := fmt.Sprint("t", i)
		for _, k := range c.View(detect.Target{Table: table}, detect.DefaultPolicy()).Top {
			truth := loads[table+"/"+string(k.Key)] / totals[table]
			if truth < k.Share.Low-1e-9 || truth > k.Share.High+1e-9 {
				t.Errorf("%s of %s has %.5f, found in %.5f to %.5f", k.Key, table, truth, k.Share.Low, k.Share.High)
			}
		}
	}
}

// TestABurstIsNoCeiling lets one of many keys have all load of a single second, and then
// of two minutes of an hour: the first bounds nothing, and the second one its own time.
func TestABurstIsNoCeiling(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		seconds  int64
		ceilings bool
		rule     detect.DesignRule
		used     int64
	}{
		{1, false, detect.RuleBurst, 0},
		{120, true, detect.RuleDominantKey, 120},
	} {
		w := newRecorder(1024)
		for second := range int64(1200) {
			for i := range 100 {
				w.write(t, second, fmt.Sprint("user#", second*7%50*100+int64(i)), 1)
			}
			for range 1100 {
				if second >= 600 && second < 600+c.seconds {
					w.write(t, second, "user#7777", 1)
				}
			}
		}
		v := w.view(t)
		if (v.Ceiling.WCU != nil && *v.Ceiling.WCU < 2000) != c.ceilings || v.Design.Rule != c.rule || v.Design.Key != "user#7777" || v.Design.Seconds != c.used {
			t.Errorf("of %d seconds: ceiling %v, %+v", c.seconds, v.Ceiling.WCU, v.Design)
		}
	}
}

// TestAMovingKeyIsACeiling gives one key after another most writes for 5 seconds, as a
// sorted import does, and then two at a time half: no table carries more than its seconds'
// own distribution allows, nor more than all of its keys do.
func TestAMovingKeyIsACeiling(t *testing.T) {
	t.Parallel()
	w := newRecorder(1024)
	for second := range int64(900) {
		for range 130 {
			w.write(t, second, fmt.Sprint("cust#", second/5), 10)
		}
		for i := range 200 {
			w.write(t, second, fmt.Sprint("other#", i), 1)
		}
	}
	if v := w.view(t); v.Ceiling.WCU == nil || math.Abs(*v.Ceiling.WCU-1000/(1300./1500)) > 1 {
		t.Errorf("where each second is 87%% of one key's, the table carries %v", v.Ceiling)
	}
	pairs := newRecorder(1024)
	for second := range int64(800) {
		for i := range 100 {
			pairs.write(t, second, fmt.Sprint("k", second/40, "-", i%2), 1)
		}
		pairs.write(t, second, "steady", 1)
	}
	if v := pairs.view(t); v.Ceiling.WCU == nil || *v.Ceiling.WCU > 41_000 {
		t.Errorf("41 keys carry %v", *v.Ceiling.WCU)
	}
}

// TestCeilingsOfTheSources restates docs/FACTS.md, "Shards" and "Key design": a key with the
// share s of the writes caps the table at 1,000/s, and five values carry 5,000.
func TestCeilingsOfTheSources(t *testing.T) {
	t.Parallel()
	ceiling := func(loads map[string]int) float64 {
		w := newRecorder(1024)
		for second := range int64(60) {
			for key, units := range loads {
				for range units {
					w.write(t, second, key, 1)
				}
			}
		}
		v := w.view(t)
		if v == nil || v.Ceiling.WCU == nil {
			t.Fatalf("no ceiling in %+v", v)
		}
		return *v.Ceiling.WCU
	}
	uneven := map[string]int{"open": 800}
	for i := range 20 {
		uneven[fmt.Sprint("k", i)] = 10
	}
	if got := ceiling(uneven); math.Abs(got-1250) > 5 {
		t.Errorf("with 80%% on one value the table carries %v, want 1,250", got)
	}
	if got := ceiling(map[string]int{"open": 400, "paid": 400, "sent": 400, "returned": 400, "closed": 400}); math.Abs(got-5000) > 50 {
		t.Errorf("five even values carry %v, want 5,000", got)
	}
}

// TestFlushesAreNoDesign gives one of many keys what half a minute gathered at one time, and
// samples callers who may have been drawn as a whole: neither shows what a key has in a
// second, or what share of the load.
func TestFlushesAreNoDesign(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story string
		// add returns the records of a second beside the others.
		add     func(second int64) []sample.Record
		hottest float64 // units, at most
		verdict detect.DesignVerdict
		timed   bool // seconds show how often requests met
	}{
		{"a burst of a second", func(second int64) []sample.Record {
			return spread(second, 2000*flag(second%30 == 29))
		}, 2100, detect.DesignWatch, true},
		{"a flush every half a minute", func(second int64) []sample.Record {
			return at(417, spread(second, 2000*flag(second%30 == 29)))
		}, 300, detect.DesignGood, false},
		{"a flush at whole seconds", func(second int64) []sample.Record {
			return at(0, spread(second, 2000*flag(second%30 == 29)))
		}, 300, detect.DesignGood, false},
		{"two of ten callers, said to be 10%", func(second int64) []sample.Record {
			return from("host", 0.1, spread(second, 100))
		}, 1000, detect.DesignUnjudged, false},
		{"a tenth of the requests", func(second int64) []sample.Record {
			all := from("host", 0.1, spread(second, 100))
			for i := range all {
				all[i].Calls = 1
			}
			return all
		}, 1000, detect.DesignPoor, true},
	} {
		random := rand.New(rand.NewPCG(9, 9))
		w := newRecorder(1024)
		for second := range int64(120) {
			all := c.add(second)
			for range 1000 {
				r := spread(second, 1)[0]
				r.Time, r.PK = r.Time/1000*1000+random.Int64N(1000), sample.KeyString(fmt.Sprint("user#", random.IntN(5000)))
				all = append(all, r)
			}
			for i := range all {
				must.Succeed(t, w.shard.Add(&all[i]))
			}
		}
		v := w.view(t)
		if v.Hottest.WCU > c.hottest || v.Design.Verdict != c.verdict {
			t.Errorf("%s: %+v, %+v, want %g at most and %s", c.story, v.Hottest, v.Design, c.hottest, c.verdict)
		}
		if (v.EffectiveKeys != nil) != c.timed {
			t.Errorf("%s: effective keys %v", c.story, v.EffectiveKeys)
		}
	}
}

// spread returns requests of one key, spread over a second.
func spread(second int64, n int) (all []sample.Record) {
	for i := range n {
		all = append(all, sample.Record{Time: (scenario.Began+second)*1000 + int64(i*1000/n), Table: "orders",
			PK: sample.KeyString("user#1"), Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1})
	}
	return all
}

// at gives requests one time within their second.
func at(ms int64, all []sample.Record) []sample.Record {
	for i := range all {
		all[i].Time += ms - all[i].Time%1000
	}
	return all
}

// from names two callers, and the rate at which they are said to be sampled.
func from(caller string, rate float64, all []sample.Record) []sample.Record {
	for i := range all {
		all[i].Caller, all[i].Rate = fmt.Sprint(caller, i%2), rate
	}
	return all
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}

// TestKeysAreCountedExactly counts 300 keys that are all listed, and 3,000 of which some had
// to make room.
func TestKeysAreCountedExactly(t *testing.T) {
	t.Parallel()
	for keys, exact := range map[int]bool{300: true, 3000: false} {
		w := newRecorder(1024)
		for second := range int64(30) {
			for i := range keys {
				w.write(t, second, fmt.Sprint("total#SHARD_", i), 1)
			}
		}
		if n := w.view(t).DistinctKeys; (n == detect.Figure{Value: 300, Low: 300, High: 300}) != exact || n.Low > float64(keys) || n.High < float64(keys) {
			t.Errorf("%d keys are counted as %+v", keys, n)
		}
	}
}

// TestAShareIsSaidOnce gives a key what every 10 seconds gather: its share is of all of the
// time, also of what was before its first flush, where it is named as where it is listed.
func TestAShareIsSaidOnce(t *testing.T) {
	t.Parallel()
	w := newRecorder(1024)
	for second := range int64(180) {
		for i := range 300 {
			w.write(t, second, fmt.Sprint("tenant#", i), 1)
		}
		if second%10 == 9 {
			for range 1500 {
				w.write(t, second, "tenant#big", 10)
			}
		}
	}
	v := w.view(t)
	if top := v.Top[0].Share.Low; math.Abs(top-1500./1800) > 1e-9 || math.Abs(v.Design.Share-top) > 1e-9 || v.Design.Key != "tenant#big" || v.Ceiling.WCU == nil || math.Abs(*v.Ceiling.WCU-1200) > 1e-6 {
		t.Errorf("the key with %v of the load: ceiling %v, %+v", top, v.Ceiling, v.Design)
	}
}

// TestDrawnKeysAreTheLeast draws one request in ten of 5 keys, and of 3,000: those of which
// none was drawn were there, too.
func TestDrawnKeysAreTheLeast(t *testing.T) {
	t.Parallel()
	for _, keys := range []int{5, 3000} {
		random := rand.New(rand.NewPCG(5, uint64(keys)))
		w := newRecorder(1024)
		for second := range int64(30) {
			for range 300 {
				if random.Float64() > 0.1 {
					continue
				}
				err := w.shard.Add(&sample.Record{Time: (scenario.Began + second) * 1000, Table: "orders", PK: sample.KeyString(fmt.Sprint("user#", random.IntN(keys))),
					Op: sample.PutItem, WCU: scenario.Milli(1), Rate: 0.1, N: 1, Calls: 1})
				must.Succeed(t, err)
			}
		}
		v := w.view(t)
		if n := v.DistinctKeys; n.Low != n.Value || n.Low > float64(keys) || n.High < float64(keys) {
			t.Errorf("%d keys are counted as %+v", keys, n)
		}
	}
}
