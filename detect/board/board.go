package board

import (
	"cmp"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/advice"
	"github.com/keyheat/keyheat/detect/episode"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/detect/rolling"
	"github.com/keyheat/keyheat/detect/sharding"
	"github.com/keyheat/keyheat/detect/throttling"
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
	Policy func(table, index string) detect.Policy
	// Facts answers what is known of a table beside its traffic; nil is nothing,
	// of all or of one.
	Facts func(table string) *detect.TableFacts
	// OneEpisode takes everything observed for one episode, as when a file is
	// analysed: nothing that was hot is forgotten when it cools.
	OneEpisode bool
}

// Board is the memory of one judge. It is not safe for concurrent use.
type Board struct {
	options  Options
	timeline episode.Timeline
	newest   int64
	tracks   map[trackID]*episode.Track
	tables   map[detect.Target]*totals
	seconds  map[windowID]sketch.Total // what each recent window added to its table
	groups   *sharding.Groups          // keys that are, or may be, sharded
	// rolled are hot keys named after a time, by their pattern.
	patterns rolling.Patterns
	// views are what tables' keys look like as a whole.
	views map[detect.Target]*detect.View
	// related are the findings that say more, as they were given last.
	related related
	adviser *advice.Adviser
}

type trackID struct {
	target detect.Target
	hash   uint64
}

type windowID struct {
	target detect.Target
	second int64
}

// New makes an empty board.
func New(o Options) *Board {
	if o.Policy == nil {
		o.Policy = func(string, string) detect.Policy { return detect.DefaultPolicy() }
	}
	if o.Facts == nil {
		o.Facts = func(string) *detect.TableFacts { return nil }
	}
	return &Board{
		options: o, tracks: map[trackID]*episode.Track{},
		tables: map[detect.Target]*totals{}, seconds: map[windowID]sketch.Total{},
		groups: sharding.New(o.OneEpisode), patterns: rolling.Patterns{},
		views: map[detect.Target]*detect.View{}, related: related{}, adviser: advice.New(),
	}
}

// Observe takes what is known of a second of a table or index. Called again for
// the same second it replaces what was known, so w must hold all of it.
func (b *Board) Observe(w *sketch.Window) {
	b.newest = max(b.newest, w.Second)
	b.observeTable(w)
	b.observePressure(w)
	b.groups.Observe(w, b.newest, b.options.Policy(w.Table, w.Index))
	for i := range w.Keys {
		k := &w.Keys[i]
		id := trackID{targetOf(w), k.Hash}
		t := b.tracks[id]
		if t == nil {
			if !nearLimit(k) {
				continue
			}
			t = episode.NewTrack(episode.Subject{Target: id.target, Hash: k.Hash, Key: k.Key})
			b.tracks[id] = t
		}
		if !k.Cut {
			t.Subject.Key = k.Key
		}
		t.Put(episode.NewPoint(w, k), b.oldest(), b.largest(t))
		t.Hottest.Add(w.Second, k)
	}
}

// oldest is the first second that is open to late data: what is not settled is
// open however old it is. While somebody catches up, one reader may be more than
// a horizon ahead of another.
func (b *Board) oldest() int64 { return min(b.newest, b.timeline.Settled) - detect.Horizon }

func nearLimit(k *sketch.KeyLoad) bool {
	high := k.High()
	return high.Write >= detect.ShareOf(detect.PartitionWrite, detect.TrackShare) || high.Read >= detect.ShareOf(detect.PartitionRead, detect.TrackShare)
}

// Settle says that every second up to this one is closed; complete says that
// nothing of the seconds since the last Settle was missing. The first call says
// where this judge begins: what went before was not wholly seen by it.
func (b *Board) Settle(second int64, complete bool) {
	if b.timeline.Settle(second, complete) {
		b.evict()
	}
}

// forget folds seconds beyond the horizon and lets cold keys go.
func (b *Board) evict() {
	oldest := b.timeline.Settled - detect.Horizon
	b.timeline.Forget(oldest)
	for id, t := range b.tracks {
		c := b.conditions(t)
		t.Fold(oldest, c)
		if len(t.Points) == 0 && t.Quiet(c) {
			b.retire(t)
			delete(b.tracks, id)
		}
	}
	for id := range b.seconds {
		if id.second < oldest {
			delete(b.seconds, id)
		}
	}
	b.groups.Evict(b.newest)
	b.patterns.Evict(b.timeline.Settled)
	b.evictLeastLoaded()
}

