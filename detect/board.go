package detect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Bounds of a board's memory.
const (
	// horizon is how many seconds of event time a key's seconds stay open to
	// late data. Older ones are folded; late data then only raise the peak.
	horizon = 900
	// maxTracked is how many keys a board follows at once. The least loaded
	// ones are let go first.
	maxTracked = 20_000
)

// Options are how a board judges.
type Options struct {
	// Policy answers the policy of a table or index; nil is DefaultPolicy for
	// all.
	Policy func(table, index string) Policy
	// Facts answers what is known of a table beside its traffic; nil is nothing,
	// of all or of one.
	Facts func(table string) *TableFacts
	// OneEpisode takes everything observed for one episode, as when a file is
	// analysed: nothing that was hot is forgotten when it cools.
	OneEpisode bool
}

// Board is the memory of one judge. It is not safe for concurrent use.
type Board struct {
	options Options
	time    timeline
	newest  int64
	tracks  map[trackID]*track
	tables  map[tableID]*Table
	seconds map[windowID]Table // what each recent window added to its table
	// groups are keys that are, or may be, sharded; groupsOf counts them.
	groups   map[groupID]*group
	groupsOf map[tableID]int
	// rolled are hot keys named after a time, by their pattern.
	rolled map[rolledID]rolled
	// views are what tables' keys look like as a whole.
	views map[tableID]*View
	// said are the findings that say more, as they were given last.
	said map[string]told
	// placements are simulated ones.
	placements map[placed]float64
}

type trackID struct {
	table, index string
	hash         uint64
}

type tableID struct{ table, index string }

type windowID struct {
	tableID
	second int64
}

// NewBoard makes an empty board.
func NewBoard(o Options) *Board {
	if o.Policy == nil {
		o.Policy = func(string, string) Policy { return DefaultPolicy() }
	}
	if o.Facts == nil {
		o.Facts = func(string) *TableFacts { return nil }
	}
	return &Board{
		options: o, tracks: map[trackID]*track{},
		tables: map[tableID]*Table{}, seconds: map[windowID]Table{},
		groups: map[groupID]*group{}, groupsOf: map[tableID]int{},
		rolled: map[rolledID]rolled{}, views: map[tableID]*View{}, said: map[string]told{}, placements: map[placed]float64{},
	}
}

// Observe takes what is known of a second of a table or index. Called again for
// the same second it replaces what was known, so w must hold all of it.
func (b *Board) Observe(w *sketch.Window) {
	b.newest = max(b.newest, w.Second)
	b.observeTable(w)
	b.observeStrain(w)
	b.observeShards(w)
	for i := range w.Keys {
		k := &w.Keys[i]
		id := trackID{w.Table, w.Index, k.Hash}
		t := b.tracks[id]
		if t == nil {
			if !worthTracking(k) {
				continue
			}
			t = &track{target: target{w.Table, w.Index, k.Hash, k.Key}, past: map[Kind]*episode{}}
			b.tracks[id] = t
		}
		if !k.Cut {
			t.key = k.Key
		}
		t.put(newPoint(w, k), b.oldest(), b.largest(t))
		t.prove(w.Second, k)
	}
}

// oldest is the first second that is open to late data: what is not settled is
// open however old it is. While somebody catches up, one reader may be more than
// a horizon ahead of another.
func (b *Board) oldest() int64 { return min(b.newest, b.time.settled) - horizon }

func worthTracking(k *sketch.KeyLoad) bool {
	high := k.High()
	return high.Write >= share(PartitionWrite, trackShare) || high.Read >= share(PartitionRead, trackShare)
}

// Settle says that every second up to this one is closed; complete says that
// nothing of the seconds since the last Settle was missing. The first call says
// where this judge begins: what went before was not wholly seen by it.
func (b *Board) Settle(second int64, complete bool) {
	if b.time.settled == 0 {
		b.time.since, b.time.settled = second, second
		return
	}
	if second <= b.time.settled {
		return
	}
	if !complete {
		b.time.incomplete = append(b.time.incomplete, span{b.time.settled + 1, second})
	}
	b.time.settled = second
	b.forget()
}

// forget folds seconds beyond the horizon and lets cold keys go.
func (b *Board) forget() {
	oldest := b.time.settled - horizon
	b.time.incomplete = slices.DeleteFunc(b.time.incomplete, func(s span) bool { return s.to < oldest-ResolveSeconds })
	for id, t := range b.tracks {
		t.fold(oldest, b)
		if len(t.points) == 0 && t.quiet(b) {
			t.bequeath(b)
			delete(b.tracks, id)
		}
	}
	for id := range b.seconds {
		if id.second < oldest {
			delete(b.seconds, id)
		}
	}
	b.forgetShards()
	b.forgetRolled()
	b.letGo()
}

// letGo drops the least loaded keys when there are too many.
func (b *Board) letGo() {
	if len(b.tracks) <= maxTracked {
		return
	}
	type loaded struct {
		id   trackID
		most sample.Milli
	}
	all := make([]loaded, 0, len(b.tracks))
	for id, t := range b.tracks {
		l := loaded{id: id}
		for i := range t.points {
			l.most = max(l.most, WritesInReads*t.points[i].write.value, t.points[i].read.value)
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(x, y loaded) int {
		return cmp.Or(cmp.Compare(y.most, x.most), cmp.Compare(x.id.hash, y.id.hash))
	})
	for _, l := range all[maxTracked:] {
		delete(b.tracks, l.id)
	}
}

func (b *Board) rules(t *track, k Kind) rules {
	return rules{
		kind: k, Policy: b.options.Policy(t.table, t.index),
		oneEpisode: b.options.OneEpisode, largest: b.largest(t),
	}
}

// largest is what one more sampled request of the key's table would add.
func (b *Board) largest(t *track) largest {
	if seen := b.tables[tableID{t.table, t.index}]; seen != nil {
		return largest{seen.total.ReadLargest, seen.total.WriteLargest}
	}
	return largest{}
}

// Findings answers every verdict, the most utilised first. Equal boards answer
// equal findings in equal order.
func (b *Board) Findings() []Finding {
	var found, more []Finding
	for _, t := range b.tracks {
		found = append(found, t.findings(b)...)
	}
	more = append(more, b.sharded(found)...)
	more = append(more, b.rolling(found)...)
	more = append(more, b.fewKeyed()...)
	for i := range found {
		if found[i].Kind.ofKey() {
			more = append(more, moreOf(&found[i], b.options.Facts(found[i].Table))...)
		}
	}
	found = append(found, b.takeBack(unique(more))...)
	slices.SortFunc(found, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(y.Utilization, x.Utilization), strings.Compare(x.Fingerprint, y.Fingerprint))
	})
	return found
}

// unique keeps one finding a fingerprint, the most utilised: a key that is hot
// by reads and by writes has its callers told once.
func unique(found []Finding) []Finding {
	slices.SortStableFunc(found, func(x, y Finding) int {
		return cmp.Or(strings.Compare(x.Fingerprint, y.Fingerprint), cmp.Compare(rank(y.Severity), rank(x.Severity)), cmp.Compare(x.Why, y.Why))
	})
	return slices.CompactFunc(found, func(x, y Finding) bool { return x.Fingerprint == y.Fingerprint })
}
