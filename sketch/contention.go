package sketch

import (
	"cmp"
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

const (
	// contendedKept is the number of contended items that one part keeps for a key.
	contendedKept = 8
	// contendedKeys is the most keys of a second with evidence because of a lost attempt, before
	// they are warm.
	contendedKeys = 32
	// contendedFor is the number of seconds for which a shard remembers a contended item, and
	// contendedAtOnce the most keys that it remembers. It counts a remembered item from the first
	// request of a second, and not only from its first lost attempt.
	contendedFor, contendedAtOnce = 60, 64
)

// Contention describes the items of one key whose requests take attempts from each other, in one
// second: DynamoDB ends an attempt with a conflict of transactions, or because its condition does
// not hold. Attempts are in thousandths, and each stands for 1 ÷ rate. Only writes and reads in
// transactions can lose attempts, so only these count.
type Contention struct {
	// Items are the items with the most lost attempts, ordered by Hash.
	Items []Contended
	// Missing is the most lost attempts that any item, listed or not, has beyond its own.
	Missing uint64
	// Others are the key's requests that are in no item's Attempts, as many as were sampled.
	Others int64
}

// Contended is one item that lost attempts in the second, or shortly before. All amounts are lower bounds if its key has more than eight.
type Contended struct {
	// Hash identifies the sort key, and Text is its beginning. Hash is 0 if requests came without
	// a sort key.
	Hash uint64
	Text string
	// Before are the key's requests that may be for the item, and are not in Attempts: they came
	// before its first lost attempt, or in another part of the second that saw none.
	Before int64
	// Attempts are the attempts of Calls requests. Conflicts and Conditions are the lost ones.
	Attempts, Calls       int64
	Conflicts, Conditions int64
	// Retried are calls that took effect after lost attempts, and Failed calls that gave up,
	// as far as records count attempts.
	Retried, Failed int64
	// Units are the write units of lost attempts, in thousandths. What a conflict costs is
	// unknown, so they are a lower bound.
	Units sample.Milli
	// Updates are the attempts of UpdateItem, and Transactions those of transactions.
	Updates, Transactions int64
	// LostSpread and TriedSpread are the uncertainty of the lost attempts and of Attempts, in
	// attempts.
	LostSpread, TriedSpread Spread
	// Losers are the callers who lost most attempts, and Writers the ones with the most attempts.
	Losers, Writers Top
}

// Lost returns the lost attempts.
func (c *Contended) Lost() int64 { return c.Conflicts + c.Conditions }

// Plus adds the attempts of other requests on the item.
func (c *Contended) Plus(o *Contended) Contended {
	return Contended{
		Hash: c.Hash, Text: c.Text, Before: c.Before + o.Before, Attempts: c.Attempts + o.Attempts, Calls: c.Calls + o.Calls,
		Conflicts: c.Conflicts + o.Conflicts, Conditions: c.Conditions + o.Conditions, Retried: c.Retried + o.Retried, Failed: c.Failed + o.Failed,
		Units: plus(c.Units, o.Units), Updates: c.Updates + o.Updates, Transactions: c.Transactions + o.Transactions,
		LostSpread: c.LostSpread.Plus(o.LostSpread), TriedSpread: c.TriedSpread.Plus(o.TriedSpread),
		Losers: c.Losers.plus(o.Losers), Writers: c.Writers.plus(o.Writers),
	}
}

// plus returns the contention of two parts together. It drops nothing, so the order does not
// matter.
func (c *Contention) plus(o *Contention) *Contention {
	switch {
	case c == nil:
		return o
	case o == nil:
		return c
	}
	sum := &Contention{Missing: c.Missing + o.Missing, Others: c.Others + o.Others}
	a, b := c.Items, o.Items
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Hash < b[0].Hash:
			sum.Items, a = append(sum.Items, a[0].beside(o.Others)), a[1:]
		case len(a) == 0 || b[0].Hash < a[0].Hash:
			sum.Items, b = append(sum.Items, b[0].beside(c.Others)), b[1:]
		default:
			sum.Items, a, b = append(sum.Items, a[0].Plus(&b[0])), a[1:], b[1:]
		}
	}
	return sum
}

// beside returns the item beside other requests of its key.
func (c Contended) beside(others int64) Contended {
	c.Before += others
	return c
}

