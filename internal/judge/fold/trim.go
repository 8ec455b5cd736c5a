package fold

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sketch"
)

// Of a closed second the keys above a fiftieth of a limit are kept for the
// charts, at most so many; and every warm key, however many there are: the
// verdict may be about it.
const (
	keptShare = 50
	keptKeys  = 512
)

// Trim drops the parts of a second that are not stored. Where the table's partitions are known,
// the positions of the dropped keys are kept.
func (l *Windows) Trim(o *OpenWindow, partitions *partition.Map) {
	l.Keys -= o.Size()
	place := partitions.IsDivided() && 2*detect.Weight(o.Window.Total.Load) >= detect.PartitionRead
	o.Window.Trim(sketch.Load{Read: detect.PartitionRead / keptShare, Write: detect.PartitionWrite / keptShare},
		max(keptKeys, countJudged(&o.Window)), place)
	l.Keys += o.Size()
}

// judged counts the keys that the verdict may be about, in the weight that Trim
// orders keys by: both limits are the same in it.
func countJudged(w *sketch.Window) (n int) {
	for i := range w.Keys {
		if detect.Weight(w.Keys[i].High()) >= detect.ShareOf(detect.PartitionRead, detect.TrackShare) {
			n++
		}
	}
	return n
}
