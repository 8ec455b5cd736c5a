package keypatterns

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/sketch"
)

const (
	// maxMembers is of how many numbers a base may be a sharded key: user#42 is
	// one of a million, and no shard.
	maxMembers = 1024
	// maxGroups bounds the bases of one table or index, maxAllGroups those of
	// all.
	maxGroups    = 2000
	maxAllGroups = 20_000
	// openSeconds is how many seconds a second of sharded keys stays open to late
	// data.
	openSeconds = 30
)

// groupID is a sharded key, or what may be one.
type groupID struct {
	target     detect.Target
	base, tail string
	form       shardkey.Form
}

// pattern returns the name of all shards together.
func (id groupID) pattern() string {
	switch {
	case id.form.Alone:
		return "*"
	case id.form.Prefix:
		return "*" + id.form.After + id.base
	}
	return id.base + id.form.Before + "*" + id.tail
}

// group is what is known of a sharded key.
type group struct {
	// tooMany reports whether there are too many members for shards: nothing more is
	// kept.
	tooMany bool
	// periods are the last ones, of a horizon each: a load that is long past is no
	// measure of today's. Of a file there is one.
	periods map[int64]*period
	// seconds are the open ones.
	seconds map[int64]groupSecond
	// mostWrite and mostRead are the most that any second ever seen can have had.
	mostWrite, mostRead sample.Milli
	last                int64
	// flushes are the seconds in which many requests have the times of a flush.
	flushes sampling.Flushes
}

// period is what a sharded key had in some time.
type period struct {
	keyType string
	members map[int]*member
	// write and read are the highest of all seconds, first and last those in which
	// the key was seen.
	write, read groupPeak
	first, last int64
	// over is in how many seconds any shard is proven above its partition's limit.
	over int
	// together is how many shards had load in one second, at most.
	together int
	// unseen is the most that one shard can have had that no second lists.
	unseen sample.Milli
	// whole is the most that sampling leaves open of one shard's share if callers were
	// drawn as a whole, as a standard deviation.
	whole float64
}

// member is one shard.
type member struct {
	key string
	// counts is the sum of its seconds.
	counts
}

// counts is what one shard had in a second.
type counts struct {
	low, err sketch.Load
	requests int64
	// unseen is the weight that it would have been missing, had the second not
	// listed it.
	unseen sample.Milli
}

// replace subtracts was and adds now.
func (p *counts) replace(was, now counts) {
	p.low = detect.Sub(p.low.Plus(now.low), was.low)
	p.err = detect.Sub(p.err.Plus(now.err), was.err)
	p.requests += now.requests - was.requests
	p.unseen += now.unseen - was.unseen
}

// groupSecond is one second of a sharded key, by shard and in that order: most
// keys that look like shards are the only one, and a map each would be much.
type groupSecond struct {
	parts  []shardCounts
	unseen sample.Milli
	isOver bool
}

type shardCounts struct {
	shard int
	counts
}

// shardCounts returns what a shard had; nothing when it was not listed.
func (s *groupSecond) shardCounts(shard int) counts {
	i, found := slices.BinarySearchFunc(s.parts, shard, func(p shardCounts, n int) int { return cmp.Compare(p.shard, n) })
	if !found {
		return counts{}
	}
	return s.parts[i].counts
}

type groupPeak struct {
	sampling.Interval
	// proven holds with 1 − 10⁻⁶ where requests were sampled.
	proven sample.Milli
	at     int64
}

// namesShards reports whether the form names a shard by a word, so that no key has it
// by chance.
func namesShards(f shardkey.Form) bool { return len(f.Before) > 1 }

// shardWords are the words of the forms that have one.
var shardWords = func() (all []string) {
	for _, f := range shardkey.Forms() {
		if namesShards(f) {
			all = append(all, f.Before)
		}
	}
	return all
}()

func hasShardWord(key string) bool {
	return slices.ContainsFunc(shardWords, func(mark string) bool { return strings.Contains(key, mark) })
}

// memberLoad is a key of a window that may be a shard.
type memberLoad struct {
	shard int
	key   *sketch.KeyLoad
}

// Groups are the keys that are, or may be, sharded.
type Groups struct {
	oneEpisode bool
	known      map[groupID]*group
	perTarget  map[detect.Target]int // how many, by table or index
}

// NewGroups returns empty groups. oneEpisode takes everything observed for one period, as
// when a file is analysed.
func NewGroups(oneEpisode bool) *Groups {
	return &Groups{oneEpisode, map[groupID]*group{}, map[detect.Target]int{}}
}

