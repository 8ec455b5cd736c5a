package analyze

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// The keys that a report draws: of each table so many, and so many in all.
const (
	drawnOfTable = 12
	drawnKeys    = 24
)

// drawnSteps is the most peaks of a key that a report draws: a heatmap has two more columns.
const drawnSteps = 118

// drawnKey is a key with its highest load of a second.
type drawnKey struct {
	target detect.Target
	key    sample.Key
	most   sketch.Load
}

func (k *drawnKey) utilization() float64 {
	return max(detect.Ratio(detect.Units(k.most.Write), detect.Units(detect.PartitionWrite)), detect.Ratio(detect.Units(k.most.Read), detect.Units(detect.PartitionRead)))
}

// drawnOf returns the busiest keys, the busiest first.
func (s *sketches) drawnOf() (all []drawnKey) {
	type id struct {
		target detect.Target
		key    sample.Key
	}
	most := map[id]sketch.Load{}
	for w := range s.windows.All() {
		for i := range w.Keys {
			k := &w.Keys[i]
			load := most[id{w.Target, k.Key}]
			most[id{w.Target, k.Key}] = sketch.Load{Write: max(load.Write, k.Low.Write), Read: max(load.Read, k.Low.Read)}
		}
	}
	for of, load := range most {
		all = append(all, drawnKey{of.target, of.key, load})
	}
	slices.SortFunc(all, func(a, b drawnKey) int {
		return cmp.Or(cmp.Compare(b.utilization(), a.utilization()), compareTargets(a.target, b.target), cmp.Compare(a.key.Text, b.key.Text), cmp.Compare(a.key.Type, b.key.Type))
	})
	drawn := map[detect.Target]int{}
	all = slices.DeleteFunc(all, func(k drawnKey) bool {
		drawn[k.target]++
		return drawn[k.target] > drawnOfTable
	})
	return all[:min(len(all), drawnKeys)]
}

// pictures returns the busiest keys with their highest second of each step, and the step.
func (s *sketches) pictures() (all []report.Key, step time.Duration) {
	drawn := s.drawnOf()
	from, to := int64(0), int64(0)
	for w := range s.windows.All() {
		if to == 0 {
			from = w.Second
		}
		to = w.Second + 1
	}
	each := max(1, (to-from+drawnSteps-1)/drawnSteps)
	places := map[detect.KeyRef]int{}
	for i, k := range drawn {
		ref := detect.KeyRef{Target: k.target, Key: sample.Text(k.key.Text), KeyType: k.key.Type}
		places[ref] = i
		key := report.Key{KeyRef: ref, Unit: "wcu", Limit: detect.Units(detect.PartitionWrite)}
		if k.readsMore() {
			key.Unit, key.Limit = "rcu", detect.Units(detect.PartitionRead)
		}
		all = append(all, key)
	}
	for w := range s.windows.All() {
		for i := range w.Keys {
			ref := detect.KeyRef{Target: w.Target, Key: sample.Text(w.Keys[i].Key.Text), KeyType: w.Keys[i].Key.Type}
			if n, is := places[ref]; is {
				all[n].AddPeak(time.Unix(w.Second/each*each, 0).UTC(), unitsOf(&all[n], w.Keys[i].Low))
			}
		}
	}
	return all, time.Duration(each) * time.Second
}

// readsMore reports whether a key's reads are nearer to their limit than its writes.
func (k *drawnKey) readsMore() bool {
	return detect.Ratio(detect.Units(k.most.Read), detect.Units(detect.PartitionRead)) > detect.Ratio(detect.Units(k.most.Write), detect.Units(detect.PartitionWrite))
}

func unitsOf(k *report.Key, l sketch.Load) float64 {
	if k.Unit == "rcu" {
		return detect.Units(l.Read)
	}
	return detect.Units(l.Write)
}
