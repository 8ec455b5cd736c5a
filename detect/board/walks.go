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

// observe adds a second of a table. An index has other positions, which are unknown.
func (all walks) observe(w *sketch.Window) {
	if w.Index != "" || partition.WriteUnits(w.Total.Load) < partition.LeastWalk {
		return
	}
	d := all[w.Target]
	if d == nil {
		if len(all) == maxWalks {
			return
		}
		d = &partition.WalkDetector{}
		all[w.Target] = d
	}
	d.Observe(w)
}

// evict drops the tables that were quiet for some minutes before a second.
func (all walks) evict(second int64) {
	for target, d := range all {
		if d.IsQuiet(second) {
			delete(all, target)
		}
	}
}