// Observe adds a window's keys to the sharded keys that they may be shards of, in the
// order of the window: there may be room for only some. newest is the newest second
// of all windows, clocks are the table's.
func (gs *Groups) Observe(w *sketch.Window, newest int64, policy detect.Policy, clocks *sampling.Clocks) {
	if w.Second < newest-openSeconds {
		return
	}
	seen := map[groupID][]memberLoad{}
	var order []groupID
	for i := range w.Keys {
		k := &w.Keys[i]
		id, shard, may := mayBeShard(w, k, policy)
		if !may {
			continue
		}
		if seen[id] == nil {
			order = append(order, id)
		}
		seen[id] = append(seen[id], memberLoad{shard, k})
	}
	for _, id := range order {
		if g := gs.group(id); g != nil {
			g.put(w, seen[id], gs.periodOf(w.Second), clocks)
		}
	}
}

// periodOf returns the period that a second belongs to.
func (gs *Groups) periodOf(second int64) int64 {
	if gs.oneEpisode {
		return 0
	}
	return second / detect.Horizon
}

// mayBeShard parses a key as a shard's name, and reports whether it may be one.
func mayBeShard(w *sketch.Window, k *sketch.KeyLoad, policy detect.Policy) (id groupID, shard int, may bool) {
	if k.Cut || policy.Excludes(k.Key.Text) {
		return groupID{}, 0, false
	}
	id.target = w.Target
	if policy.Suffix != nil {
		if base, n, is := policy.Suffix.Parse(k.Key.Text); is {
			id.base, id.form = base, *policy.Suffix
			return id, n, true
		}
	}
	light := detect.Weight(k.Low) < detect.ShareOf(detect.WritesInReads*detect.PartitionWrite, detect.GuessedShare)
	if light && !hasShardWord(k.Key.Text) { // nearly every key: it need not be parsed
		return groupID{}, 0, false
	}
	p, is := shardkey.Parse(k.Key.Text)
	if !is || light && !namesShards(p.Form) || p.Form.Alone && w.Index == "" {
		return groupID{}, 0, false
	}
	id.base, id.tail, id.form = p.Base, p.Tail, p.Form
	return id, p.Shard, true
}

// group returns what is known of a sharded key; nil when there are too many.
func (gs *Groups) group(id groupID) *group {
	g := gs.known[id]
	if g == nil {
		if gs.perTarget[id.target] >= maxGroups || len(gs.known) >= maxAllGroups {
			return nil
		}
		gs.perTarget[id.target]++
		g = &group{periods: map[int64]*period{}, seconds: map[int64]groupSecond{}}
		gs.known[id] = g
	}
	return g
}

// put records a second, in place of what was known of it.
func (g *group) put(w *sketch.Window, seen []memberLoad, at int64, clocks *sampling.Clocks) {
	g.last = max(g.last, w.Second)
	e := g.periods[at]
	if e == nil {
		e = &period{members: map[int]*member{}, first: w.Second}
		if !g.tooMany {
			g.periods[at] = e
		}
	}
	if g.tooMany = g.tooMany || len(e.members) > maxMembers; g.tooMany {
		g.periods, g.seconds = nil, nil
		return
	}
	before := g.seconds[w.Second]
	now := groupSecond{parts: make([]shardCounts, 0, len(seen)), unseen: detect.Weight(w.Unseen)}
	e.unseen += now.unseen - before.unseen
	var write, read secondSum
	var batches sampling.Batches
	for _, x := range seen {
		k := x.key
		batches.Add(k.Low, clocks.Batch(w, k))
		whole := sampling.WholeCallers(w, k)
		e.whole = max(e.whole, whole.Deviation)
		has := counts{k.Low, k.Err, k.Requests, now.unseen}
		now.parts = append(now.parts, shardCounts{x.shard, has})
		write.add(k.Low.Write, k.Err.Write, k.WriteSpread, whole)
		read.add(k.Low.Read, k.Err.Read, k.ReadSpread, whole)
		m := e.members[x.shard]
		if m == nil {
			if len(e.members) > maxMembers {
				continue
			}
			m = &member{key: k.Key.Text}
			e.members[x.shard], e.keyType = m, k.Key.Type
		}
		m.replace(before.shardCounts(x.shard), has)
	}
	slices.SortFunc(now.parts, func(a, b shardCounts) int { return cmp.Compare(a.shard, b.shard) })
	part, seconds := g.flushes.Sum(&batches, w.Second)
	now.isOver = slices.ContainsFunc(seen, func(m memberLoad) bool { return isOver(w, m.key, part) })
	e.addOver(before.isOver, now.isOver)
	g.addSecond(w.Second, now)
	e.write = e.write.max(write.peak(w.Second, w.Total.WriteLargest, part, seconds))
	e.read = e.read.max(read.peak(w.Second, w.Total.ReadLargest, part, seconds))
	e.together = max(e.together, len(seen))
	e.first, e.last = min(e.first, w.Second), max(e.last, w.Second)
	g.mostWrite, g.mostRead = max(g.mostWrite, write.upperBound(w.Total.WriteLargest)), max(g.mostRead, read.upperBound(w.Total.ReadLargest))
}

