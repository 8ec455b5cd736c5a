package board

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sketch"
)

// maxWalks is the most tables in which walking load is sought, and walkBytes the memory of each.
const maxWalks, walkBytes = 64, 40 << 10

// walks are the tables with enough load to walk.
type walks map[detect.Target]*partition.WalkDetector

// observe looks at a second that is over. An index has other positions, which are unknown.
func (all walks) observe(w *sketch.Window) {
	if w.Index != "" || partition.WriteUnits(w.Total.Load) < partition.LeastWalk {
		return
	}
	if d := all.detector(w.Target); d != nil {
		d.Observe(w)
	}
}

// detector returns the detector of a table; nil if there are too many.
func (all walks) detector(table detect.Target) *partition.WalkDetector {
	d := all[table]
	if d == nil && len(all) < maxWalks {
		d = &partition.WalkDetector{}
		all[table] = d
	}
	return d
}

// evict drops the tables that were quiet for some minutes before a second.
func (all walks) evict(second int64) {
	for target, d := range all {
		if d.IsQuiet(second) {
			delete(all, target)
		}
	}
}
