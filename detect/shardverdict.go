package detect

import (
	"fmt"
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/sketch"
)

// confirmed says whether this is a sharded key, and how many shards it has. A
// mere number is one when the policy says so, or when the numbers are all there
// and most of them carry about the same: users' numbers do not.
func (g *era) confirmed(form shardkey.Form, p Policy) (shards int, yes bool) {
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
func least(form shardkey.Form, p Policy) float64 {
	if worded(form) || p.Suffix != nil && *p.Suffix == form {
		return p.MinUnits / units(PartitionWrite)
	}
	return p.Warning
}

func (g *era) utilization() float64 {
	return max(units(g.write.value)/units(PartitionWrite), units(g.read.value)/units(PartitionRead))
}

// even says whether four of five shards are within half of the mean.
func (g *era) even() bool {
	mean, within := g.mean(len(g.members)), 0
	for _, m := range g.members {
		if math.Abs(float64(weight(m.low))-mean) <= mean/2 {
			within++
		}
	}
	return 5*within >= 4*len(g.members)
}

func (g *era) mean(shards int) float64 {
	var sum sample.Milli
	for _, m := range g.members {
		sum += weight(m.low)
	}
	return float64(sum) / float64(max(shards, 1))
}

// deviation is by how much a shard differs from the mean for certain, whatever
// the sketch left open, as a share of the mean, and the shard with most; certain
// says that chance alone does not make it: requests are counted, a count of n
// varies by its root, and the largest of many varies more than one.
func (g *era) deviation(shards int) (most float64, hottest string, certain bool) {
	var requests int64
	var low, missing, highest, coldest sample.Milli = 0, 0, -1, math.MaxInt64
	for _, m := range g.members {
		has, may := weight(m.low), weight(m.err)+g.unseen-m.unseen
		low, missing, requests = low+has, missing+may, requests+m.requests
		if has > highest || has == highest && m.key < hottest {
			highest, hottest = has, m.key
		}
		coldest = min(coldest, has+may)
	}
	if none := shards - len(g.members); none > 0 {
		missing += sample.Milli(none) * g.unseen
		coldest = min(coldest, g.unseen) // one gets nothing that was seen
	}
	n := float64(shards)
	if low > 0 {
		most = max(0, float64(highest)*n/float64(low+missing)-1, 1-float64(coldest)*n/float64(low))
	}
	each := float64(requests) / n
	return most, hottest, each > 0 && most-(3+math.Sqrt(2*math.Log(n)))/math.Sqrt(each) > UnevenShare
}

// part is a shard's part of the load of all.
func (g *era) part(key string) float64 {
	for _, m := range g.members {
		if m.key == key {
			return ratio(float64(weight(m.low)), g.mean(1))
		}
	}
	return 0
}

// findings are those about keys that are sharded already, and a mark on
// those of their shards.
func (gs *groups) findings(found []Finding, policy func(table, index string) Policy) (more []Finding) {
	judged := map[groupID]*Sharded{}
	for id, g := range gs.known {
		p := policy(id.target.Table, id.target.Index)
		if len(g.eras) == 0 || g.utilization() < least(id.form, p) {
			continue
		}
		recent := g.recent()
		shards, yes := recent.confirmed(id.form, p)
		if !yes {
			continue
		}
		s, all := recent.judge(id, shards, groupPeak{figure: figure{value: g.mostWrite}}, groupPeak{figure: figure{value: g.mostRead}}, p)
		judged[id] = s
		more = append(more, all...)
	}
	for i := range found {
		f := &found[i]
		id, _, may := mayBeShard(&sketch.Window{Table: f.Table, Index: f.Index},
			&sketch.KeyLoad{Key: sample.Key{Text: f.Key}, Low: sketch.Load{Write: PartitionWrite}}, policy(f.Table, f.Index))
		if s := judged[id]; may && s != nil {
			f.Sharding = s
			tellSharding(f)
		}
	}
	return more
}

// tellSharding puts the whole key's shards in place of one shard's.
func tellSharding(f *Finding) {
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

// nearer is the peak that is nearer to its limit, and what it is of.
func nearer(write, read groupPeak) (Kind, groupPeak) {
	if units(read.value)/units(PartitionRead) > units(write.value)/units(PartitionWrite) {
		return HotKeyRead, read
	}
	return HotKeyWrite, write
}

// need is how many shards carry a peak, with the arithmetic.
func need(peak sample.Milli, k Kind, p Policy) (int, string) {
	n := Shards(peak, limit(k), p.Headroom)
	return n, fmt.Sprintf("ceil(%s / %s × %g) = %d", amountOf(peak), amountOf(limit(k)), p.Headroom, n)
}

// judge says what is wrong with a sharded key. Too few shards are told from what
// is proven of the recent peak, too many from the highest ever seen: nobody
// takes shards away for a quiet night.
func (g *era) judge(id groupID, shards int, mostWrite, mostRead groupPeak, p Policy) (*Sharded, []Finding) {
	kind, peak := nearer(g.write, g.read)
	needed, sum := need(peak.value, kind, p)
	mostKind, most := nearer(mostWrite, mostRead)
	ever, everSum := need(most.value, mostKind, p)
	deviation, hottest, certain := g.deviation(shards)
	base := id.base + id.tail
	if id.form.Alone {
		base = id.pattern()
	}
	s := &Sharded{Base: base, Form: id.form.String(), Shards: shards, Needed: needed, Deviation: deviation, Hottest: hottest}
	each := peak.value / sample.Milli(shards)

	var all []Finding
	say := func(k Kind, severity Severity, why string, step Step) {
		f := g.finding(id, k, peak.at)
		f.Severity, f.Shards, f.Sharding = p.cap(severity), needed, s
		f.Reason, f.Why, f.Advice = Undetermined, why, []Step{step}
		all = append(all, f)
	}
	loads := fmt.Sprintf("%d shards of %s are asked for %s a second together, %s each if they are even", shards, quoted(base), perSecond(peak.value, kind), amountOf(each))
	switch {
	case Shards(peak.proven, limit(kind), p.Headroom) > shards:
		say(TooFewShards, loadSeverity(peak.proven/sample.Milli(shards), kind, p), fmt.Sprintf("%s: %s are needed.", loads, sum),
			Step{ActionShard, fmt.Sprintf("Raise the number of shards from %d to %d: %s. Write to the new number, and read old and new shards together: all old names stay names of shards.", shards, needed, sum)})
	case shards > ManyTimes*ever:
		say(TooManyShards, Info, fmt.Sprintf("The %d shards of %s were never asked for more than %s a second together: %s would do. Every read of the whole key takes %d queries.", shards, quoted(base), perSecond(most.value, mostKind), everSum, shards),
			Step{ActionShard, fmt.Sprintf("%d shards carry the highest peak seen: %s. Fewer shards make reads of the whole key cheaper, at least %g RCU a query; leave room for growth.", ever, everSum, QueryLeast)})
	}
	if certain {
		highest := sample.Milli(float64(peak.proven) * g.part(hottest))
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
func (g *era) finding(id groupID, k Kind, second int64) Finding {
	key := id.pattern()
	var read, write sample.Milli
	for _, m := range g.members {
		read, write = read+m.low.Read, write+m.low.Write
	}
	n := max(1, g.last-g.first+1)
	mean := Loads{WCU: figure{write, write, write}.units(n), RCU: figure{read, read, read}.units(n)}
	f := newFinding(k, id.target, sample.Key{Type: g.keyType, Text: key})
	f.Peak = Peak{Loads: Loads{WCU: g.write.units(1), RCU: g.read.units(1)}, At: at(second)}
	f.Mean, f.Consumed = mean, Consumed{WCU: units(g.write.value), RCU: units(g.read.value)}
	f.Utilization = g.utilization()
	f.FirstSeen, f.LastSeen, f.Through, f.Seconds = at(g.first), at(g.last), at(g.last), n
	return f
}
