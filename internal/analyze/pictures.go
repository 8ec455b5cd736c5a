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

// drawnSteps is about how many columns a heatmap has at most.
const drawnSteps = 118

// drawnKey is a key with its highest utilization of a partition.
type drawnKey struct {
	target      detect.Target
	key         sample.Key
	utilization float64
}

func utilizationOf(l sketch.Load) float64 {
	return max(detect.Ratio(float64(l.Write), float64(detect.PartitionWrite)), detect.Ratio(float64(l.Read), float64(detect.PartitionRead)))
}

// drawnOf returns the busiest keys, the busiest first.
func (s *sketches) drawnOf() (all []drawnKey) {
	type id struct {
		target detect.Target
		key    sample.Key
	}
	most := map[id]float64{}
	for w := range s.windows.All() {
		for i := range w.Keys {
			k := &w.Keys[i]
			most[id{w.Target, k.Key}] = max(most[id{w.Target, k.Key}], utilizationOf(k.Low))
		}
	}
	for of, utilization := range most {
		all = append(all, drawnKey{of.target, of.key, utilization})
	}
	slices.SortFunc(all, func(a, b drawnKey) int {
		return cmp.Or(cmp.Compare(b.utilization, a.utilization), compareTargets(a.target, b.target), cmp.Compare(a.key.Text, b.key.Text), cmp.Compare(a.key.Type, b.key.Type))
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
		all = append(all, report.Key{KeyRef: ref})
	}
	for w := range s.windows.All() {
		for i := range w.Keys {
			ref := detect.KeyRef{Target: w.Target, Key: sample.Text(w.Keys[i].Key.Text), KeyType: w.Keys[i].Key.Type}
			if n, is := places[ref]; is {
				all[n].Raise(time.Unix(w.Second/each*each, 0), utilizationOf(w.Keys[i].Low))
			}
		}
	}
	return all, time.Duration(each) * time.Second
}
