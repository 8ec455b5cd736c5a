package gather

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/sample"
)

// contendedKept is the number of contended items that one part keeps for a key, and
// contendedCallers the number of callers of each.
const contendedKept, contendedCallers = 8, 4

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

// Contended is one item that lost attempts in the second, or shortly before. All amounts are lower
// bounds if its key has more than eight.
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
		Units: Plus(c.Units, o.Units), Updates: c.Updates + o.Updates, Transactions: c.Transactions + o.Transactions,
		LostSpread: c.LostSpread.Plus(o.LostSpread), TriedSpread: c.TriedSpread.Plus(o.TriedSpread),
		Losers: c.Losers.Union(o.Losers), Writers: c.Writers.Union(o.Writers),
	}
}

// Plus returns the contention of two parts together. It drops nothing, so the order does not
// matter.
func (c *Contention) Plus(o *Contention) *Contention {
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
			sum.Items, a = append(sum.Items, a[0].withBefore(o.Others)), a[1:]
		case len(a) == 0 || b[0].Hash < a[0].Hash:
			sum.Items, b = append(sum.Items, b[0].withBefore(c.Others)), b[1:]
		default:
			sum.Items, a, b = append(sum.Items, a[0].Plus(&b[0])), a[1:], b[1:]
		}
	}
	return sum
}

// withBefore returns the item with more requests of its key that may be for it.
func (c Contended) withBefore(others int64) Contended {
	c.Before += others
	return c
}

// Cut keeps the items with the most lost attempts, and of each the callers with the most.
func (c *Contention) Cut() *Contention {
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
		kept.Items[i].Losers, kept.Items[i].Writers = kept.Items[i].Losers.Cut(contendedCallers), kept.Items[i].Writers.Cut(contendedCallers)
	}
	return kept
}
