package board

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/causes"
	"github.com/keyheat/keyheat/detect/internal/diagnosis"
	"github.com/keyheat/keyheat/detect/internal/episode"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/detect/keypatterns"
	"github.com/keyheat/keyheat/sample/keyhash"
	"github.com/keyheat/keyheat/sketch"
)

// Options are how a board judges.
type Options struct {
	// Policy returns the policy of a table or index; nil is DefaultPolicy for
	// all.
	Policy func(detect.Target) detect.Policy
	// Facts returns the settings of a table, such as its indexes and replicas; nil if
	// none are known. A nil function knows none of any table.
	Facts func(detect.Target) *detect.TableFacts
	// OneEpisode takes everything observed for one episode, as when a file is
	// analysed: nothing that was hot is evicted when it cools.
	OneEpisode bool
	// Keys is how many keys are followed at once, 0 for DefaultKeys; of one table or index
	// it is a tenth unless everything is OneEpisode. See tracks.
	Keys int
	// KeyBytes is about how many bytes the followed keys may take, 0 for no bound.
	KeyBytes int64
}

// Board is the state of one judge. It is not safe for concurrent use.
type Board struct {
	options  Options
	timeline episode.Timeline
	newest   int64               // the newest second observed
	tracks   *tracks             // keys, tables and indexes that are or were near a limit
	totals   totals              // sums of every table and index
	groups   *keypatterns.Groups // keys that are, or may be, shards of one key
	patterns keypatterns.Rolling // hot keys that are named after a time
	views    views               // shape of each table's keys
	related  related             // related findings, as they were last returned
	adviser  *fixes.Adviser
	// shown are the keys that had a finding when Findings was called last, evicted the
	// findings of keys that are not followed any more.
	shown   map[trackID]bool
	evicted related
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
	o.Keys = cmp.Or(o.Keys, DefaultKeys)
	return &Board{
		options: o, tracks: newTracks(), shown: map[trackID]bool{}, evicted: related{}, totals: newTotals(), groups: keypatterns.NewGroups(o.OneEpisode), patterns: keypatterns.Rolling{},
		views: views{}, related: related{}, adviser: fixes.New(),
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
	b.totals.sums[w.Target].unseenKeys.observe(w, b.options.OneEpisode)
	clocks := &b.totals.sums[w.Target].clocks
	b.groups.Observe(w, b.newest, b.options.Policy(w.Target), clocks)
	largest := b.totals.largest(w.Target)
	regions := b.options.Facts(w.Target).Regions(w.Region)
	share := b.followedFrom(w.Target)
	for i := range w.Keys {
		k := &w.Keys[i]
		id := trackID{w.Target, k.Hash}
		t := b.tracks.all[id]
		if t == nil {
			if !nearLimit(k, len(regions), share) && !b.mayGrow(id, k) && !b.tracks.inOther(regions, w.Target, k) {
				continue
			}
			t = b.tracks.add(id, k.Key)
		}
		batch := clocks.Batch(w, k)
		t.Observe(w, k, batch, b.oldest(), largest, b.tracks.placed < b.options.Keys/placedShare)
		if len(regions) > 0 && !k.Cut {
			b.tracks.replicate(regions, t, w, k, batch, b.oldest())
		}
	}
	b.limit(w.Target)
}

// observeTable follows a table or index as a whole while it throttles requests or
// exceeds its provisioned capacity.
func (b *Board) observeTable(w *sketch.Window) {
	likely := b.totals.likely(w)
	p := throttling.Measure(w, likely, b.options.Policy(w.Target).Warning, b.options.Facts(w.Target))
	id := wholeID(w.Target)
	t := b.tracks.all[id]
	if t == nil {
		hot, _ := p.Hits(detect.HotPartition)
		starved, _ := p.Hits(detect.TableStarvation)
		if !hot && !starved {
			return
		}
		t = b.tracks.addWhole(id)
	}
	t.ObserveTable(w, likely, &p, b.oldest())
}

// oldest returns the first second open to late data. Unsettled seconds stay open however
// old: one reader may lag another by more than a horizon.
func (b *Board) oldest() int64 { return min(b.newest, b.timeline.Settled) - detect.Horizon }

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

// Settle closes every second up to this one. complete reports that no data of the seconds
// since the last Settle is missing. The first call sets where this judge begins: earlier
// seconds were only partly observed.
func (b *Board) Settle(second int64, complete bool) {
	if b.timeline.Settle(second, complete) {
		b.evict()
	}
}

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
		if !t.Ages(oldest) {
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
	if !b.options.OneEpisode {
		b.forgetTables()
	}
	b.groups.Evict(b.newest)
	b.patterns.Evict(b.timeline.Settled)
	b.shed(bytes)
	b.limitAll()
	b.forgetCrowds()
}

// forgetTables forgets tables and indexes without a request for a day: names may be made
// by the hour.
func (b *Board) forgetTables() {
	for _, of := range b.totals.forget(b.timeline.Settled - idleTable) {
		delete(b.views, of)
	}
}

// Findings returns every verdict, the most severe first, then the most utilised. Equal boards return
// equal findings in equal order.
func (b *Board) Findings() []detect.Finding {
	var found, also []detect.Finding
	var grew []*episode.Track
	clear(b.shown)
	for id, t := range b.tracks.all {
		if t.Grew() {
			grew = append(grew, t)
		}
		if of := b.judge(t); len(of) > 0 {
			b.shown[id] = true
			found = append(found, of...)
		}
	}
	callers := b.callersOf(found)
	few := b.views.findings(b.options.Policy, b.viewsSince())
	b.advise(found, callers, few)
	found = b.withEvicted(found)
	also = append(also, b.groups.Findings(found, b.options.Policy)...)
	also = append(also, b.patterns.Findings(found, b.options.Policy)...)
	b.completeFew(few, found)
	also = append(also, few...)
	for i := range found {
		if found[i].Kind.OfKey() {
			also = append(also, diagnosis.Related(&found[i], b.options.Facts(found[i].Target), callers[found[i].Target])...)
		}
	}
	also = append(also, b.crowdFindings()...)
	also = append(also, b.unseen()...)
	also = append(also, b.growing(grew, found)...)
	also = append(also, causes.Moving(found, b.options.Policy)...)
	also = unique(also)
	if !b.options.OneEpisode {
		also = b.related.resolveAbsent(also, b.timeline.Settled, func(f *detect.Finding) bool {
			return b.views.pending(f, b.timeline.Settled)
		})
	}
	found = append(found, also...)
	b.replicates(found)
	causes.Assign(found, b.options.Policy)
	slices.SortFunc(found, func(x, y detect.Finding) int {
		return cmp.Or(cmp.Compare(detect.Rank(y.Severity), detect.Rank(x.Severity)), cmp.Compare(y.Utilization, x.Utilization), strings.Compare(x.Fingerprint, y.Fingerprint))
	})
	return found
}

// completeFew adds the evidence of key findings to the findings about few key values. In
// a file, key findings show in which seconds any value exceeded a limit. Otherwise the
// board has forgotten some seconds of the view.
func (b *Board) completeFew(few, found []detect.Finding) {
	for i := range few {
		f := &few[i]
		var values []*detect.Finding
		for j := range found {
			if found[j].Kind.OfKey() && found[j].Target == f.Target {
				values = append(values, &found[j])
			}
		}
		keydesign.AddSplits(f, values, b.views[f.Target])
		if f.OverSeconds != nil || !b.options.OneEpisode {
			continue
		}
		if n, in := detect.AnyOver(values); n != nil && *n > 0 { // of a value that the policy excludes nothing is found
			f.OverSeconds, f.OverIn = n, in
		}
	}
}

// viewsSince returns from when on views count: in a file each is of all of it.
func (b *Board) viewsSince() int64 {
	if b.options.OneEpisode {
		return math.MinInt64
	}
	return b.timeline.Settled - viewSeconds
}

// growing returns findings about keys that are not hot but whose item collections
// approach a local secondary index's size limit. grew holds the candidate tracks.
func (b *Board) growing(grew []*episode.Track, found []detect.Finding) (all []detect.Finding) {
	if len(grew) == 0 {
		return nil
	}
	hot := make(map[detect.KeyRef]bool, len(found))
	for i := range found {
		hot[found[i].KeyRef] = true
	}
	for _, t := range grew {
		of := t.Subject
		facts := b.options.Facts(of.Target)
		if of.IsWhole() || facts == nil || len(facts.LSIs) == 0 || hot[detect.KeyRef{Target: of.Target, Key: of.Key.Text, KeyType: of.Key.Type}] {
			continue
		}
		if f, grows := diagnosis.Growing(of, t.Growth(), facts); grows && !b.options.Policy(of.Target).Excludes(f.Key) {
			all = append(all, f)
		}
	}
	return all
}

// callersOf returns the shares of the callers of the targets that have hot keys whose
// callers are known.
func (b *Board) callersOf(found []detect.Finding) map[detect.Target]map[string]float64 {
	of := map[detect.Target]bool{}
	for i := range found {
		if f := &found[i]; f.Kind.OfKey() && f.Evidence != nil && len(f.Evidence.Callers) > 0 {
			of[f.Target] = true
		}
	}
	return b.totals.callers(of)
}

// judge returns the findings of a track, at most one of each of its kinds.
func (b *Board) judge(t *episode.Track) (found []detect.Finding) {
	if t.Cold(b.options.Policy(t.Subject.Target)) {
		return nil
	}
	c := b.conditions(t)
	for i, e := range t.Episodes(c) {
		r := c.Rules(t.Subject.Kinds()[i])
		switch {
		case e.Severity() == "" || r.Excludes(t.Subject.Key.Text):
		case t.Subject.IsWhole():
			found = append(found, b.tableFinding(t, &e, r))
		default:
			found = append(found, b.keyFinding(t, &e, r))
		}
	}
	return found
}

// conditions returns the current policy, time and table load for judging a track.
func (b *Board) conditions(t *episode.Track) episode.Conditions {
	target := t.Subject.Target
	return episode.Conditions{
		Policy:     b.options.Policy(target),
		OneEpisode: b.options.OneEpisode, Largest: b.totals.largest(target), Time: b.timeline,
		Table: func(from, to int64) sketch.Load { return b.totals.sumBetween(target, from, to) },
	}
}

// keyFinding returns the finding about a hot key's episode.
func (b *Board) keyFinding(t *episode.Track, e *episode.Episode, r episode.Rules) detect.Finding {
	f := e.KeyFinding(t.Subject, r)
	f.Evidence = t.KeyEvidence(e, r.Kind)
	f.Quality.KeysHidden = keyhash.Find(f.Key) >= 0 || f.Evidence != nil && f.Evidence.Split != nil && f.Evidence.Split.Verdict == detect.SplitHidden
	if f.Quality.Sampling == detect.SamplingAssumed && (f.Evidence == nil || len(f.Evidence.Callers) == 0) {
		f.Quality.CannotSee = append(f.Quality.CannotSee, detect.BlindHosts)
	}
	f.Rolling = keypatterns.MatchTime(f.Key, f.Peak.At)
	because := diagnosis.Diagnose(&f, b.options.Facts(f.Target))
	f.Reason, f.Why = because.Reason, because.Why
	add := func(sentences string) {
		if sentences != "" {
			f.Why, f.Observed = f.Why+" "+sentences, f.Observed+" "+sentences
		}
	}
	if f.SaturatedSeconds > 0 && f.SecondsOver() == 0 && f.Severity == detect.Critical {
		add(diagnosis.WhySaturated(&f))
	}
	add(diagnosis.WhyThrottled(&f))
	add(diagnosis.Toll(&f))
	add(f.Quality.Sentence())
	if open := e.Shards(&f, r); open != "" {
		f.Why += " " + open // of a number of shards that another diagnosis may not advise
	}
	if f.Combined > 1 && f.Utilization <= 1 {
		add(diagnosis.WhyCombined(&f))
	}
	f.Replication = e.Replication(r.Kind, b.options.Facts(f.Target).Regions(f.Region))
	add(diagnosis.Replication(&f))
	return f
}

// advise writes the steps for hot keys. callers holds the callers' shares by target,
// where known; few holds the findings about few key values.
func (b *Board) advise(found []detect.Finding, callers map[detect.Target]map[string]float64, few []detect.Finding) {
	for i := range found {
		f := &found[i]
		if !f.Kind.OfKey() {
			continue
		}
		load := detect.Side(f.Kind, f.Peak.WCU, f.Peak.RCU).Value
		f.Advice = b.adviser.Steps(&fixes.Case{
			Finding: f, Load: detect.Milli(load), Policy: b.options.Policy(f.Target), Facts: b.options.Facts(f.Target),
			Callers: callers[f.Target], TargetRCU: b.totals.reads(f.Target),
			FewValues: slices.ContainsFunc(few, func(of detect.Finding) bool { return of.Target == f.Target }),
		})
	}
}

// isOpen reports whether the board still holds a second's load by key.
func (b *Board) isOpen(of detect.Target, second int64) bool {
	return second >= b.timeline.Settled-detect.Horizon && b.totals.isOpen(of, second)
}

// tableFinding returns the finding about an episode of a table or index as a
// whole.
func (b *Board) tableFinding(t *episode.Track, e *episode.Episode, r episode.Rules) detect.Finding {
	target := t.Subject.Target
	f := e.Finding(t.Subject, r)
	f.Share, f.Shards = 1, 1
	switch r.Kind {
	case detect.HotPartition:
		f.Utilization = 1 // it throttled: it was full
		second := e.At
		if !b.isOpen(target, second) {
			second = f.LastSeen.Unix()
		}
		f.Reason, f.Why = diagnosis.WhyHotPartition(&e.Pressure, t.LoadSpread(), e.Over, b.tracks.warmest(target, second), b.isOpen(target, second))
	case detect.TableStarvation:
		f.Utilization = max(1, e.Pressure.Demand)
		f.Reason, f.Why = detect.Starved, diagnosis.WhyStarved(&e.Pressure, e.Over, b.options.Facts(target), target.Index)
	}
	f.Evidence = t.Evidence(e)
	f.Advice = diagnosis.ForTable(&f, &e.Pressure, e.PeakLoad(), b.options.Facts(target))
	return f
}

// unique keeps one finding a fingerprint, the most severe: a key that is hot by
// reads and by writes has one finding about its caller.
func unique(found []detect.Finding) []detect.Finding {
	slices.SortStableFunc(found, func(x, y detect.Finding) int {
		return cmp.Or(strings.Compare(x.Fingerprint, y.Fingerprint), cmp.Compare(detect.Rank(y.Severity), detect.Rank(x.Severity)), cmp.Compare(x.Why, y.Why))
	})
	return slices.CompactFunc(found, func(x, y detect.Finding) bool { return x.Fingerprint == y.Fingerprint })
}

// SetView records the shape of a target's keys; Findings concludes from it that a table
// has too few keys. A nil view removes the record.
func (b *Board) SetView(of detect.Target, v *detect.View) {
	if b.options.Facts(of).IsVector(of.Index) {
		v = nil
	}
	b.views.set(of, v)
}

// Tables returns every table and index, the most requested first.
func (b *Board) Tables() []detect.Table { return b.totals.tables() }