// letGo drops the least loaded keys when there are too many.
func (b *Board) evictLeastLoaded() {
	if len(b.tracks) <= maxTracked {
		return
	}
	type loaded struct {
		id   trackID
		most sample.Milli
	}
	tracks := make([]loaded, 0, len(b.tracks))
	for id, t := range b.tracks {
		tracks = append(tracks, loaded{id, t.Most()})
	}
	slices.SortFunc(tracks, func(x, y loaded) int {
		return cmp.Or(cmp.Compare(y.most, x.most), cmp.Compare(x.id.hash, y.id.hash))
	})
	for _, track := range tracks[maxTracked:] {
		delete(b.tracks, track.id)
	}
}

// bequeath leaves what outlives the track.
func (b *Board) retire(t *episode.Track) {
	if t.Subject.IsWhole() {
		return
	}
	for _, f := range b.judge(t) {
		b.patterns.Observe(&f)
	}
}

func (b *Board) conditions(t *episode.Track) episode.Conditions {
	return episode.Conditions{
		Policy:     b.options.Policy(t.Subject.Target.Table, t.Subject.Target.Index),
		OneEpisode: b.options.OneEpisode, Largest: b.largest(t), Time: b.timeline,
	}
}

// largest is what one more sampled request of the key's table would add.
func (b *Board) largest(t *episode.Track) episode.Largest {
	if seen := b.tables[t.Subject.Target]; seen != nil {
		return episode.Largest{Read: seen.total.ReadLargest, Write: seen.total.WriteLargest}
	}
	return episode.Largest{}
}

// Findings answers every verdict, the most utilised first. Equal boards answer
// equal findings in equal order.
func (b *Board) Findings() []detect.Finding {
	var found, related []detect.Finding
	for _, t := range b.tracks {
		found = append(found, b.judge(t)...)
	}
	related = append(related, b.groups.Findings(found, b.options.Policy)...)
	related = append(related, b.patterns.Findings(found, b.options.Policy)...)
	related = append(related, b.fewValues()...)
	for i := range found {
		if found[i].Kind.OfKey() {
			related = append(related, advice.Related(&found[i], b.options.Facts(found[i].Table))...)
		}
	}
	related = unique(related)
	if !b.options.OneEpisode {
		related = b.related.resolveAbsent(related, b.timeline.Settled, b.viewPending)
	}
	found = append(found, related...)
	slices.SortFunc(found, func(x, y detect.Finding) int {
		return cmp.Or(cmp.Compare(y.Utilization, x.Utilization), strings.Compare(x.Fingerprint, y.Fingerprint))
	})
	return found
}

// unique keeps one finding a fingerprint, the most utilised: a key that is hot
// by reads and by writes has its callers told once.
func unique(found []detect.Finding) []detect.Finding {
	slices.SortStableFunc(found, func(x, y detect.Finding) int {
		return cmp.Or(strings.Compare(x.Fingerprint, y.Fingerprint), cmp.Compare(detect.Rank(y.Severity), detect.Rank(x.Severity)), cmp.Compare(x.Why, y.Why))
	})
	return slices.CompactFunc(found, func(x, y detect.Finding) bool { return x.Fingerprint == y.Fingerprint })
}

// observeStrain follows a table or index as a whole while it suffers.
func (b *Board) observePressure(w *sketch.Window) {
	s := throttling.Of(w, b.options.Policy(w.Table, w.Index).Warning, b.options.Facts(w.Table))
	hot, _ := s.Hits(detect.HotPartition)
	starved, _ := s.Hits(detect.TableStarvation)
	id := trackID{targetOf(w), 0}
	t := b.tracks[id]
	if t == nil {
		if !hot && !starved {
			return
		}
		t = episode.NewTrack(episode.Subject{Target: id.target})
		b.tracks[id] = t
	}
	t.Put(episode.NewTablePoint(w, &s), b.oldest(), episode.Largest{})
}

// Look takes what a table's or index's keys look like as a whole; Findings then
// says when there are too few of them. nil is no longer known.
func (b *Board) SetView(table, index string, v *detect.View) {
	id := detect.Target{Table: table, Index: index}
	if v == nil {
		delete(b.views, id)
		return
	}
	b.views[id] = v
}

// fewKeyed are the findings about tables with few keys.
func (b *Board) fewValues() (all []detect.Finding) {
	for id, v := range b.views {
		if f, few := keydesign.FewValues(v, id, b.options.Policy(id.Table, id.Index)); few {
			all = append(all, f)
		}
	}
	return all
}

// notLooked says that nothing is known of a table's keys yet, as after a restart:
// what was said of them stands, for as long as it takes to look.
func (b *Board) viewPending(f *detect.Finding) bool {
	return f.Kind == detect.LowCardinalityKey && f.State != detect.Resolved && b.views[f.Target] == nil &&
		f.LastSeen.Unix()+2*detect.Horizon >= b.timeline.Settled
}

func targetOf(w *sketch.Window) detect.Target { return detect.Target{Table: w.Table, Index: w.Index} }
