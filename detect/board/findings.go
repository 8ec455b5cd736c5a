package board

import (
	"cmp"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/internal/contention"
	"github.com/keyheat/keyheat/detect/internal/episode"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/detect/internal/relate"
	"github.com/keyheat/keyheat/detect/keydesign"
	"github.com/keyheat/keyheat/detect/keypatterns"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
	"github.com/keyheat/keyheat/sketch"
)

// Findings returns every verdict, the most severe first, then the most utilised. Equal boards return
// equal findings in equal order.
func (b *Board) Findings() []detect.Finding {
	var found, also []detect.Finding
	var grew []*episode.Track
	clear(b.shown)
	for id, t := range b.tracks.all {
		if t.HasGrowth() {
			grew = append(grew, t)
		}
		if judged := b.judge(t); len(judged) > 0 {
			b.shown[id] = true
			found = append(found, judged...)
		}
	}
	found = slices.DeleteFunc(slices.Clone(found), func(f detect.Finding) bool { return b.isOfOpenKeys(&f, found) })
	callers := b.callersOf(found)
	few := b.views.findings(b.options.Policy, b.options.Facts, b.isPresent)
	b.advise(found, callers, few)
	found = b.addEvicted(found)
	also = append(also, b.groups.Findings(found, b.options.Policy)...)
	also = append(also, b.patterns.Findings(found, b.options.Policy)...)
	b.completeFew(few, found)
	also = append(also, few...)
	for i := range found {
		if found[i].Subject.OfKey() {
			also = append(also, relate.FindRelated(&found[i], b.options.Facts(found[i].Target), callers[found[i].Target])...)
		}
	}
	also = append(also, b.crowdFindings()...)
	also = append(also, b.unseenFindings()...)
	also = append(also, b.contentionFindings()...)
	also = append(also, b.growthFindings(grew)...)
	also = append(also, relate.Moving(found, b.options.Policy)...)
	also = uniqueFindings(also)
	also = b.related.resolveAbsent(also, b.timeline.Settled)
	found = append(found, also...)
	b.nameTableCallers(found)
	b.addReplication(found)
	nameWriters(found)
	relate.Assign(found, b.options.Policy)
	casebook.Settle(found)
	slices.SortFunc(found, Compare)
	return found
}

// Compare orders findings: the most severe first, then the most utilised.
func Compare(x, y detect.Finding) int {
	return cmp.Or(cmp.Compare(detect.Rank(y.Severity), detect.Rank(x.Severity)), cmp.Compare(y.Utilization, x.Utilization), strings.Compare(x.Fingerprint, y.Fingerprint))
}

// isOfOpenKeys reports whether a full partition refuses mostly keys that were proven hot and have
// findings of their own, or that lie beside such a key. These go on while the keys are refused,
// though their load falls.
func (b *Board) isOfOpenKeys(f *detect.Finding, found []detect.Finding) bool {
	if f.Subject != detect.SubjectPartition {
		return false
	}
	var hot []detect.KeyRef
	own, listed, beside, warning := 0.0, 0.0, 0.0, b.options.Policy(f.Target).Warning
	for i := range found {
		if k := &found[i]; k.Subject.OfKey() && k.Target == f.Target && detect.SideOf(k, k.Peak.WCU, k.Peak.RCU).Low > warning*detect.Units(k.Limit()) &&
			!k.FirstSeen.After(f.FirstSeen) && (k.State == detect.Firing || k.State == detect.Resolved && !k.LastSeen.Before(f.LastSeen)) {
			hot = append(hot, k.KeyRef)
		}
	}
	ranges := b.options.Partitions(f.Target)
	for _, refused := range f.RefusedKeys {
		key := sample.Key{Text: string(refused.Key), Type: refused.KeyType}
		listed += refused.Share
		for _, k := range hot {
			if k.Key == refused.Key && k.KeyType == refused.KeyType {
				own += refused.Share
				break
			}
			if ranges.AreTogether(sample.Key{Text: string(k.Key), Type: k.KeyType}, key) {
				beside += refused.Share
				break
			}
		}
	}
	return own > 0.5 || beside > 0 && own+beside > listed/2
}

