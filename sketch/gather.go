package sketch

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

const (
	// evidenceKeys is of how many keys a second's evidence is gathered, and
	// evidenceRecords from how many requests of each.
	evidenceKeys, evidenceRecords = 256, 256
	// entryText is how much of a text is kept.
	entryText = 64
)

// gather is evidence while it is gathered.
type gather struct {
	Evidence
	ops        [sample.ExecuteTransaction + 1]OpLoad
	items      heavy
	callers    heavy
	attributes heavy
	// sortKey is that of the last write.
	sortType string
	sortKey  []byte
}

// evidence returns where a candidate's evidence is gathered; nil when it has not
// earned one, or there are no more.
func (s *second) evidence(c *candidate) *gather {
	if c.gather >= 0 {
		return s.gathers[c.gather]
	}
	if c.load.weight() < WarmWeight || s.gathered >= evidenceKeys {
		return nil
	}
	if s.gathered == len(s.gathers) {
		s.gathers = append(s.gathers, &gather{})
	}
	c.gather = int16(s.gathered)
	s.gathered++
	g := s.gathers[c.gather]
	g.begin()
	return g
}

// begin forgets everything, keeping the memory.
func (g *gather) begin() {
	*g = gather{
		sortKey: g.sortKey[:0],
		items:   g.items.emptied(itemsKept), callers: g.callers.emptied(callersKept), attributes: g.attributes.emptied(attributesKept),
	}
}

// add adds a record of load l.
func (g *gather) add(r *sample.Record, l Load, seed uint64) {
	if r.Throttle != "" {
		g.Refused[sample.ThrottleCause(r.Throttle, r.Index)] += r.N
	}
	if g.Records >= evidenceRecords {
		return
	}
	weight := l.weight()
	g.Records++
	g.Load = g.Load.Plus(l)
	op := &g.ops[min(int(r.Op), len(g.ops)-1)]
	op.Requests += int64(math.Round(float64(r.N) / r.Rate))
	op.Load = op.Plus(l)
	if r.Read != sample.Eventual {
		g.Strong += l.Read
	}
	if r.SK.Type != "" {
		g.sorted(r, weight, l.Write > 0, seed)
	}
	if r.Caller != "" {
		g.callers.add(xxh3.HashStringSeed(r.Caller, seed), r.Caller, weight)
	}
	if r.Bytes > 0 {
		g.Sized++
		g.Bytes += r.Bytes
	}
	if r.Edit != nil {
		g.edited(r, weight, seed)
	}
}

func (g *gather) sorted(r *sample.Record, weight uint64, written bool, seed uint64) {
	g.Sorted++
	hash := keyHash(r.SK, seed)
	g.SortKeys.add(hash)
	g.items.add(hash, r.SK.Text, weight)
	if !written {
		return
	}
	if g.sortType == r.SK.Type {
		switch order(r.SK.Type, string(g.sortKey), r.SK.Text) {
		case -1:
			g.Rises++
		case 1:
			g.Falls++
		}
	}
	g.sortType = keyType([]byte(r.SK.Type))
	g.sortKey = append(g.sortKey[:0], r.SK.Text...)
}

func (g *gather) edited(r *sample.Record, weight uint64, seed uint64) {
	g.Edited++
	g.ItemBytes += r.Bytes
	g.ChangedBytes += r.Edit.Changed
	g.GrownBytes += r.Edit.Grown
	for _, name := range r.Edit.Attributes {
		g.attributes.add(xxh3.HashStringSeed(name, seed), name, weight)
	}
}

// sealed returns what was gathered, in memory of its own.
func (g *gather) sealed() *Evidence {
	e := g.Evidence
	for op := range g.ops {
		if g.ops[op].Requests > 0 {
			o := g.ops[op]
			o.Op = sample.Op(op)
			e.Ops = append(e.Ops, o)
		}
	}
	e.Items, e.Callers, e.Attributes = g.items.top(), g.callers.top(), g.attributes.top()
	return &e
}

// order returns -1 when sort key a comes before b and 1 when after it, as DynamoDB
// sorts: strings and binaries by bytes, numbers by value.
func order(keyType, a, b string) int {
	if keyType != "N" {
		return strings.Compare(a, b)
	}
	if i, ok := orderIntegers(a, b); ok {
		return i
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return 0
	}
	return cmp.Compare(x, y)
}

// orderIntegers compares positive whole numbers in canonical form of any length.
func orderIntegers(a, b string) (int, bool) {
	if strings.ContainsAny(a, ".-") || strings.ContainsAny(b, ".-") {
		return 0, false
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)), true
}

// heavy is a Misra–Gries summary (1982), weighted: of many texts it keeps the
// heaviest, each with a lower bound, and the most that any of them misses.
type heavy struct {
	places  []heavyPlace
	most    int
	missing uint64
}

type heavyPlace struct {
	hash, weight uint64
	text         []byte
}

func (h heavy) emptied(most int) heavy {
	return heavy{places: h.places[:0], most: most}
}

func (h *heavy) add(hash uint64, text string, weight uint64) {
	if weight == 0 {
		return
	}
	for i := range h.places {
		if h.places[i].hash == hash {
			h.places[i].weight += weight
			return
		}
	}
	if len(h.places) == h.most {
		weight = h.lower(weight)
	}
	if weight > 0 {
		h.put(hash, text, weight)
	}
}

// lower takes the same from every place and from the newcomer, as much as the
// lightest of them has, and returns what the newcomer is left with.
func (h *heavy) lower(weight uint64) uint64 {
	least := weight
	for i := range h.places {
		least = min(least, h.places[i].weight)
	}
	h.missing += least
	kept := 0
	for i := range h.places {
		h.places[i].weight -= least
		if h.places[i].weight > 0 {
			h.places[i], h.places[kept] = h.places[kept], h.places[i] // texts keep their memory
			kept++
		}
	}
	h.places = h.places[:kept]
	return weight - least
}

func (h *heavy) put(hash uint64, text string, weight uint64) {
	n := len(h.places)
	if n < cap(h.places) {
		h.places = h.places[:n+1]
	} else {
		h.places = append(h.places, heavyPlace{})
	}
	p := &h.places[n]
	p.hash, p.weight = hash, weight
	p.text = append(p.text[:0], text[:min(len(text), entryText)]...)
}

func (h *heavy) top() Top {
	t := Top{Missing: h.missing}
	for i := range h.places {
		p := &h.places[i]
		t.Entries = append(t.Entries, Entry{Hash: p.hash, Text: string(p.text), Weight: p.weight})
	}
	slices.SortFunc(t.Entries, func(a, b Entry) int { return cmp.Compare(a.Hash, b.Hash) })
	return t
}
