package sketch

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// itemsKept, callersKept and attributesKept are the sizes of the Tops of one part.
const itemsKept, callersKept, attributesKept = 8, 4, 8

// tableCallersKept is the size of the Top of a table's callers.
const tableCallersKept = 8

// Evidence describes the requests of one key in one second. It is gathered for up to 256 keys,
// from the moment a key reaches a tenth of a limit. Some keys have it from their first throttled
// request or lost attempt. Load and sort keys cover all requests since then. Everything else
// covers a uniform sample of them, in which each request counts for as many as it represents:
// see Records.
//
// All parts merge by adding, by maximum, by union, or with a bound of the missing weight. So
// the result is the same in every order.
type Evidence struct {
	// Seen counts the records since the key reached a tenth of a limit, and Load is their load.
	Seen int64
	Load Load
	// Arrivals are the times of all requests in Load, weighed by 3·write + read.
	Arrivals Arrivals
	// Records is the effective size of the sample: the number of records of equal weight that
	// would prove as much. It is Seen if that is small, and otherwise at least 256. Sort keys,
	// items and places do not depend on it.
	Records int64
	// Ops are the requests by operation, in the order of sample.Op.
	Ops []OpLoad
	// Refused counts throttled requests by throttle reason, all of them since the key reached a
	// tenth of a limit.
	Refused [sample.ThrottleReasons]int64
	// Strong is the part of Load.Read from strongly consistent reads and transactions.
	Strong sample.Milli
	// Sorted counts the records of Seen with a sort key, and SortKeys their distinct sort keys:
	// see Distinct. Places locate the load in the order of sort keys.
	Sorted   int64
	SortKeys Distinct
	Places   []Place
	// Rises and Falls count steps of the sort key from one sampled write to the next.
	Rises, Falls int64
	// Items are the hottest sort keys of all requests. Callers are the callers with the most
	// weight, and Attributes the attributes that writes with the most weight changed.
	Items, Callers, Attributes Top
	// RefusedCallers are the callers with the most throttled weight, of all requests since the
	// evidence began. A throttled request without units weighs a thousandth.
	RefusedCallers Top
	// Contention are the items that lost attempts to each other; nil if none did.
	Contention *Contention
	// Sized counts requests with an item size, and Bytes is the sum of these sizes. Edited
	// counts records with whole images: ItemBytes is the sum of their sizes, ChangedBytes the
	// changed part, and GrownBytes the growth of the item collection.
	Sized, Bytes                        int64
	Edited                              int64
	ItemBytes, ChangedBytes, GrownBytes int64
}

// OpLoad is the load of one operation. Requests are an estimate if they were sampled: each
// stands for n ÷ rate.
type OpLoad struct {
	Op       sample.Op
	Requests int64
	Load
}

// Top lists the largest texts of many, by weight in thousandths: 3·write + read.
type Top = gather.Top

// Entry is one text of a Top.
type Entry = gather.Entry

// Contention describes the items of one key whose requests take attempts from each other, in one
// second.
type Contention = gather.Contention

// Contended is one item that lost attempts in the second, or shortly before.
type Contended = gather.Contended

// Plus adds another part's evidence of the same key. It changes neither; either may be nil.
func (e *Evidence) Plus(o *Evidence) *Evidence {
	switch {
	case e == nil:
		return o
	case o == nil:
		return e
	}
	sum := &Evidence{
		Seen: e.Seen + o.Seen, Load: e.Load.Plus(o.Load), Arrivals: e.Arrivals.Plus(o.Arrivals), Records: e.Records + o.Records, Ops: addOps(e.Ops, o.Ops),
		Strong: e.Strong + o.Strong, Sorted: e.Sorted + o.Sorted, SortKeys: e.SortKeys.Union(&o.SortKeys),
		Places: gather.UnionPlaces(e.Places, o.Places, gather.PlacesMerged),
		Rises:  e.Rises + o.Rises, Falls: e.Falls + o.Falls,
		Items: e.Items.Union(o.Items), Callers: e.Callers.Union(o.Callers), Attributes: e.Attributes.Union(o.Attributes),
		RefusedCallers: e.RefusedCallers.Union(o.RefusedCallers), Contention: e.Contention.Plus(o.Contention),
		Sized: e.Sized + o.Sized, Bytes: e.Bytes + o.Bytes, Edited: e.Edited + o.Edited,
		ItemBytes: e.ItemBytes + o.ItemBytes, ChangedBytes: e.ChangedBytes + o.ChangedBytes, GrownBytes: e.GrownBytes + o.GrownBytes,
	}
	for c := range sum.Refused {
		sum.Refused[c] = e.Refused[c] + o.Refused[c]
	}
	return sum
}

// Cut trims each Top to the size of one part, and decides which requests were flushed.
func (e *Evidence) Cut() *Evidence {
	if e == nil || len(e.Arrivals.Producers) == 0 && e.Contention == nil && len(e.Items.Entries) <= itemsKept && len(e.Callers.Entries) <= callersKept && len(e.Attributes.Entries) <= attributesKept && len(e.RefusedCallers.Entries) <= callersKept {
		return e
	}
	c := *e
	c.Items, c.Callers, c.Attributes = e.Items.Cut(itemsKept), e.Callers.Cut(callersKept), e.Attributes.Cut(attributesKept)
	c.RefusedCallers, c.Arrivals = e.RefusedCallers.Cut(callersKept), e.Arrivals.Settle()
	c.Contention = e.Contention.Cut()
	return &c
}

func addOps(a, b []OpLoad) []OpLoad {
	sum := slices.Clone(a)
	for _, o := range b {
		i, found := slices.BinarySearchFunc(sum, o.Op, func(x OpLoad, op sample.Op) int { return cmp.Compare(x.Op, op) })
		if !found {
			sum = slices.Insert(sum, i, o)
			continue
		}
		sum[i].Requests += o.Requests
		sum[i].Load = sum[i].Plus(o.Load)
	}
	return sum
}

// Place locates a part of a key's load in the order of sort keys. The places of a second are a
// priority sample of its requests. Sums over places are unbiased for every range of sort keys,
// and exact if no place was dropped.
type Place = gather.Place

// Distinct is a small HyperLogLog (Flajolet and others, 2007).
type Distinct = gather.Distinct
