package fold

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sketch"
)

// Of a closed second the keys above a fiftieth of a limit are kept for the
// charts, at most so many; and every warm key, however many there are: the
// verdict may be about it.
const (
	keptShare = 50
	keptKeys  = 512
)

// Trim drops the parts of a second that are not stored.
func (l *Windows) Trim(o *OpenWindow) {
	l.Keys -= len(o.Window.Keys)
	o.Window.Trim(sketch.Load{Read: detect.PartitionRead / keptShare, Write: detect.PartitionWrite / keptShare},
		max(keptKeys, countJudged(&o.Window)))
	l.Keys += len(o.Window.Keys)
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