// cut keeps the items with the most lost attempts, and of each the callers with the most.
func (c *Contention) cut() *Contention {
	if c == nil {
		return nil
	}
	items := slices.Clone(c.Items)
	slices.SortFunc(items, func(a, b Contended) int {
		return cmp.Or(cmp.Compare(b.Lost(), a.Lost()), cmp.Compare(a.Hash, b.Hash))
	})
	kept := &Contention{Missing: c.Missing, Others: c.Others, Items: slices.Clip(items[:min(len(items), contendedKept)])}
	if len(items) > contendedKept {
		kept.Missing += uint64(items[contendedKept].Lost())
	}
	slices.SortFunc(kept.Items, func(a, b Contended) int { return cmp.Compare(a.Hash, b.Hash) })
	for i := range kept.Items {
		kept.Items[i].Losers, kept.Items[i].Writers = kept.Items[i].Losers.cut(callersKept), kept.Items[i].Writers.cut(callersKept)
	}
	return kept
}

// IsContended reports whether the key lost attempts, in the second or shortly before.
func (k *KeyLoad) IsContended() bool { return k.Evidence != nil && k.Evidence.Contention != nil }

// evidenceBeside returns the key's evidence for merging with another part. If the other part saw
// no lost attempt, its requests may be for the contended item.
func (k *KeyLoad) evidenceBeside(o *KeyLoad) *Evidence {
	if !k.IsContended() || o.IsContended() || o.Requests == 0 {
		return k.Evidence
	}
	own := *k.Evidence
	own.Contention = own.Contention.plus(&Contention{Others: o.Requests})
	return &own
}

// contentionSums accumulates the contention of one key.
type contentionSums struct {
	open   bool
	others int64
	items  gather.HeavyTexts[contendedSums]
}

type contendedSums struct {
	Contended
	losers, writers texts
}

// begin starts the sums. The key had some requests before.
func (s *contentionSums) begin(before int64) {
	*s = contentionSums{open: true, others: before, items: s.items.Emptying(contendedKept)}
}

// add adds a record for the item with a sort key's hash, if the item lost attempts.
func (s *contentionSums) add(r *sample.Record, item, caller uint64) {
	lost := thousandths(r.Lost(), r.Rate)
	to := s.find(item)
	switch {
	case to == nil && lost > 0:
		if to = s.items.Add(item, r.SK.Text, uint64(lost)); to == nil {
			s.others += r.N
			return
		}
		to.Extra.Before = s.others
	case to == nil:
		s.others += r.N
		return
	default:
		to.Weight += uint64(lost)
	}
	to.Extra.add(r, lost, caller)
}

func (s *contentionSums) find(item uint64) *gather.HeavyText[contendedSums] {
	for i := range s.items.Places {
		if s.items.Places[i].Hash == item {
			return &s.items.Places[i]
		}
	}
	return nil
}

// thousandths returns what a number of sampled attempts stands for.
func thousandths(n int64, rate float64) int64 {
	return int64(math.Round(min(1000*float64(n)/rate, float64(sample.MaxLoad))))
}

func (c *contendedSums) add(r *sample.Record, lost int64, caller uint64) {
	tries := thousandths(r.Tries(), r.Rate)
	if r.Attempts == 0 && r.Throttle != "" && r.RCU|r.WCU == 0 { // an attempt of a call that counts it at its end
		return
	}
	c.Attempts += tries
	c.Calls += thousandths(r.N, r.Rate)
	c.Conflicts += thousandths(r.Conflicts, r.Rate)
	c.Conditions += thousandths(r.ConditionsFailed, r.Rate)
	switch r.Op {
	case sample.UpdateItem:
		c.Updates += tries
	case sample.TransactWriteItems, sample.TransactGetItems, sample.ExecuteTransaction:
		c.Transactions += tries
	}
	if lost > 0 {
		c.addLost(r)
	}
	if r.Rate < 1 {
		c.addSampled(r)
	}
	if r.Caller != "" {
		if c.losers.Most == 0 {
			c.losers.Most, c.writers.Most = callersKept, callersKept
		}
		c.losers.Add(caller, r.Caller, uint64(lost))
		c.writers.Add(caller, r.Caller, uint64(tries))
	}
}

