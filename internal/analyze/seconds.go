package analyze

import (
	"cmp"
	"maps"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/internal/growth"
	"github.com/keyheat/keyheat/sketch"
)

// sketches are those of the records, by target and second.
type sketches struct {
	shard   *sketch.Shard
	census  *keydesign.Census
	windows map[instant]*window
	keys    int // of all windows
	maxKeys int
	turn    int64 // counts the sealings
}

// instant is one event-time second of a table or index.
type instant struct {
	target detect.Target
	second int64
}

func (i instant) compare(o instant) int {
	return cmp.Or(cmp.Compare(i.second, o.second), compareTargets(i.target, o.target))
}

type window struct {
	sketch.Window
	touched int64 // the sealing that added to it last
}

func newSeconds(maxKeys int) *sketches {
	return &sketches{
		shard: sketch.NewShard(config()), census: keydesign.NewCensus(),
		windows: make(map[instant]*window), maxKeys: maxKeys,
	}
}

// sealAt is how many bytes the shard may hold in seconds that have left its
// ring. Sealing cuts the live seconds in two, which widens their bounds, so it
// is done seldom.
const sealAt = 32 << 20

// sealIfFull keeps the shard within its memory.
func (s *sketches) sealIfFull() {
	if s.shard.Pending() > sealAt {
		s.seal()
	}
}

// seal merges what the shard has into the seconds, and keeps within memory.
func (s *sketches) seal() {
	s.turn++
	d := sketch.NewDelta(config())
	s.shard.Seal(d)
	for i := range d.Windows {
		part := &d.Windows[i]
		at := instant{part.Target, part.Second}
		w := s.windows[at]
		if w == nil {
			w = &window{Window: sketch.Window{Target: part.Target, Second: part.Second}}
			s.windows[at] = w
		}
		s.keys -= len(w.Keys)
		w.Merge(part)
		w.touched = s.turn
		s.keys += len(w.Keys)
	}
	for _, r := range d.Cardinality {
		s.census.Count(r)
	}
	s.shrink()
}

// Windows over the bound of memory are trimmed to what a verdict needs: keys
// above a hundredth of a limit, and, when that is not enough, those that a judge
// tracks: of these a table's default quota of 40,000 units leaves room for some 500
// in a second.
var trimSteps = []struct {
	share float64 // of a limit
	keys  int
}{{0.01, 1024}, {detect.TrackShare, 1024}}

// shrink trims windows until the keys are within bounds, those first that were
// not added to for the longest time.
func (s *sketches) shrink() {
	if s.keys <= s.maxKeys {
		return
	}
	order := slices.SortedFunc(maps.Keys(s.windows), func(a, b instant) int {
		return cmp.Or(cmp.Compare(s.windows[a].touched, s.windows[b].touched), a.compare(b))
	})
	for _, trim := range trimSteps {
		floor := sketch.Load{Read: detect.ShareOf(detect.PartitionRead, trim.share), Write: detect.ShareOf(detect.PartitionWrite, trim.share)}
		for _, at := range order {
			// Half of the bound, so that the next sealing need not trim again.
			if s.keys <= s.maxKeys/2 {
				return
			}
			w := s.windows[at]
			s.keys -= len(w.Keys)
			w.Trim(floor, trim.keys)
			s.keys += len(w.Keys)
		}
	}
}

// judgeEvery is how many seconds of event time the board sees between two
// calls of Settle, each of which judges every key.
const judgeEvery = 300

// judge lets a board and the census observe every second, in the order of time, and
// returns what grows too. It is called once.
func (s *sketches) judge(o board.Options) (*board.Board, growth.Keys) {
	judge, order := s.observe(o)
	all := func(yield func(*sketch.Window) bool) {
		for _, at := range order {
			if !yield(&s.windows[at].Window) {
				return
			}
		}
	}
	for w := range all {
		s.census.Observe(w)
	}
	if len(order) == 0 {
		return judge, growth.Keys{}
	}
	return judge, growth.Of(all, order[0].second, order[len(order)-1].second, seed)
}

// observe lets a board observe every second, in the order of time, which it returns.
func (s *sketches) observe(o board.Options) (*board.Board, []instant) {
	s.seal()
	judge := board.New(o)
	order := slices.SortedFunc(maps.Keys(s.windows), instant.compare)
	settled := int64(0)
	for i, at := range order {
		if i == 0 || at.second >= settled+judgeEvery {
			judge.Settle(at.second-1, true)
			settled = at.second
		}
		judge.Observe(&s.windows[at].Window)
	}
	if len(order) > 0 {
		judge.Settle(order[len(order)-1].second, true)
	}
	return judge, order
}

// forget leaves out the seconds before one.
func (s *sketches) forget(second int64) {
	for at, w := range s.windows {
		if at.second < second {
			s.keys -= len(w.Keys)
			delete(s.windows, at)
		}
	}
}
