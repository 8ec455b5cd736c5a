package detect

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/sketch"
)

const (
	// maxMembers is of how many numbers a base may be a sharded key: user#42 is
	// one of a million, and no shard.
	maxMembers = 1024
	// maxGroups bounds the bases of one table or index.
	maxGroups = 2000
	// guessShare is the share of a limit from which a key with a mere number may
	// be a shard: those with a word always may.
	guessShare = 0.01
	// shardsOpen is how many seconds a second of sharded keys stays open to late
	// data.
	shardsOpen = 30
)

// Sharded is a key that is sharded already, judged as one.
type Sharded struct {
	// Base is the key without its shards, Form an example of their names.
	Base string `json:"base"`
	Form string `json:"form"`
	// Shards is how many there are, Needed how many carry the peak.
	Shards int `json:"shards"`
	Needed int `json:"needed"`
	// Deviation is the largest difference of a shard's load from the mean of all,
	// as a share of the mean; Hottest is the shard with most load.
	Deviation float64 `json:"deviation"`
	Hottest   string  `json:"hottest"`
}

// groupID is a sharded key, or what may be one.
type groupID struct {
	tableID
	base, tail string
	form       shardkey.Form
}

// pattern is the name of all shards together.
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
	keyType string
	members map[int]*member
	// crowded says that there are too many for shards: nothing more is kept.
	crowded bool
	// seconds are the open ones, write and read the highest of all second, first
	// and last those in which it was seen.
	seconds     map[int64]*groupSecond
	write, read groupPeak
	first, last int64
}

// member is one shard, over all seconds.
type member struct {
	key      string
	load     sketch.Load
	requests int64
}

type groupSecond struct {
	low, err sketch.Load
	parts    map[int]sketch.KeyLoad
}

type groupPeak struct {
	figure
	at int64
}

// worded says that the form names a shard by a word, so that no key has it by
// chance.
func worded(f shardkey.Form) bool { return len(f.Before) > 1 }

// observeShards counts a window's keys to the sharded keys that they may be
// shards of.
func (b *Board) observeShards(w *sketch.Window) {
	if w.Second < b.newest-shardsOpen {
		return
	}
	policy := b.options.Policy(w.Table, w.Index)
	parts := map[groupID]map[int]sketch.KeyLoad{}
	for i := range w.Keys {
		k := &w.Keys[i]
		id, shard, may := mayBeShard(w, k, policy)
		if !may {
			continue
		}
		if parts[id] == nil {
			parts[id] = map[int]sketch.KeyLoad{}
		}
		parts[id][shard] = *k
	}
	for id, shards := range parts {
		if g := b.group(id); g != nil {
			g.put(w.Second, shards)
		}
	}
}

// mayBeShard takes a key apart.
func mayBeShard(w *sketch.Window, k *sketch.KeyLoad, policy Policy) (id groupID, shard int, may bool) {
	if k.Cut || policy.excludes(k.Key.Text) {
		return groupID{}, 0, false
	}
	id.tableID = tableID{w.Table, w.Index}
	if policy.Suffix != nil {
		if base, n, is := policy.Suffix.Parse(k.Key.Text); is {
			id.base, id.form = base, *policy.Suffix
			return id, n, true
		}
	}
	p, is := shardkey.Parse(k.Key.Text)
	if !is || !worded(p.Form) && weight(k.Low) < share(WritesInReads*PartitionWrite, guessShare) {
		return groupID{}, 0, false
	}
	id.base, id.tail, id.form = p.Base, p.Tail, p.Form
	return id, p.Shard, true
}

// group answers what is known of a sharded key; nil when there are too many.
func (b *Board) group(id groupID) *group {
	g := b.groups[id]
	if g == nil {
		if b.groupsOf[id.tableID] >= maxGroups {
			return nil
		}
		b.groupsOf[id.tableID]++
		g = &group{members: map[int]*member{}, seconds: map[int64]*groupSecond{}}
		b.groups[id] = g
	}
	return g
}

// put sets a second, in place of what was known of it.
func (g *group) put(second int64, parts map[int]sketch.KeyLoad) {
	g.last = max(g.last, second)
	if g.crowded = g.crowded || len(g.members) > maxMembers; g.crowded {
		g.members, g.seconds = nil, nil
		return
	}
	s := g.seconds[second]
	if s == nil {
		s = &groupSecond{parts: map[int]sketch.KeyLoad{}}
		g.seconds[second] = s
	}
	for shard, k := range parts {
		was := s.parts[shard]
		s.parts[shard] = k
		s.low = sketch.Load{Read: s.low.Read + k.Low.Read - was.Low.Read, Write: s.low.Write + k.Low.Write - was.Low.Write}
		s.err = sketch.Load{Read: s.err.Read + k.Err.Read - was.Err.Read, Write: s.err.Write + k.Err.Write - was.Err.Write}
		m := g.members[shard]
		if m == nil {
			if len(g.members) > maxMembers {
				continue
			}
			m = &member{key: k.Key.Text}
			g.members[shard], g.keyType = m, k.Key.Type
		}
		m.load = sketch.Load{Read: m.load.Read + k.Low.Read - was.Low.Read, Write: m.load.Write + k.Low.Write - was.Low.Write}
		m.requests += k.Requests - was.Requests
	}
	g.write = g.write.max(second, s.low.Write, s.err.Write)
	g.read = g.read.max(second, s.low.Read, s.err.Read)
	if g.first == 0 || second < g.first {
		g.first = second
	}
}