// addLost adds what a record says about its lost attempts.
func (c *contendedSums) addLost(r *sample.Record) {
	wasted := r.ConditionsFailed // each costs as much as the write
	if r.Lost() == r.Tries() {
		wasted = r.N
	}
	c.Units += sample.Milli(math.Round(min(float64(wasted)*float64(r.WCU)/r.Rate, float64(sample.MaxLoad))))
	again := r.N * (r.Attempts - 1)
	switch {
	case r.Attempts == 0 || r.Throttle != "" && !r.Failed:
	case r.Failed:
		c.Failed += thousandths(r.N, r.Rate)
	case r.Attempts > 1:
		// A call that took effect lost at most all attempts but the last.
		effective := r.N - max(0, r.Lost()-again)
		c.Retried += thousandths(min(effective, (r.Lost()+r.Attempts-2)/(r.Attempts-1)), r.Rate)
	}
}

// addSampled adds the uncertainty of a sampled record.
func (c *contendedSums) addSampled(r *sample.Record) {
	together, each := gather.CallSize(r), float64(max(r.Attempts, 1))
	c.TriedSpread.Note(float64(r.N), together, each, r.Rate)
	// A call lost at most all its attempts, so the squares add up to at most that many times the
	// lost ones.
	c.LostSpread.Variance += float64(r.Lost()) * together * each * (1 - r.Rate) / (r.Rate * r.Rate)
	c.LostSpread.Largest = max(c.LostSpread.Largest, together*each/r.Rate)
}

// seal returns the contention in memory of its own, or nil if nothing was written.
func (s *contentionSums) seal() *Contention {
	sealed := &Contention{Missing: s.items.Missing, Others: s.others}
	for i := range s.items.Places {
		p := &s.items.Places[i]
		if p.Extra.Attempts == 0 { // remembered, and not written any more
			continue
		}
		item := p.Extra.Contended
		item.Hash, item.Text = p.Hash, string(p.Text)
		item.Losers, item.Writers = topOf(&p.Extra.losers), topOf(&p.Extra.writers)
		sealed.Items = append(sealed.Items, item)
	}
	if len(sealed.Items) == 0 && sealed.Missing == 0 {
		return nil
	}
	slices.SortFunc(sealed.Items, func(a, b Contended) int { return cmp.Compare(a.Hash, b.Hash) })
	return sealed
}

// canLose reports whether a record's attempts can be lost.
func canLose(r *sample.Record) bool {
	return !r.Op.IsRead() && (r.Op != sample.OpUnknown || r.WCU > 0) || r.Op == sample.TransactGetItems || r.Lost() > 0
}

// contended remembers the contended items of the last seconds.
type contended map[uint64]*rememberedKey // by the key's hash

type rememberedKey struct {
	newest int64 // the newest second with a lost attempt
	items  []rememberedItem
}

type rememberedItem struct {
	hash uint64
	text string
}

// remember notes a lost attempt.
func (c contended) remember(key, item uint64, text string, second int64) {
	k := c[key]
	if k == nil {
		if len(c) >= contendedAtOnce {
			c.forget(second - contendedFor)
		}
		if len(c) >= contendedAtOnce {
			return
		}
		k = &rememberedKey{}
		c[key] = k
	}
	k.newest = max(k.newest, second)
	if len(k.items) < contendedKept && !slices.ContainsFunc(k.items, func(i rememberedItem) bool { return i.hash == item }) {
		k.items = append(k.items, rememberedItem{item, string(append([]byte(nil), text[:min(len(text), gather.TextBytes)]...))})
	}
}

func (c contended) forget(before int64) {
	for hash, k := range c {
		if k.newest < before {
			delete(c, hash)
		}
	}
}

// recall returns the items of a key that lost attempts shortly before a second.
func (c contended) recall(key uint64, second int64) []rememberedItem {
	k := c[key]
	if k == nil || second-k.newest > contendedFor {
		return nil
	}
	return k.items
}

// expect places remembered items, so that all their requests count.
func (s *contentionSums) expect(items []rememberedItem) {
	for _, item := range items {
		s.items.Places = append(s.items.Places, gather.HeavyText[contendedSums]{Hash: item.hash, Text: []byte(item.text)})
	}
}
