package keypatterns

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/sketch"
)

// isNamed reports whether a name says that a number is a shard's: by a word, or by the policy.
func isNamed(form shardkey.Form, p detect.Policy) bool {
	return namesShards(form) || p.Suffix != nil && *p.Suffix == form
}

// isSharded reports whether this is a sharded key, and returns its number of shards. A
// mere number is a shard if the numbers are complete, their loads differ no more than by chance,
// and half of them have load in one second. Numbers of users and of a sorted import do not.
func (g *period) isSharded(form shardkey.Form, p detect.Policy) (shards int, sharded bool) {
	n := len(g.members)
	if n < 2 || n > maxMembers {
		return 0, false
	}
	lowest, highest := math.MaxInt, 0
	for shard := range g.members {
		if !g.hex {
			shard, _ = strconv.Atoi(strconv.FormatInt(int64(shard), 16))
		}
		lowest, highest = min(lowest, shard), max(highest, shard)
	}
	dense := (lowest <= 1 || g.hex) && n >= (highest-lowest+1)*9/10
	shards = n
	if dense {
		shards = highest - lowest + 1
	}
	if isNamed(form, p) {
		return shards, true
	}
	if !dense || n < 3 || !g.isEven() || 2*g.together < n {
		return shards, false
	}
	_, _, differs := g.deviation(shards)
	return shards, !differs
}

// minUtilization returns the least utilization of all shards together for a verdict. A
// mere number is judged only if the shards together would be a hot key, since small
// numbers are common and mostly no shards.
func minUtilization(form shardkey.Form, p detect.Policy) float64 {
	if isNamed(form, p) {
		return detect.MinUnits / detect.Units(detect.PartitionWrite)
	}
	return p.Warning
}

func (g *period) utilization() float64 {
	write, read := g.peaks()
	return max(detect.Units(write.Value)/detect.Units(detect.PartitionWrite), detect.Units(read.Value)/detect.Units(detect.PartitionRead))
}

// peaks returns the highest seconds of writes and of reads, as far as they are proven, and no less
// than the mean. The highest of many sampled seconds is the luckiest.
func (g *period) peaks() (write, read groupPeak) {
	var all sketch.Load
	for _, m := range g.members {
		all = all.Plus(m.low)
	}
	mean := detect.PartOf(all, 1/float64(g.seconds()))
	least := func(p groupPeak, mean sample.Milli) groupPeak {
		p.Value = min(p.Value, max(p.proven, mean))
		p.Low = min(p.Low, p.Value)
		return p
	}
	return least(g.write, mean.Write), least(g.read, mean.Read)
}

// seconds returns the number of seconds from the first request to the last.
func (g *period) seconds() int64 { return max(1, g.last-g.first+1) }

// fullest returns the utilization of the fullest shard in the highest second. All shards
// together have no partition's limit.
func (g *period) fullest() float64 {
	var most sample.Milli
	for _, m := range g.members {
		most = max(most, detect.Weight(m.low))
	}
	if most == 0 {
		return g.utilization() / float64(max(len(g.members), 1))
	}
	return g.utilization() * float64(most) / g.mean(1)
}

// isEven reports whether four of five shards are within half of the mean.
func (g *period) isEven() bool {
	mean, within := g.mean(len(g.members)), 0
	for _, m := range g.members {
		if math.Abs(float64(detect.Weight(m.low))-mean) <= mean/2 {
			within++
		}
	}
	return 5*within >= 4*len(g.members)
}

func (g *period) mean(shards int) float64 {
	var sum sample.Milli
	for _, m := range g.members {
		sum += detect.Weight(m.low)
	}
	return float64(sum) / float64(max(shards, 1))
}

// deviation returns how far a shard is from the mean, as a share of it, proven whatever
// the sketch left out, and the shard with the most load. certain reports whether chance
// cannot explain it: a count of n requests varies by its root, and the largest of many
// counts varies more than one. If sampling may have drawn whole callers, the other
// callers may use another shard.
func (g *period) deviation(shards int) (most float64, hottest string, certain bool) {
	var requests int64
	var low, missing, highest, coldest sample.Milli = 0, 0, -1, math.MaxInt64
	for _, m := range g.members {
		has, may := detect.Weight(m.low), detect.Weight(m.err)+g.unseen-m.unseen
		low, missing, requests = low+has, missing+may, requests+m.requests
		if has > highest || has == highest && m.key < hottest {
			highest, hottest = has, m.key
		}
		coldest = min(coldest, has+may)
	}
	if none := shards - len(g.members); none > 0 {
		missing += sample.Milli(none) * g.unseen
		coldest = min(coldest, g.unseen) // an absent shard has no listed load
	}
	n := float64(shards)
	if low > 0 {
		most = max(0, float64(highest)*n/float64(low+missing)-1, 1-float64(coldest)*n/float64(low))
	}
	perShard := float64(requests) / n
	return most, hottest, perShard > 0 && most-(3+math.Sqrt(2*math.Log(n)))*(1/math.Sqrt(perShard)+g.whole) > detect.UnevenShare
}