func (p groupPeak) max(second int64, low, missing sample.Milli) groupPeak {
	if low > p.value || low == p.value && second < p.at {
		p.at = second
	}
	p.figure = p.figure.max(figure{low, low, low + missing})
	return p
}

// forgetShards closes seconds, and forgets keys that were not seen for long.
func (b *Board) forgetShards() {
	for id, g := range b.groups {
		maps.DeleteFunc(g.seconds, func(second int64, _ *groupSecond) bool { return second < b.newest-shardsOpen })
		if g.last < b.newest-horizon && (g.crowded || !b.options.OneEpisode) {
			delete(b.groups, id)
			b.groupsOf[id.tableID]--
		}
	}
}

// confirmed says whether this is a sharded key, and how many shards it has. A
// mere number is one when the policy says so, or when the numbers are all there
// and most of them carry about the same: users' numbers do not.
func (g *group) confirmed(form shardkey.Form, p Policy) (shards int, yes bool) {
	n := len(g.members)
	if n < 2 || n > maxMembers {
		return 0, false
	}
	least, most := math.MaxInt, 0
	for shard := range g.members {
		least, most = min(least, shard), max(most, shard)
	}
	dense := least <= 1 && n >= (most-least+1)*9/10
	shards = n
	if dense {
		shards = most - least + 1
	}
	if worded(form) || p.Suffix != nil && *p.Suffix == form {
		return shards, true
	}
	return shards, dense && n >= 3 && g.even()
}

// least is from which utilisation of all shards together there is something to
// say: of a mere number only when the shards would be a hot key, since small
// numbers are common and mostly no shards.
func (g *group) least(form shardkey.Form, p Policy) float64 {
	if worded(form) || p.Suffix != nil && *p.Suffix == form {
		return p.MinUnits / units(PartitionWrite)
	}
	return p.Warning
}

func (g *group) utilization() float64 {
	return max(units(g.write.value)/units(PartitionWrite), units(g.read.value)/units(PartitionRead))
}

// even says whether four of five shards are within half of the mean.
func (g *group) even() bool {
	mean, within := g.mean(len(g.members)), 0
	for _, m := range g.members {
		if math.Abs(float64(weight(m.load))-mean) <= mean/2 {
			within++
		}
	}
	return 5*within >= 4*len(g.members)
}

func (g *group) mean(shards int) float64 {
	var sum sample.Milli
	for _, m := range g.members {
		sum += weight(m.load)
	}
	return float64(sum) / float64(max(shards, 1))
}

// deviation is the largest difference of a shard's load from the mean, as a
// share of it, and the shard with most; certain says that chance alone does not
// make it: requests are counted, and a count of n varies by its root.
func (g *group) deviation(shards int) (most float64, hottest string, certain bool) {
	mean := g.mean(shards)
	var requests int64
	var highest sample.Milli = -1
	for _, m := range g.members {
		most = max(most, math.Abs(float64(weight(m.load))-mean)/mean)
		requests += m.requests
		if l := weight(m.load); l > highest || l == highest && m.key < hottest {
			highest, hottest = l, m.key
		}
	}
	if shards > len(g.members) {
		most = max(most, 1) // one gets nothing
	}
	each := float64(requests) / float64(shards)
	return most, hottest, each > 0 && most-3/math.Sqrt(each) > UnevenShare
}

// sharded are the findings about keys that are sharded already, and a mark on
// those of their shards.
func (b *Board) sharded(found []Finding) (more []Finding) {
	judged := map[groupID]*Sharded{}
	for id, g := range b.groups {
		p := b.options.Policy(id.table, id.index)
		shards, yes := g.confirmed(id.form, p)
		if !yes || g.utilization() < g.least(id.form, p) {
			continue
		}
		s, all := g.judge(id, shards, p)
		judged[id] = s
		more = append(more, all...)
	}
	for i := range found {
		f := &found[i]
		id, _, may := mayBeShard(&sketch.Window{Table: f.Table, Index: f.Index},
			&sketch.KeyLoad{Key: sample.Key{Text: f.Key}, Low: sketch.Load{Write: PartitionWrite}}, b.options.Policy(f.Table, f.Index))
		if s := judged[id]; may && s != nil {
			f.Sharding = s
			f.tellSharding()
		}
	}
	return more
}