// completeFew adds the evidence of key findings to the findings about few key values.
func (b *Board) completeFew(few, found []detect.Finding) {
	for i := range few {
		f := &few[i]
		var values []*detect.Finding
		for j := range found {
			if found[j].Subject.OfKey() && found[j].Target == f.Target {
				values = append(values, &found[j])
			}
		}
		f.Throttling = detect.JoinThrottling(values)
		keydesign.CacheReads(f, b.options.Facts(f.Target))
		keydesign.AddSplits(f, values, b.views[f.Target])
		if i := slices.IndexFunc(values, func(v *detect.Finding) bool { return v.Healed != nil }); i >= 0 &&
			!slices.ContainsFunc(values, func(v *detect.Finding) bool { return v.State != detect.Resolved }) {
			f.State, f.Healed = detect.Resolved, values[i].Healed
		}
		endWithValues(f, values)
	}
}

// isPresent reports whether a view is evidence of the present: it ends with the requests that
// it is about. At the end of all requests every view counts.
func (b *Board) isPresent(target detect.Target, v *detect.View) bool {
	newest := max(v.To.Unix()-1, b.totals.sumOf(target).last)
	return b.ended || v.To.Unix() >= b.timeline.Settled-viewSeconds && newest >= b.timeline.Settled-silentSeconds
}

// endWithValues resolves a finding about few key values with the last of its hot values. Its
// view lasts for an hour, and must not keep their incident open.
func endWithValues(f *detect.Finding, values []*detect.Finding) {
	if len(values) == 0 {
		return
	}
	if !slices.ContainsFunc(values, func(v *detect.Finding) bool { return v.State != detect.Resolved }) {
		f.State = detect.Resolved
	}
	last := slices.MaxFunc(values, func(a, b *detect.Finding) int { return a.LastSeen.Compare(b.LastSeen) }).LastSeen
	if last.After(f.FirstSeen) {
		f.LastSeen = last
	}
}

// growthFindings returns findings about keys whose item collections approach a local secondary
// index's size limit. grew holds the candidate tracks.
func (b *Board) growthFindings(grew []*episode.Track) (all []detect.Finding) {
	for _, t := range grew {
		target := t.Followed.Target
		facts := b.options.Facts(target)
		if t.Followed.IsWhole() || facts == nil || len(facts.LSIs) == 0 {
			continue
		}
		if f, grows := relate.Growing(t.Followed, t.Growth(b.conditions(t).Time), facts, b.options.Policy(target)); grows {
			all = append(all, f)
		}
	}
	return all
}

// callersOf returns the shares of the callers of the targets that have hot keys whose
// callers are known.
func (b *Board) callersOf(found []detect.Finding) map[detect.Target]map[string]float64 {
	targets := map[detect.Target]bool{}
	for i := range found {
		if f := &found[i]; f.Subject.OfKey() && f.Evidence != nil && len(f.Evidence.Callers) > 0 {
			targets[f.Target] = true
		}
	}
	return b.totals.callers(targets)
}

// judge returns the findings of a track, at most one about each of its sides.
func (b *Board) judge(t *episode.Track) (found []detect.Finding) {
	if t.IsCold(b.options.Policy(t.Followed.Target)) {
		return nil
	}
	c := b.conditions(t)
	for i, e := range t.Episodes(c) {
		r := c.Rules(t.Followed.Sides()[i])
		switch {
		case e.Severity() == "" || r.Excludes(t.Followed.Key.Text):
		case t.Followed.IsWhole():
			found = append(found, b.tableFinding(t, &e, r))
		default:
			found = append(found, b.keyFinding(t, &e, r))
		}
	}
	return found
}

// conditions returns the current policy, time and table load for judging a track.
func (b *Board) conditions(t *episode.Track) episode.Conditions {
	target, settled := t.Followed.Target, b.timeline
	settled.Settled -= b.late[target] // until then more samples may come
	return episode.Conditions{
		Policy: b.options.Policy(target), Largest: b.totals.largest(target), Time: settled, Span: t.Span(),
		Table: func(from, to int64) sketch.Load { return b.totals.sumBetween(target, from, to) },
	}
}

