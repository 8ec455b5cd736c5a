package detect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// maxTracked is how many keys a board follows at once. The least loaded ones are
// let go first.
const maxTracked = 20_000

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
	tables  map[Target]*totals
	seconds map[windowID]sketch.Total // what each recent window added to its table
	groups  *groups                   // keys that are, or may be, sharded
	// rolled are hot keys named after a time, by their pattern.
	rolled patterns
	// views are what tables' keys look like as a whole.
	views map[Target]*View
	// related are the findings that say more, as they were given last.
	related related
	adviser *adviser
}

type trackID struct {
	target Target
	hash   uint64
}

type windowID struct {
	target Target
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
		tables: map[Target]*totals{}, seconds: map[windowID]sketch.Total{},
		groups: newGroups(o.OneEpisode), rolled: patterns{},
		views: map[Target]*View{}, related: related{}, adviser: newAdviser(),
	}
}

// Observe takes what is known of a second of a table or index. Called again for
// the same second it replaces what was known, so w must hold all of it.
func (b *Board) Observe(w *sketch.Window) {
	b.newest = max(b.newest, w.Second)
	b.observeTable(w)
	b.observeStrain(w)
	b.groups.observe(w, b.newest, b.options.Policy(w.Table, w.Index))
	for i := range w.Keys {
		k := &w.Keys[i]
		id := trackID{targetOf(w), k.Hash}
		t := b.tracks[id]
		if t == nil {
			if !worthTracking(k) {
				continue
			}
			t = newTrack(subject{id.target, k.Hash, k.Key})
			b.tracks[id] = t
		}
		if !k.Cut {
			t.subject.key = k.Key
		}
		t.put(newPoint(w, k), b.oldest(), b.largest(t))
		t.proofs.add(w.Second, k)
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
	if b.time.settle(second, complete) {
		b.forget()
	}
}

// forget folds seconds beyond the horizon and lets cold keys go.
func (b *Board) forget() {
	oldest := b.time.settled - horizon
	b.time.forget(oldest)
	for id, t := range b.tracks {
		c := b.conditions(t)
		t.fold(oldest, c)
		if len(t.points) == 0 && t.quiet(c) {
			b.bequeath(t)
			delete(b.tracks, id)
		}
	}
	for id := range b.seconds {
		if id.second < oldest {
			delete(b.seconds, id)
		}
	}
	b.groups.forget(b.newest)
	b.rolled.forget(b.time.settled)
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
		all = append(all, loaded{id, t.most()})
	}
	slices.SortFunc(all, func(x, y loaded) int {
		return cmp.Or(cmp.Compare(y.most, x.most), cmp.Compare(x.id.hash, y.id.hash))
	})
	for _, l := range all[maxTracked:] {
		delete(b.tracks, l.id)
	}
}

// bequeath leaves what outlives the track.
func (b *Board) bequeath(t *track) {
	if t.subject.whole() {
		return
	}
	for _, f := range b.judge(t) {
		b.rolled.note(&f)
	}
}

func (b *Board) conditions(t *track) conditions {
	return conditions{
		policy:     b.options.Policy(t.subject.target.Table, t.subject.target.Index),
		oneEpisode: b.options.OneEpisode, largest: b.largest(t), time: b.time,
	}
}

// largest is what one more sampled request of the key's table would add.
func (b *Board) largest(t *track) largest {
	if seen := b.tables[t.subject.target]; seen != nil {
		return largest{seen.total.ReadLargest, seen.total.WriteLargest}
	}
	return largest{}
}

// Findings answers every verdict, the most utilised first. Equal boards answer
// equal findings in equal order.
func (b *Board) Findings() []Finding {
	var found, more []Finding
	for _, t := range b.tracks {
		found = append(found, b.judge(t)...)
	}
	more = append(more, b.groups.findings(found, b.options.Policy)...)
	more = append(more, b.rolled.findings(found, b.options.Policy)...)
	more = append(more, b.fewKeyed()...)
	for i := range found {
		if found[i].Kind.ofKey() {
			more = append(more, moreOf(&found[i], b.options.Facts(found[i].Table))...)
		}
	}
	more = unique(more)
	if !b.options.OneEpisode {
		more = b.related.takeBack(more, b.time.settled, b.notLooked)
	}
	found = append(found, more...)
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

// observeStrain follows a table or index as a whole while it suffers.
func (b *Board) observeStrain(w *sketch.Window) {
	s := strainOf(w, b.options.Policy(w.Table, w.Index).Warning, b.options.Facts(w.Table))
	hot, _ := s.hits(HotPartition)
	starved, _ := s.hits(TableStarvation)
	id := trackID{targetOf(w), 0}
	t := b.tracks[id]
	if t == nil {
		if !hot && !starved {
			return
		}
		t = newTrack(subject{target: id.target})
		b.tracks[id] = t
	}
	t.put(strainPoint(w, &s), b.oldest(), largest{})
}

// Look takes what a table's or index's keys look like as a whole; Findings then
// says when there are too few of them. nil is no longer known.
func (b *Board) Look(table, index string, v *View) {
	id := Target{Table: table, Index: index}
	if v == nil {
		delete(b.views, id)
		return
	}
	b.views[id] = v
}

// fewKeyed are the findings about tables with few keys.
func (b *Board) fewKeyed() (all []Finding) {
	for id, v := range b.views {
		if f, few := fewKeyed(v, id, b.options.Policy(id.Table, id.Index)); few {
			all = append(all, f)
		}
	}
	return all
}

// notLooked says that nothing is known of a table's keys yet, as after a restart:
// what was said of them stands, for as long as it takes to look.
func (b *Board) notLooked(f *Finding) bool {
	return f.Kind == LowCardinalityKey && f.State != Resolved && b.views[f.target()] == nil &&
		f.LastSeen.Unix()+2*horizon >= b.time.settled
}

func targetOf(w *sketch.Window) Target { return Target{Table: w.Table, Index: w.Index} }
