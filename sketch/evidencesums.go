package sketch

import (
	"bytes"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/front"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

const (
	// evidenceKeys is the most keys of a second with evidence.
	evidenceKeys = 256
	// evidenceRecords is how many requests of a key are sampled before the sampling rate
	// halves, again and again.
	evidenceRecords = 256
	// growingWeight is the weight, that of four write units, from which some keys with growing
	// items get evidence before they are warm. At that rate an item collection of new items
	// reaches 10 GB within a month, the most that a local secondary index allows.
	growingWeight = 12_000
	// refusedKeys is the most keys of a second with evidence because of a throttled request,
	// before they are warm. The other places stay for warm keys.
	refusedKeys = 32
	// contendedKeys is the most keys of a second with evidence because of a lost attempt, before
	// they are warm.
	contendedKeys = 32
	// mostEdits bounds the requests whose growth one record stands for: the ones that were
	// folded into it, and the ones that were not sampled. No key takes as many in a second.
	mostEdits = 1e6
	// EntryText is the length in bytes to which the text of an Entry is cut.
	EntryText = gather.TextBytes
)

// evidenceSums accumulates the evidence of one key.
type evidenceSums struct {
	Evidence
	ops        [sample.ExecuteTransaction + 1]OpLoad
	items      gather.Texts
	callers    gather.Texts
	attributes gather.Texts
	refused    gather.Texts // callers of throttled requests
	contention gather.ContentionSums
	places     gather.PlaceSample
	times      gather.Bins
	over       bool // the key is over the limit
	// thinned is how often the sampling rate was halved, and taken the number of sampled
	// requests. stands is the number of requests that they represent, and squares the sum of
	// the squares.
	thinned                uint
	taken, stands, squares int64
	// lastType and lastOrder are the sort key of the last sampled write.
	lastType         string
	lastOrder, order []byte
}

// earn starts gathering evidence of a candidate if it is heavy enough and there is room. It
// reports whether it did.
func (s *second) earn(c *candidate, hash uint64, r *sample.Record) bool {
	if s.gathered >= evidenceKeys {
		return false
	}
	switch w := c.load.weight(); {
	case w >= WarmWeight:
	case r.Throttle != "" && s.refused < refusedKeys:
		s.refused++
	case (r.Lost() > 0 || s.contended.Recall(hash, s.at) != nil) && s.lost < contendedKeys:
		s.lost++
	case r.Edit == nil || r.Edit.Grown <= 0 || w < growingWeight || !s.growing.Take(hash, s.at):
		return false
	}
	if s.gathered == len(s.gathers) {
		s.gathers = append(s.gathers, &evidenceSums{})
	}
	c.gather = int16(s.gathered)
	s.gathered++
	s.gathers[c.gather].begin()
	return true
}

func (g *evidenceSums) begin() {
	*g = evidenceSums{
		lastOrder: g.lastOrder[:0], order: g.order[:0], places: g.places,
		items: g.items.Emptying(itemsKept), callers: g.callers.Emptying(callersKept), attributes: g.attributes.Emptying(attributesKept),
		refused: g.refused.Emptying(callersKept), contention: g.contention.Emptying(),
	}
	g.places.Clear()
}

// add adds a record of load l. It counts the sort key of every record, and takes a uniform
// sample for the rest. caller is the hash of the record's caller.
func (g *evidenceSums) add(r *sample.Record, l Load, seed, caller uint64) {
	if r.Throttle != "" {
		g.Refused[sample.ParseThrottleReason(r.Throttle, r.Index)] += r.N
		if r.Caller != "" {
			g.refused.Add(caller, r.Caller, max(l.weight(), uint64(r.N)))
		}
	}
	g.Seen++
	g.Load = g.Load.Plus(l)
	hash := uint64(0)
	if r.SK.Type != "" {
		hash = keyHash(r.SK, seed)
	}
	if g.contention.Open {
		g.contention.Add(r, hash, caller)
	}
	drawn := gather.Mix(hash ^ uint64(r.Time)*0x9e3779b97f4a7c15 ^ uint64(g.Seen)<<40)
	if hash != 0 {
		g.Sorted++
		g.SortKeys.Add(hash)
		g.items.Add(hash, r.SK.Text, l.weight())
		g.places.Add(r.SK, Load{Read: l.Read}.weight(), false, uint32(drawn>>32))
		g.places.Add(r.SK, Load{Write: l.Write}.weight(), true, uint32(drawn>>32))
	}
	if drawn&(1<<g.thinned-1) == 0 {
		g.look(r, l, seed, caller)
	}
}

// look adds a sampled record, as often as it represents others.
func (g *evidenceSums) look(r *sample.Record, l Load, seed, caller uint64) {
	times := int64(1) << g.thinned
	l = Load{Read: l.Read * sample.Milli(times), Write: l.Write * sample.Milli(times)}
	weight := l.weight()
	op := &g.ops[min(int(r.Op), len(g.ops)-1)]
	// Check bounds the load of a record, but not the number of requests without units.
	op.Requests += times * int64(math.Round(min(float64(r.N)/r.Rate, float64(sample.MaxLoad))))
	op.Load = op.Plus(l)
	if r.Read != sample.Eventual {
		g.Strong += l.Read
	}
	if r.SK.Type != "" && l.Write > 0 {
		g.step(r.SK)
	}
	if r.Caller != "" {
		g.callers.Add(caller, r.Caller, weight)
	}
	if r.Bytes > 0 {
		g.Sized += times
		g.Bytes += times * r.Bytes
	}
	if r.Edit != nil {
		g.addEdit(r, times, weight, seed)
	}
	g.taken++
	g.stands, g.squares = g.stands+times, g.squares+times*times
	if g.taken%evidenceRecords == 0 {
		g.thinned++
	}
}

// step counts the direction from the last sampled write's sort key to this one's.
func (g *evidenceSums) step(k sample.Key) {
	g.order = k.AppendOrder(g.order[:0])
	if g.lastType == k.Type {
		switch bytes.Compare(g.lastOrder, g.order) {
		case -1:
			g.Rises++
		case 1:
			g.Falls++
		}
	}
	g.lastType = front.KeyType([]byte(k.Type))
	g.lastOrder, g.order = g.order, g.lastOrder
}

func (g *evidenceSums) addEdit(r *sample.Record, times int64, weight, seed uint64) {
	g.Edited += times
	g.ItemBytes += times * r.Bytes
	g.ChangedBytes += times * r.Edit.Changed
	g.GrownBytes += times * int64(math.Round(float64(r.Edit.Grown)*min(float64(r.N)/r.Rate, mostEdits)))
	for _, name := range r.Edit.Attributes {
		g.attributes.Add(xxh3.HashStringSeed(name, seed), name, weight)
	}
}

// seal returns the evidence in memory of its own.
func (g *evidenceSums) seal() *Evidence {
	e := g.Evidence
	// Requests with unequal weights prove less than as many of equal weight (Kish's effective
	// sample size).
	if g.squares > 0 {
		e.Records = g.stands * g.stands / g.squares
	}
	e.Places = g.places.Seal()
	e.Arrivals = g.times.Arrivals()
	for op := range g.ops {
		if g.ops[op].Requests > 0 {
			o := g.ops[op]
			o.Op = sample.Op(op)
			e.Ops = append(e.Ops, o)
		}
	}
	e.Items, e.Callers, e.Attributes = gather.TopOf(&g.items), gather.TopOf(&g.callers), gather.TopOf(&g.attributes)
	e.RefusedCallers = gather.TopOf(&g.refused)
	if g.contention.Open {
		e.Contention = g.contention.Seal()
	}
	return &e
}