// keyFinding returns the finding about a hot key's episode.
func (b *Board) keyFinding(t *episode.Track, e *episode.Episode, r episode.Rules) detect.Finding {
	f := e.KeyFinding(t.Followed, r)
	f.Evidence = t.KeyEvidence(e, r.Watched)
	if served, may := f.Resends(); may {
		figure := detect.SideOf(&f, &f.Peak.WCU, &f.Peak.RCU)
		figure.Low = min(figure.Low, served)
		f.Shards = detect.Shards(detect.Milli(served), f.Limit(), r.Headroom)
	}
	f.Quality.KeysHidden = keyhash.Find(string(f.Key)) >= 0 || f.PredictedSplit() != nil && f.PredictedSplit().Verdict == detect.SplitHidden
	if f.Quality.Sampling == detect.SamplingAssumed && (f.Evidence == nil || len(f.Evidence.Callers) == 0) {
		f.Quality.CannotSee = append(f.Quality.CannotSee, detect.BlindHosts)
	}
	if b.options.RefusalsUnread && !e.WasRefused() {
		f.Quality.CannotSee = append(f.Quality.CannotSee, detect.BlindThrottled)
	}
	f.Rolling = keypatterns.MatchTime(string(f.Key), f.Peak.At)
	facts := b.options.Facts(f.Target)
	if f.Ground = relate.Diagnose(&f, facts); f.Ground == detect.GroundYoung && b.ended {
		f.Ground = detect.GroundCutShort // nothing more comes
	}
	if relate.MaySplit(f.Ground) {
		if f.Healed = e.Healing(); f.Healed != nil {
			f.State = detect.Resolved
		}
	}
	if f.Severity == detect.Critical && !e.WasRefused() && (f.MayBeServed() || casebook.IsMask(string(f.Key)) || b.totals.sumOf(f.Target).servesAll(&f)) {
		f.Severity = detect.Warning
		if f.Lasting == detect.Critical {
			f.Lasting = detect.Warning
		}
	}
	if f.IsServedBurst() {
		f.Lasting = ""
	}
	f.Replication = e.Replication(r.Watched, f.Peak.WCU.Value, facts.Regions(f.Region))
	return f
}

// advise writes the steps for hot keys. callers holds the callers' shares by target,
// where known; few holds the findings about few key values.
func (b *Board) advise(found []detect.Finding, callers map[detect.Target]map[string]float64, few []detect.Finding) {
	for i := range found {
		f := &found[i]
		if !f.Subject.OfKey() {
			continue
		}
		load := detect.Side(f.Subject, f.Peak.WCU, f.Peak.RCU).Value
		if served, may := f.Resends(); may {
			load = served
		}
		f.Advice = fixes.Steps(&fixes.Case{
			Finding: f, Load: detect.Milli(load), Policy: b.options.Policy(f.Target), Facts: b.options.Facts(f.Target), Cuts: b.options.Partitions(f.Target).Cuts(),
			Callers: callers[f.Target], TargetRCU: detect.Units(b.totals.sumOf(f.Target).read),
			FewValues: slices.ContainsFunc(few, func(value detect.Finding) bool { return value.Target == f.Target }),
		})
	}
}

// isOpen reports whether the board still holds a second's load by key.
func (b *Board) isOpen(target detect.Target, second int64) bool {
	return second >= b.timeline.Settled-detect.Horizon && b.totals.sumOf(target).open.has(second)
}

// tableFinding returns the finding about an episode of a table or index as a
// whole.
func (b *Board) tableFinding(t *episode.Track, e *episode.Episode, r episode.Rules) detect.Finding {
	target := t.Followed.Target
	f := e.WholeFinding(t.Followed, r)
	refused := b.totals.sumOf(target).refused
	f.Share, f.Shards, f.Evidence, f.RefusedKeys = 1, 1, t.Evidence(e), refused.Keys()
	if f.Evidence != nil && len(f.Evidence.Callers) == 0 { // or they scan
		f.Evidence.Callers = refused.Callers()
	}
	f.Throttling = e.Throttling()
	switch r.Watched {
	case detect.SubjectPartition:
		f.Utilization = 1 // it throttled: it was full
		f.Partition = e.Pressure.Partition
		f.Members = b.membersOf(&f, e.At)
		before, known := b.totals.peakBefore(target, f.FirstSeen.Unix())
		f.Ramp = relate.Ramp(target.Index, e.PeakLoad(), before, known, b.options.Facts(target))
		f.Ground = relate.HotPartition(&f, &e.Pressure, t.LoadSpread(), e.Over, b.walks[target].HasWalked(f.FirstSeen.Unix(), f.LastSeen.Unix()))
		if !f.Ground.IsRamp() {
			f.Ramp = nil
		}
		b.describePartition(&f)
	case detect.SubjectTable:
		f.Utilization = max(1, e.Pressure.Demand)
		f.Ground = casebook.Lack(&f)
		if e.Pressure.TakenByScans() {
			f.Ground = detect.GroundScan
		}
	}
	f.Advice = relate.ForTable(&f, &e.Pressure, e.PeakLoad(), b.options.Facts(target), b.options.Policy(target))
	return f
}

