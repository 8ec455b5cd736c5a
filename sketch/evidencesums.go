package sketch

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/arrival"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

const (
	// evidenceKeys is of how many keys a second's evidence is gathered.
	evidenceKeys = 256
	// evidenceRecords requests of a key are looked at closely, then half of as many
	// again, then a quarter of as many, and so on.
	evidenceRecords = 256
	// growingWeight is the weight of a key that is not warm, and whose items grow, from
	// which evidence is gathered of some such keys, too: that of four write units. From
	// there on an item collection of new items has 10 GB within a month, which a local
	// secondary index does not allow.
	growingWeight = 12_000
	// EntryText is how many bytes of a text are kept.
	EntryText = gather.TextBytes
)

// evidenceSums is evidence while it is gathered.
type evidenceSums struct {
	Evidence
	ops        [sample.ExecuteTransaction + 1]OpLoad
	items      texts
	callers    texts
	attributes texts
	places     gather.PlaceSample
	times      arrival.Bins
	over       bool // the key is over the limit
	// thinned is how often the share of the requests that are looked at was halved,
	// taken how many were; stands and squares are the sums of what these stand for.
	thinned                uint
	taken, stands, squares int64
	// lastType and lastOrder are the sort key of the last write looked at.
	lastType         string
	lastOrder, order []byte
}

// earn begins to gather evidence of a candidate if it has earned it and there is room,
// and reports whether it did.
func (s *second) earn(c *candidate, hash uint64, r *sample.Record) bool {
	if s.gathered >= evidenceKeys {
		return false
	}
	if w := c.load.weight(); w < WarmWeight {
		grows := r.Edit != nil && r.Edit.Grown > 0 && w >= growingWeight
		if !grows || !s.growing.Take(hash, s.at) {
			return false
		}
	}
	if s.gathered == len(s.gathers) {
		s.gathers = append(s.gathers, &evidenceSums{})
	}
	c.gather = int16(s.gathered)
	s.gathered++
	s.gathers[c.gather].begin()
	return true
}

// begin forgets everything, keeping the memory.
func (g *evidenceSums) begin() {
	*g = evidenceSums{
		lastOrder: g.lastOrder[:0], order: g.order[:0], places: g.places,
		items: g.items.Emptying(itemsKept), callers: g.callers.Emptying(callersKept), attributes: g.attributes.Emptying(attributesKept),
	}
	g.places.Clear()
}

// add adds a record of load l. Of every record its sort key is counted; a uniform
// sample of them is looked at more closely. caller is the hash of its caller.
func (g *evidenceSums) add(r *sample.Record, l Load, seed, caller uint64) {
	if r.Throttle != "" {
		g.Refused[sample.ParseThrottleReason(r.Throttle, r.Index)] += r.N
	}
	g.Seen++
	g.Load = g.Load.Plus(l)
	hash := uint64(0)
	if r.SK.Type != "" {
		hash = keyHash(r.SK, seed)
	}
	drawn := gather.Mix(hash ^ uint64(r.Time)*0x9e3779b97f4a7c15 ^ uint64(g.Seen)<<40)
	if hash != 0 {
		g.Sorted++
		g.SortKeys.add(hash)
		g.items.Add(hash, r.SK.Text, l.weight())
		g.places.Add(r.SK, Load{Read: l.Read}.weight(), false, uint32(drawn>>32))
		g.places.Add(r.SK, Load{Write: l.Write}.weight(), true, uint32(drawn>>32))
	}
	if drawn&(1<<g.thinned-1) == 0 {
		g.look(r, l, seed, caller)
	}
}

// look adds a record that is looked at closely, as often as it stands for others.
func (g *evidenceSums) look(r *sample.Record, l Load, seed, caller uint64) {
	times := int64(1) << g.thinned
	l = Load{Read: l.Read * sample.Milli(times), Write: l.Write * sample.Milli(times)}
	weight := l.weight()
	op := &g.ops[min(int(r.Op), len(g.ops)-1)]
	// Check bounds the load of a record, and requests without units have none.
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

// step counts the direction from the last write's sort key to this one's.
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
	g.lastType = keyType([]byte(k.Type))
	g.lastOrder, g.order = g.order, g.lastOrder
}

func (g *evidenceSums) addEdit(r *sample.Record, times int64, weight, seed uint64) {
	g.Edited += times
	g.ItemBytes += times * r.Bytes
	g.ChangedBytes += times * r.Edit.Changed
	g.GrownBytes += times * r.Edit.Grown
	for _, name := range r.Edit.Attributes {
		g.attributes.Add(xxh3.HashStringSeed(name, seed), name, weight)
	}
}

// seal returns what was gathered, in memory of its own.
func (g *evidenceSums) seal() *Evidence {
	e := g.Evidence
	// What some requests stand for more than others is worth fewer of the same weight
	// (Kish's effective sample size).
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
	e.Items, e.Callers, e.Attributes = topOf(&g.items), topOf(&g.callers), topOf(&g.attributes)
	return &e
}

// texts is a summary of which nothing but the weights is known.
type texts = gather.HeavyTexts[struct{}]

func topOf(h *texts) Top {
	t := Top{Missing: h.Missing}
	for i := range h.Places {
		p := &h.Places[i]
		t.Entries = append(t.Entries, Entry{Hash: p.Hash, Text: string(p.Text), Weight: p.Weight})
	}
	slices.SortFunc(t.Entries, func(a, b Entry) int { return cmp.Compare(a.Hash, b.Hash) })
	return t
}
