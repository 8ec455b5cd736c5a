package keypatterns_test

import (
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/keypatterns"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
)

// TestNoShardedKeyShowsATextRaw loads sharded keys of which every name is an attack: too few
// shards, too many, and uneven ones.
func TestNoShardedKeyShowsATextRaw(t *testing.T) {
	t.Parallel()
	m := hostile.New(13)
	check := func(f *detect.Finding) {
		t.Helper()
		if wrong := hostile.FaultOfSentence(f.Why); wrong != "" {
			t.Fatalf("%s lets %s through: %q", f.Kind, wrong, f.Why)
		}
	}
	given, advised := map[detect.Kind]int{}, 0
	for n := range 60 {
		base, table := m.Text(), m.Text()
		units := []float64{1800, 12, 700}[n%3]
		groups := keypatterns.NewGroups(true)
		var found []detect.Finding
		names := make([]string, 12)
		for i := range names {
			names[i] = fmt.Sprintf("%s#SHARD_%d", base, i)
		}
		for second := range int64(10) {
			w := scenario.LoadedWindow(scenario.Began+second, units, names...)
			if n%3 == 2 {
				extra := scenario.LoadedWindow(scenario.Began+second, 4*units, names[0])
				w.Keys[0], w.Total.Load = extra.Keys[0], w.Total.Plus(extra.Total.Load)
			}
			w.Table = table
			groups.Observe(w, w.Second, detect.DefaultPolicy(), &sampling.Clocks{})
		}
		for _, name := range names {
			f := detect.NewFinding(detect.HotKeyWrite, detect.Target{Table: table}, sample.KeyString(name))
			f.Advice = []detect.Step{{Action: detect.ActionShard}}
			found = append(found, f)
		}
		for _, f := range groups.Findings(found, func(detect.Target) detect.Policy { return detect.DefaultPolicy() }) {
			given[f.Kind]++
			check(&f)
		}
		for i := range found {
			if check(&found[i]); found[i].Sharding != nil {
				advised++
			}
		}
	}
	for _, k := range []detect.Kind{detect.TooFewShards, detect.TooManyShards, detect.UnevenShards} {
		if given[k] == 0 {
			t.Errorf("no sharded key has %s: %v", k, given)
		}
	}
	if advised == 0 {
		t.Error("no shard is advised")
	}
}
