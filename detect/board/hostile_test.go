package board_test

import (
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestNoFindingShowsATextRaw sends load of which every name is an attack through a sketch to
// the board: all that its findings say is printable text.
func TestNoFindingShowsATextRaw(t *testing.T) {
	t.Parallel()
	m := hostile.New(14)
	tables := map[string]string{}
	for _, name := range []string{"one", "shards", "few", "rolling", "moving", "index", "partition", "starved", "unseen", "crowd"} {
		tables[name] = m.Text() + name
	}
	facts := &detect.TableFacts{Replicas: []string{"a", m.Text()}, LSIs: []string{m.Text()}, Billing: detect.BillingProvisioned, WCU: 600}
	b := board.New(board.Options{Facts: func(of detect.Target) *detect.TableFacts {
		if of.Table == tables["one"] || of.Table == tables["starved"] {
			return facts
		}
		return nil
	}})
	b.Settle(scenario.Began-1, true)
	base, caller, index := m.Text(), m.Text(), m.Text()
	config := sketch.Config{Seed: scenario.Seed}
	shard := sketch.NewShard(config)
	const seconds = 25
	for second := range int64(seconds) {
		at := scenario.Began + second
		add := func(table, key string, requests int, change func(i int, r *sample.Record)) {
			for i := range requests {
				r := sample.Record{
					Time: at*1000 + int64(i)%1000, Table: tables[table], PK: sample.KeyString(key), SK: sample.KeyString(fmt.Sprintf("%s%08d", base, int(second)*requests+i)),
					Op: sample.PutItem, WCU: 4000, Rate: 1, N: 1, Caller: caller, Bytes: 300 << 10,
				}
				if change != nil {
					change(i, &r)
				}
				if err := shard.Add(&r); err != nil {
					t.Fatal(err)
				}
			}
		}
		throttled := func(cause string) func(int, *sample.Record) {
			return func(i int, r *sample.Record) {
				if r.Attempts, r.Calls = 4, 1; i%3 == 0 {
					r.Throttle = cause
				}
			}
		}
		add("one", base, 400, throttled(keyRangeCause))
		for i := range 8 {
			add("shards", fmt.Sprintf("%s#SHARD_%d", base, i), 400+200*min(i, 1), nil)
		}
		add("few", base+"OPEN", 200, nil)
		add("few", base+"CLOSED", 200, nil)
		add("moving", fmt.Sprintf("%s-%c", base, 'a'+rune(second/5)), 400, nil)
		add("index", base, 400, func(_ int, r *sample.Record) { r.Index = index })
		add("index", base+"other", 20, throttled("IndexWriteKeyRangeThroughputExceeded"))
		for i := range 40 {
			add("partition", fmt.Sprint(base, i), 10, throttled(keyRangeCause))
			add("starved", fmt.Sprint(base, i), 10, throttled(provisionedCause))
		}
		add("rolling", base+detect.TimeOf(at).Format("2006-01-02T15:04:05"), 400, nil)
		d := sketch.NewDelta(config)
		shard.Seal(d)
		for i := range d.Windows {
			b.Observe(&d.Windows[i])
		}
		unseen := &sketch.Window{Target: sample.Target{Table: tables["unseen"]}, Second: at}
		unseen.Total.Requests, unseen.Total.Load, unseen.Unseen = 50_000, sketch.Load{Write: scenario.Milli(50_000)}, sketch.Load{Write: scenario.Milli(1200)}
		b.Observe(unseen)
		b.Settle(at, true)
	}
	crowded := board.New(board.Options{}) // of its own, since it drops what is known of other keys
	crowded.Settle(scenario.Began-1, true)
	for at := scenario.Began; at < scenario.Began+4; at++ {
		w := flooded(at, 10_000)
		w.Table = tables["crowd"]
		crowded.Observe(w)
		crowded.Settle(at, true)
	}
	kinds := map[detect.Kind]int{}
	for _, f := range append(b.Findings(), crowded.Findings()...) {
		kinds[f.Kind]++
		texts := append([]string{f.Why, f.Observed}, f.Quality.CannotSee...)
		for _, text := range texts {
			if wrong := hostile.FaultOfSentence(text); wrong != "" {
				t.Errorf("%s lets %s through: %q", f.Kind, wrong, text)
			}
		}
	}
	for _, k := range []detect.Kind{
		detect.HotKeyWrite, detect.HotGSIKey, detect.HotPartition, detect.TableStarvation, detect.TooFewShards, detect.UnevenShards, detect.RollingHotKey, detect.MovingHotSpot,
		detect.UnseenKeys, detect.TooManyHotKeys,
	} {
		if kinds[k] == 0 {
			t.Errorf("there is no finding %s: %v", k, kinds)
		}
	}
}