// membersOf returns the keys of a full partition or, if it is not known, the target's warm
// keys in a second, which may share one.
func (b *Board) membersOf(f *detect.Finding, second int64) *detect.Members {
	if f.Partition != nil {
		if f.Partition.KeyCount == 0 { // no key is listed
			return nil
		}
		var keys []sample.Text
		for _, k := range f.Partition.Busiest {
			keys = append(keys, k.Key)
		}
		return detect.NewMembers(int64(f.Partition.KeyCount), keys)
	}
	if !b.isOpen(f.Target, second) {
		second = f.LastSeen.Unix()
	}
	warm := b.tracks.warmestKeys(f.Target, second)
	return detect.NewMembers(int64(len(warm)), warm)
}

// describePartition adds the split that came since a partition was full, and leaves out the
// refused keys of other partitions.
func (b *Board) describePartition(f *detect.Finding) {
	m := b.options.Partitions(f.Target)
	if m == nil || f.Partition == nil {
		return
	}
	own := *f.Partition
	if own.Split = m.SplitSince(&own.PartitionRange, f.FirstSeen); own.Split == nil {
		f.RefusedKeys = slices.DeleteFunc(f.RefusedKeys, func(k detect.RefusedKey) bool {
			return !m.MayHold(own.Shard, sample.Key{Text: string(k.Key), Type: k.KeyType})
		})
	}
	f.Partition, f.Utilization = &own, max(1, own.Utilization())
}

// uniqueFindings keeps one finding a fingerprint, the most severe: a key that is hot by
// reads and by writes has one finding about its caller.
func uniqueFindings(found []detect.Finding) []detect.Finding {
	slices.SortStableFunc(found, func(x, y detect.Finding) int {
		return cmp.Or(strings.Compare(x.Fingerprint, y.Fingerprint), cmp.Compare(detect.Rank(y.Severity), detect.Rank(x.Severity)), cmp.Compare(y.Share, x.Share))
	})
	return slices.CompactFunc(found, func(x, y detect.Finding) bool { return x.Fingerprint == y.Fingerprint })
}

// contentionFindings returns the findings about items whose requests take attempts from each other.
func (b *Board) contentionFindings() (all []detect.Finding) {
	for _, e := range b.contention.Episodes() {
		policy := b.options.Policy(e.Target)
		if policy.Excludes(e.Key.Text) {
			continue
		}
		f := casebook.NewFinding(casebook.Contention, e.Target, e.Key)
		f.Severity, f.Shards = policy.Cap(e.Severity), 1
		f.FirstSeen, f.LastSeen, f.Through, f.Seconds = detect.TimeOf(e.First), detect.TimeOf(e.Last), detect.TimeOf(e.Through), e.Seconds
		f.Peak.At = f.LastSeen
		time := b.timeline
		time.Settled -= b.late[e.Target]
		switch {
		case time.IsQuietSince(e.Last) && (!e.Sampled || e.Silence.IsEnd(time.CompleteSeconds(e.Silence.Last(), time.Settled))):
			f.State = detect.Resolved
		case f.Severity != detect.Info:
			f.State = detect.Firing
		}
		figures := e.Figures
		told := b.options.Facts(e.Target).ShapeOf(e.Key.Text)
		figures.Shape, figures.ShapeTold = cmp.Or(told, detect.NamedShape(string(figures.Item)+" "+e.Key.Text, e.Target.Table)), told != ""
		f.Contention, f.Advice = &figures, contention.Steps(&figures)
		if f.Quality.Sampling = detect.SamplingNone; e.Sampled {
			f.Quality.Sampling = detect.SamplingByCall
			if e.Rate > 0 {
				f.Quality.Rate = &e.Rate
			}
		}
		f.Quality.KeysHidden = keyhash.Find(e.Key.Text) >= 0
		all = append(all, f)
	}
	return all
}