// tellSharding puts the whole key's shards in place of one shard's.
func (f *Finding) tellSharding() {
	s := f.Sharding
	f.Advice = slices.Clone(f.Advice)
	for i := range f.Advice {
		if step := &f.Advice[i]; step.Action == ActionShard {
			step.Text = fmt.Sprintf("The key is one of %d shards of %s: judged as one key it needs %d. Change the number of shards, not this shard's own.", s.Shards, quoted(s.Base), s.Needed)
			if s.Deviation > UnevenShare {
				step.Text = fmt.Sprintf("The key is one of %d shards of %s, which differ by up to %.0f %% from their mean: judged as one key %d shards carry its peak, if they are even.", s.Shards, quoted(s.Base), 100*s.Deviation, s.Needed)
			}
		}
	}
}

// judge says what is wrong with a sharded key.
func (g *group) judge(id groupID, shards int, p Policy) (*Sharded, []Finding) {
	kind, peak := HotKeyWrite, g.write
	if units(g.read.value)/units(PartitionRead) > units(g.write.value)/units(PartitionWrite) {
		kind, peak = HotKeyRead, g.read
	}
	needed := Shards(peak.value, limit(kind), p.Headroom)
	deviation, hottest, certain := g.deviation(shards)
	base := id.base + id.tail
	if id.form.Alone {
		base = id.pattern()
	}
	s := &Sharded{Base: base, Form: id.form.String(), Shards: shards, Needed: needed, Deviation: deviation, Hottest: hottest}
	each := peak.value / sample.Milli(shards)
	sum := fmt.Sprintf("ceil(%s / %s × %g) = %d", amountOf(peak.value), amountOf(limit(kind)), p.Headroom, needed)

	var all []Finding
	say := func(k Kind, severity Severity, why string, step Step) {
		f := g.finding(id, k, peak.at)
		f.Severity, f.Shards, f.Sharding = p.cap(severity), needed, s
		f.Reason, f.Why, f.Advice = Undetermined, why, []Step{step}
		all = append(all, f)
	}
	loads := fmt.Sprintf("%d shards of %s are asked for %s a second together, %s each if they are even", shards, quoted(base), perSecond(peak.value, kind), amountOf(each))
	switch {
	case needed > shards:
		say(TooFewShards, loadSeverity(each, kind, p), fmt.Sprintf("%s: %s are needed.", loads, sum),
			Step{ActionShard, fmt.Sprintf("Raise the number of shards from %d to %d: %s. Write to the new number, and read old and new shards together: all old names stay names of shards.", shards, needed, sum)})
	case shards > ManyTimes*needed:
		say(TooManyShards, Info, fmt.Sprintf("%s: %s would do. Every read of the whole key takes %d queries.", loads, sum, shards),
			Step{ActionShard, fmt.Sprintf("%d shards carry the peak: %s. Fewer shards make reads of the whole key cheaper, at least %g RCU a query; leave room for growth.", needed, sum, QueryLeast)})
	}
	if certain {
		highest := sample.Milli(float64(peak.value) / float64(shards) * (1 + deviation))
		severity := Info
		if rank(loadSeverity(highest, kind, p)) > rank(Info) {
			severity = Warning
		}
		say(UnevenShards, severity, fmt.Sprintf("The %d shards of %s differ by up to %.0f %% from their mean; %s has most. Above %.0f %% the number of shards does not say what they carry.",
			shards, quoted(base), 100*deviation, quoted(hottest), 100*UnevenShare),
			Step{ActionShard, "Look at how the suffix is chosen: a hash of an attribute with few values, or a random number that some writers do not draw, leaves shards uneven. Choose it at random, or by a hash of an attribute with many values."})
	}
	return s, all
}

// loadSeverity is that of a load on one key.
func loadSeverity(l sample.Milli, k Kind, p Policy) Severity {
	switch {
	case l > limit(k):
		return Critical
	case l > share(limit(k), p.Warning):
		return Warning
	}
	return Info
}

// finding is about all shards together.
func (g *group) finding(id groupID, k Kind, second int64) Finding {
	key := id.pattern()
	var read, write sample.Milli
	for _, m := range g.members {
		read, write = read+m.load.Read, write+m.load.Write
	}
	n := max(1, g.last-g.first+1)
	mean := Loads{WCU: figure{write, write, write}.units(n), RCU: figure{read, read, read}.units(n)}
	return Finding{
		Fingerprint: fingerprint(k, id.table, id.index, g.keyType, key), Kind: k, Seen: SeenRequests,
		Table: id.table, Index: id.index, Key: key, KeyType: g.keyType, State: Pending,
		Peak: Peak{Loads: Loads{WCU: g.write.units(1), RCU: g.read.units(1)}, At: at(second)}, Mean: mean,
		Consumed:    Consumed{WCU: units(g.write.value), RCU: units(g.read.value)},
		Utilization: g.utilization(),
		FirstSeen:   at(g.first), LastSeen: at(g.last), Seconds: n, Through: at(g.last), Gaps: []Gap{},
	}
}
