package board

import (
	"cmp"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/contention"
	"github.com/keyheat/keyheat/detect/internal/episode"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/detect/keypatterns"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Options configure a board.
type Options struct {
	// Policy returns the policy of a table or index; nil is DefaultPolicy for
	// all.
	Policy func(detect.Target) detect.Policy
	// Facts returns the settings of a table, such as its indexes and replicas; nil if
	// none are known. A nil function knows none of any table.
	Facts func(detect.Target) *detect.TableFacts
	// Partitions returns the map of a table's partitions if its ranges are claimed without a
	// doubt; nil if not. A nil function knows none of any table.
	Partitions func(detect.Target) *partition.Map
	// RefusalsUnread reports that requests were refused which the samples do not show: a key
	// without a refusal may have some.
	RefusalsUnread bool
	// Keys is the most keys followed at once, 0 for DefaultKeys. One table or index may
	// have a tenth of them. See tracks.
	Keys int
	// KeyBytes bounds the bytes that the followed keys take, about; 0 is no bound.
	KeyBytes int64
}

// Board is the state of one judge. It is not safe for concurrent use.
type Board struct {
	options  Options
	timeline episode.Timeline
	ended    bool                // nothing more comes
	newest   int64               // the newest second observed
	tracks   *tracks             // keys, tables and indexes that are or were near a limit
	totals   totals              // sums of every table and index
	groups   *keypatterns.Groups // keys that are, or may be, shards of one key
	patterns keypatterns.Rolling // hot keys that are named after a time
	walks    walks
	// contention are the keys whose requests take attempts from each other.
	contention contention.Watch
	late       map[detect.Target]int64 // seconds that samples come late
	views      views                   // shape of each table's keys
	related    related                 // related findings, as they were last returned
	// shown are the keys with a finding in the last call of Findings, evicted the
	// findings of keys that are no longer followed.
	shown   map[trackID]bool
	evicted related
	// callers are the callers of requests without a key.
	callers map[detect.Target]*tableCallers
	// evictions counts the keys evicted for lack of memory. shedAt is the settled second
	// of the last eviction for their bytes.
	evictions, shedAt int64
}

// New returns an empty board.
func New(o Options) *Board {
	if o.Policy == nil {
		o.Policy = func(detect.Target) detect.Policy { return detect.DefaultPolicy() }
	}
	if o.Facts == nil {
		o.Facts = func(detect.Target) *detect.TableFacts { return nil }
	}
	if o.Partitions == nil {
		o.Partitions = func(detect.Target) *partition.Map { return nil }
	}
	o.Keys = cmp.Or(o.Keys, DefaultKeys)
	return &Board{
		options: o, tracks: newTracks(), shown: map[trackID]bool{}, evicted: related{}, totals: totals{}, groups: keypatterns.NewGroups(), patterns: keypatterns.Rolling{},
		views: views{}, walks: walks{}, contention: contention.Watch{}, related: related{}, callers: map[detect.Target]*tableCallers{}, late: map[detect.Target]int64{},
	}
}

// Observe records a second of a table or index. A later call for the same second replaces
// the earlier one, so w must hold the whole second.
func (b *Board) Observe(w *sketch.Window) {
	b.newest = max(b.newest, w.Second)
	b.totals.observe(w, b.timeline.Settled)
	if b.options.Facts(w.Target).IsVector(w.Index) {
		return // no limit of a partition holds for its units
	}
	b.observeTable(w)
	if w.Span == 0 { // sums do not show how many attempts a second has
		b.contention.Observe(w)
	}
	sum := b.totals[w.Target]
	sum.unseenKeys.observe(w)
	clocks := &sum.clocks
	b.groups.Observe(w, max(b.newest, sum.counted), b.options.Policy(w.Target), clocks)
	largest := b.totals.largest(w.Target)
	regions := b.options.Facts(w.Target).Regions(w.Region)
	share := b.followShare(w.Target)
	for i := range w.Keys {
		k := &w.Keys[i]
		id := trackID{w.Target, k.Hash}
		t := b.tracks.all[id]
		if t == nil {
			if !nearLimit(k, len(regions), share) && !b.mayGrow(id, k) && !b.tracks.isWrittenElsewhere(regions, w.Target, k) {
				continue
			}
			t = b.tracks.add(id, k.Key)
		}
		batch := clocks.Batch(w, k)
		t.Observe(w, k, batch, b.oldestOpen(), largest, w.Span == 0 && b.tracks.placed < b.options.Keys/placedShare)
		if len(regions) > 0 && !k.Cut {
			b.tracks.replicate(regions, t, w, k, batch, b.oldestOpen())
		}
	}
	b.limitKeys(w.Target)
}

// observeTable follows a table or index as a whole while it throttles requests, exceeds its
// provisioned capacity or has a full partition.
func (b *Board) observeTable(w *sketch.Window) {
	likely := b.totals.likelyLoad(w)
	warning := b.options.Policy(w.Target).Warning
	p := throttling.Measure(w, likely, warning, b.options.Facts(w.Target), func(k *sketch.KeyLoad) (sketch.Load, bool) {
		return b.tracks.all[trackID{w.Target, k.Hash}].MostLoad(w, k)
	})
	ranges := b.options.Partitions(w.Target)
	if p.Partition = throttling.FullPartition(w, likely, ranges, warning); p.Partition != nil {
		if !b.walks[w.Target].HasWalked(w.Second-partition.WalkMemory, w.Second) { // what walks is elsewhere when a split comes
			ranges.Predict(p.Partition)
		}
	}
	id := wholeID(w.Target)
	t := b.tracks.all[id]
	if t == nil {
		hot, _ := p.Hits(detect.SubjectPartition)
		starved, _ := p.Hits(detect.SubjectTable)
		if !hot && !starved {
			return
		}
		t = b.tracks.add(id, sample.Key{})
	}
	t.ObserveTable(w, likely, &p, b.oldestOpen(), w.Second > b.totals[w.Target].counted)
}

// oldestOpen returns the first second open to late data. Unsettled seconds stay open however
// old: one reader may lag another by more than a horizon.
func (b *Board) oldestOpen() int64 { return min(b.newest, b.timeline.Settled) - detect.Horizon }

// nearLimit reports whether a key may have this share of a limit. For a global table it
// assumes the same writes in each Region.
func nearLimit(k *sketch.KeyLoad, regions int, share float64) bool {
	high := k.High()
	return high.Write >= detect.ShareOf(detect.PartitionWrite, share/float64(max(1, regions))) ||
		high.Read >= detect.ShareOf(detect.PartitionRead, share)
}

// mayGrow reports whether to follow a cooler key because a local secondary index limits
// the size of its item collection.
func (b *Board) mayGrow(id trackID, k *sketch.KeyLoad) bool {
	if k.Evidence == nil || k.Evidence.GrownBytes <= 0 || k.Cut || id.target.Index != "" { // nearly every key
		return false
	}
	facts := b.options.Facts(id.target)
	return facts != nil && len(facts.LSIs) > 0 && b.tracks.addGrowing(id)
}

// ObserveWalk looks for load that walks through the key space in a second that is over. Call it
// once a second, before Observe, and before the second loses its cold keys without their positions.
func (b *Board) ObserveWalk(w *sketch.Window) {
	if w.Span == 0 {
		b.walks.observe(w)
	}
}

// Walk returns the load that walks through a table's key space; nil for none.
func (b *Board) Walk(table detect.Target) *detect.Walk {
	return b.walks[table].Walk(b.timeline.Settled)
}

// Settle closes every second up to this one. complete reports that no data of the seconds
// since the last Settle is missing. The first call sets where this judge begins: earlier
// seconds were only partly observed.
func (b *Board) Settle(second int64, complete bool) {
	if b.timeline.Settle(second, complete) {
		b.evict()
	}
}

// End says that nothing more comes: what is open is judged as it stands.
func (b *Board) End() { b.ended = true }

// evict folds seconds beyond the horizon and drops keys that have cooled.
func (b *Board) evict() {
	oldest := b.timeline.Settled - detect.Horizon
	b.timeline.Evict(oldest)
	b.tracks.placed = 0
	bytes := int64(0)
	for id, t := range b.tracks.all {
		if t.HasPlaces() {
			b.tracks.placed++
		}
		bytes += t.Bytes()
		if !t.NeedsFold(oldest) {
			continue
		}
		c := b.conditions(t)
		t.Fold(oldest, c)
		if !t.IsDone(c) {
			continue
		}
		found := b.judge(t)
		b.advise(found, nil, nil)
		for _, f := range found { // a pattern outlives its keys
			b.patterns.Observe(&f)
		}
		b.tracks.drop(id)
	}
	b.totals.evict(oldest - detect.MeanLongest) // a later flush may have gathered load this early
	b.forgetTables()
	b.groups.Evict(b.newest)
	b.patterns.Evict(b.timeline.Settled)
	b.walks.evict(b.newest)
	b.contention.Forget(oldest)
	b.shed(bytes + int64(len(b.walks))*walkBytes)
	b.limitAll()
	b.forgetCrowds()
	b.forgetCallers()
}

// forgetTables forgets tables and indexes without a request for a day, because programs
// may make new names by the hour, and throttled keys of long ago.
func (b *Board) forgetTables() {
	for _, s := range b.totals {
		s.refused.Forget(b.timeline.Settled - detect.Horizon)
	}
	for _, target := range b.totals.forget(b.timeline.Settled - idleTable) {
		delete(b.views, target)
	}
}

// SetView records the shape of a target's keys; Findings concludes from it that a table
// has too few keys. A nil view removes the record.
func (b *Board) SetView(target detect.Target, v *detect.View) {
	if b.options.Facts(target).IsVector(target.Index) {
		v = nil
	}
	b.views.set(target, v)
}

// SetLate records how many seconds late a target's samples come; 0 if in time. A second of the
// target proves no silence until its late samples may have come.
func (b *Board) SetLate(target detect.Target, seconds int64) {
	if delete(b.late, target); seconds > 0 {
		b.late[target] = seconds
	}
}

// RefusedKeys returns the keys of a table or index with the most throttled load in its last
// minute with any.
func (b *Board) RefusedKeys(target detect.Target) []detect.RefusedKey {
	return b.totals.sumOf(target).refused.Keys()
}

// Doubts returns the loads of keys that may have been over a limit, in any order. See
// [detect.Doubt].
func (b *Board) Doubts() (all []detect.Doubt) {
	for _, t := range b.tracks.all {
		policy := b.options.Policy(t.Followed.Target)
		if t.Followed.IsWhole() || t.IsCold(policy) || policy.Excludes(t.Followed.Key.Text) {
			continue
		}
		episodes := t.Episodes(b.conditions(t))
		for i, k := range t.Followed.Sides() {
			if most := episodes[i].Doubt(); most > 0 {
				ref := detect.KeyRef{Target: t.Followed.Target, Key: sample.Text(t.Followed.Key.Text), KeyType: t.Followed.Key.Type}
				all = append(all, detect.Doubt{KeyRef: ref, Unit: detect.Side(k, "wcu", "rcu"), Most: detect.Units(most)})
			}
		}
	}
	return all
}

// Provable returns the smallest load of one second that samples of a table or index can prove to
// be above a partition's limit, 0 if all requests are seen.
func (b *Board) Provable(target detect.Target) detect.Unseen {
	l := b.totals.largest(target)
	return detect.Unseen{WCU: sampling.Provable(detect.PartitionWrite, l.Write), RCU: sampling.Provable(detect.PartitionRead, l.Read)}
}