func (g *period) shareOf(key string) float64 {
	for _, m := range g.members {
		if m.key == key {
			return detect.Ratio(float64(detect.Weight(m.low)), g.mean(1))
		}
	}
	return 0
}

// Findings returns the findings about keys that are sharded already, and puts the
// sharding into the given findings about their shards. A split heals the key as it heals
// its hottest shard.
func (gs *Groups) Findings(found []detect.Finding, policy func(detect.Target) detect.Policy) (related []detect.Finding) {
	judged, queries := map[groupID]verdict{}, map[groupID]float64{}
	group := func(f *detect.Finding) (groupID, bool) {
		id, _, may := mayBeShard(&sketch.Window{Target: f.Target},
			&sketch.KeyLoad{Key: sample.Key{Text: string(f.Key)}, Low: sketch.Load{Write: detect.PartitionWrite}}, policy(f.Target))
		return id, may
	}
	for i := range found {
		if id, may := group(&found[i]); may {
			queries[id] = max(queries[id], queriesOf(&found[i]))
		}
	}
	for id, g := range gs.known {
		p := policy(id.target)
		if len(g.periods) == 0 || g.utilization() < minUtilization(id.form, p) {
			continue
		}
		recent := g.recentPeriods()
		shards, sharded := recent.isSharded(id.form, p)
		if !sharded {
			continue
		}
		v, all := recent.judge(id, shards, groupPeak{Interval: sampling.Interval{Value: g.mostWrite}}, groupPeak{Interval: sampling.Interval{Value: g.mostRead}}, queries[id], p)
		judged[id] = v
		related = append(related, all...)
	}
	ofShards := map[*detect.Sharded][]*detect.Finding{}
	for i := range found {
		f := &found[i]
		id, may := group(f)
		if v, known := judged[id]; may && known {
			f.Sharding, f.Rolling = v.Sharded, nil // the key of a time is the whole key's
			f.Advice = slices.DeleteFunc(f.Advice, func(s detect.Step) bool { return s.Fix == detect.FixTimeKey })
			adviseSharding(f, v)
			ofShards[v.Sharded] = append(ofShards[v.Sharded], f)
		}
	}
	for i := range related {
		f := &related[i]
		if shards := ofShards[f.Sharding]; len(shards) > 0 && f.Case != casebook.TooManyShards {
			hottest := slices.MaxFunc(shards, func(a, b *detect.Finding) int { return cmp.Compare(a.Utilization, b.Utilization) })
			f.Ground, f.Throttling = hottest.Ground, detect.JoinThrottling(shards)
		}
	}
	return related
}

// queriesOf returns the queries a second of a finding's key. A reader of all shards makes
// each of them on every shard.
func queriesOf(f *detect.Finding) (n float64) {
	if f.Evidence == nil {
		return 0
	}
	for _, o := range f.Evidence.Operations {
		if op, _ := sample.ParseOp(o.Op); op == sample.Query {
			n += o.Requests
		}
	}
	return n
}

// verdict is a key's sharding, the load of each shard that it needs, the cost of reading
// them, and the load of each shard that it has if they were even.
type verdict struct {
	*detect.Sharded
	after, even *detect.After
	cost        *detect.Cost
	// uneven reports that chance does not explain the difference, suffices that the shards
	// would carry the load if they were even.
	uneven, suffices bool
}

// steps returns the steps for the shards. Even shards come first: more shards with the same
// skew leave the fullest one as full.
func (v *verdict) steps() (all []detect.Step) {
	add := func(fix detect.Fix, count int, after *detect.After) {
		step := detect.NewStep(fix)
		step.Arguments.Count, step.After = count, after
		all = append(all, step)
	}
	if v.uneven || v.Needed <= v.Shards {
		add(detect.FixEvenShards, v.Shards, v.even)
	}
	if v.Needed > v.Shards && !(v.uneven && v.suffices) {
		add(detect.FixMoreShards, v.Needed, v.after)
		all[len(all)-1].Cost = v.cost
	}
	return all
}

// adviseSharding puts the whole key's number of shards, and the load of each, in place of
// one shard's. It drops the steps that shard this shard again, because the whole key's
// finding has the steps for all.
func adviseSharding(f *detect.Finding, v verdict) {
	at := slices.IndexFunc(f.Advice, func(s detect.Step) bool { return s.Action == detect.ActionShard })
	if at < 0 {
		return
	}
	steps := v.steps()
	for i := range steps {
		if f.Index != "" {
			steps[i].Effort = f.Advice[at].Effort
		}
	}
	rest := f.Advice[at+1:]
	if to := slices.IndexFunc(rest, func(s detect.Step) bool { return s.Action == detect.ActionMigrate }); to >= 0 {
		rest = rest[to+1:]
	}
	f.Advice, f.Shards = slices.Concat(f.Advice[:at], steps, rest), v.Needed
}