// isOver reports whether a shard is proven above its partition's limit, of which a part
// was flushed.
func isOver(w *sketch.Window, k *sketch.KeyLoad, part float64) bool {
	if k.Low.Write <= detect.PartitionWrite && k.Low.Read <= detect.PartitionRead { // nearly every one
		return false
	}
	proven := detect.PartOf(sampling.Proven(w, k), 1-part)
	return proven.Write > detect.PartitionWrite || proven.Read > detect.PartitionRead
}

// addOver records whether a shard is over in a second, in place of what was known of it.
func (e *period) addOver(before, now bool) {
	if before {
		e.over--
	}
	if now {
		e.over++
	}
}

// addSecond keeps an open second, and now and then evicts closed ones.
func (g *group) addSecond(second int64, s groupSecond) {
	g.seconds[second] = s
	if len(g.seconds) > openSeconds+openSeconds/2 {
		maps.DeleteFunc(g.seconds, func(at int64, _ groupSecond) bool { return at < g.last-openSeconds })
	}
}

// secondSum is the load of all shards in one second.
type secondSum struct {
	value, missing sample.Milli
	spread         sketch.Spread
	// whole and largest are the standard deviation, and what one more caller would have
	// added, if callers were drawn as a whole: the same ones for all shards.
	whole, largest float64
}

func (s *secondSum) add(value, missing sample.Milli, spread sketch.Spread, whole sampling.Whole) {
	s.value, s.missing = s.value+value, s.missing+missing
	s.spread.Variance += spread.Variance
	s.spread.Largest = max(s.spread.Largest, spread.Largest)
	s.whole += whole.Deviation * detect.Units(value)
	s.largest += whole.Largest * detect.Units(value)
}

func (s *secondSum) amounts() sampling.Amounts {
	return sampling.NewAmounts(s.value, s.missing, sketch.Spread{Variance: max(s.spread.Variance, s.whole*s.whole), Largest: max(s.spread.Largest, s.largest)})
}

// upperBound returns the most that the second can have had, whenever its requests were.
func (s *secondSum) upperBound(largest float64) sample.Milli {
	a := s.amounts()
	return a.High(largest)
}

// peak returns the second with the part of it that was flushed as the mean over so many
// seconds; of that nothing is proven.
func (s *secondSum) peak(second int64, largest, part, seconds float64) groupPeak {
	a := s.amounts()
	proven := a.SpreadOver(part, math.Inf(1)).Proven
	a = a.SpreadOver(part, seconds)
	return groupPeak{Interval: sampling.Interval{Value: a.Value, Low: a.Low, High: a.High(largest)}, proven: proven, at: second}
}

func (p groupPeak) max(o groupPeak) groupPeak {
	at := p.at
	if o.Value > p.Value || o.Value == p.Value && o.at < p.at || p.at == 0 {
		at = o.at
	}
	return groupPeak{Interval: p.Interval.Max(o.Interval), proven: max(p.proven, o.proven), at: at}
}

// Evict drops periods that are past, and keys that were not seen for long.
func (gs *Groups) Evict(newest int64) {
	now := gs.periodOf(newest)
	for id, g := range gs.known {
		if len(g.periods) > 1 {
			maps.DeleteFunc(g.periods, func(at int64, _ *period) bool { return at < now-1 })
		}
		if g.last < newest-detect.Horizon && (g.tooMany || !gs.oneEpisode) {
			delete(gs.known, id)
			gs.perTarget[id.target]--
		}
	}
}

// recentPeriods returns what is known of all periods together.
func (g *group) recentPeriods() *period {
	all := &period{members: map[int]*member{}}
	for _, e := range g.periods {
		if len(g.periods) == 1 {
			return e
		}
		for shard, m := range e.members {
			if all.members[shard] == nil {
				all.members[shard] = &member{key: m.key}
			}
			all.members[shard].replace(counts{}, m.counts)
		}
		all.keyType, all.over = e.keyType, all.over+e.over
		all.write, all.read, all.unseen = all.write.max(e.write), all.read.max(e.read), all.unseen+e.unseen
		if all.first == 0 || e.first < all.first {
			all.first = e.first
		}
		all.last, all.together, all.whole = max(all.last, e.last), max(all.together, e.together), max(all.whole, e.whole)
	}
	return all
}

// utilization returns that of all shards together, in the highest recent second.
func (g *group) utilization() (most float64) {
	for _, e := range g.periods {
		most = max(most, e.utilization())
	}
	return most
}