func nearerToLimit(write, read groupPeak) (detect.Subject, groupPeak) {
	if detect.Units(read.Value)/detect.Units(detect.PartitionRead) > detect.Units(write.Value)/detect.Units(detect.PartitionWrite) {
		return detect.KeyReads, read
	}
	return detect.KeyWrites, write
}

// judge returns the sharding of a key and the findings about it. Too few shards follow
// from the proven recent peak, too many from the highest peak ever seen: nobody removes
// shards for a quiet night.
func (g *period) judge(id groupID, shards int, mostWrite, mostRead groupPeak, queries float64, p detect.Policy) (verdict, []detect.Finding) {
	side, peak := nearerToLimit(g.peaks())
	needed := detect.Shards(peak.Value, detect.Limit(side), p.Headroom)
	mostSide, most := nearerToLimit(mostWrite, mostRead)
	ever := detect.Shards(most.Value, detect.Limit(mostSide), p.Headroom)
	deviation, hottest, certain := g.deviation(shards)
	base := id.base + id.tail
	if id.form.Alone {
		base = id.pattern()
	}
	form := id.form
	form.Digits = g.digits
	s := &detect.Sharded{Base: sample.Text(base), Form: sample.Text(form.String()), Shards: shards, Needed: needed, Deviation: deviation, Hottest: sample.Text(hottest)}
	evenly := func(k detect.Subject, load sample.Milli, over int) *detect.After {
		part := detect.Units(load) / float64(over)
		return detect.NewAfter(k, part, part)
	}

	v := verdict{
		Sharded: s, after: evenly(side, peak.Value, needed), even: evenly(side, peak.Value, shards), cost: detect.FanOut(queries, needed-shards, p),
		uneven: certain, suffices: peak.proven <= sample.Milli(shards)*detect.ShareOf(detect.Limit(side), p.Warning),
	}
	var all []detect.Finding
	add := func(c detect.Case, severity detect.Severity, steps []detect.Step) {
		f := g.finding(id, c, peak.at)
		f.Severity, f.Shards, f.Sharding = p.Cap(severity), needed, s
		f.Advice = steps
		all = append(all, f)
	}
	switch {
	case detect.Shards(peak.proven, detect.Limit(side), p.Headroom) > shards && !(certain && v.suffices):
		add(casebook.TooFewShards, loadSeverity(peak.proven/sample.Milli(shards), side, p), v.steps())
	case isNamed(id.form, p) && shards > detect.TooManyFactor*ever: // else it may be one of many devices
		fewer := detect.NewStep(detect.FixFewerShards)
		fewer.Arguments.Count, fewer.After = ever, evenly(mostSide, most.Value, ever)
		add(casebook.TooManyShards, detect.Info, []detect.Step{fewer})
	}
	if certain {
		highest := sample.Milli(float64(peak.proven) * g.shareOf(hottest))
		severity := detect.Info
		if detect.Rank(loadSeverity(highest, side, p)) > detect.Rank(detect.Info) {
			severity = detect.Warning
		}
		even := detect.NewStep(detect.FixEvenShards)
		even.Arguments.Count, even.After = shards, v.even
		add(casebook.UnevenShards, severity, []detect.Step{even})
	}
	return v, all
}

func loadSeverity(l sample.Milli, k detect.Subject, p detect.Policy) detect.Severity {
	switch {
	case l > detect.Limit(k):
		return detect.Critical
	case l > detect.ShareOf(detect.Limit(k), p.Warning):
		return detect.Warning
	}
	return detect.Info
}

func (g *period) finding(id groupID, c detect.Case, second int64) detect.Finding {
	key := id.pattern()
	var read, write sample.Milli
	for _, m := range g.members {
		read, write = read+m.low.Read, write+m.low.Write
	}
	n := g.seconds()
	mean := detect.Loads{WCU: sampling.Interval{Value: write, Low: write, High: write}.PerSecond(n), RCU: sampling.Interval{Value: read, Low: read, High: read}.PerSecond(n)}
	f := casebook.NewFinding(c, id.target, sample.Key{Type: g.keyType, Text: key})
	mostWrite, mostRead := g.peaks()
	f.Peak = detect.Peak{Loads: detect.Loads{WCU: mostWrite.PerSecond(1), RCU: mostRead.PerSecond(1)}, At: detect.TimeOf(second)}
	f.Mean, f.Consumed = mean, detect.Consumed{WCU: f.Peak.WCU.Value, RCU: f.Peak.RCU.Value}
	f.Utilization, f.OverSeconds = g.fullest(), new(g.over)
	f.FirstSeen, f.LastSeen, f.Through, f.Seconds = detect.TimeOf(g.first), detect.TimeOf(g.last), detect.TimeOf(g.last), n
	return f
}
