package detect

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/sample"
)

// TableFacts describes a table beside its traffic. The facts come from the operator, or
// from DescribeTable where that is allowed. The zero value of a field means "not known".
type TableFacts struct {
	// Billing is PAY_PER_REQUEST or PROVISIONED.
	Billing string `json:"billing"`
	// WCU and RCU are the provisioned units a second of the table.
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
	// WarmWCU and WarmRCU are the warm throughput: the units a second that the table serves
	// at once.
	WarmWCU float64 `json:"warm_wcu,omitempty"`
	WarmRCU float64 `json:"warm_rcu,omitempty"`
	// LSIs are the local secondary indexes. DynamoDB never splits an item collection of a
	// table with one. Nil means "not known"; a list without names means "none".
	LSIs []string `json:"lsis"`
	// VectorIndexes are the table's vector indexes. They have units of their own; a
	// partition's limits do not apply.
	VectorIndexes []string `json:"vector_indexes,omitempty"`
	// KeySchema names the key's attributes. A table without a sort key has one item a
	// key.
	sample.KeySchema
	// Stream is the view type of the table's stream, empty without one.
	Stream string `json:"stream"`
	// Replicas are the Regions of a global table. They may omit the table's own Region.
	Replicas []string `json:"replicas,omitempty"`
	// StrongRegions reports a global table whose Regions are strongly consistent. It takes
	// no transactions.
	StrongRegions bool `json:"strong_regions,omitempty"`
	// Indexes are the global secondary indexes by name.
	Indexes map[string]IndexFacts `json:"indexes"`
	// Items is what the items of a partition key are, by the owner's word. A name that ends in *
	// stands for all keys that begin so.
	Items map[string]Shape `json:"items,omitempty"`
}

// IndexFacts describes a global secondary index.
type IndexFacts struct {
	sample.KeySchema
	WCU     float64 `json:"wcu"`
	RCU     float64 `json:"rcu"`
	WarmWCU float64 `json:"warm_wcu,omitempty"`
	WarmRCU float64 `json:"warm_rcu,omitempty"`
}

// The billing modes, in DynamoDB's words.
const (
	BillingOnDemand    = "PAY_PER_REQUEST"
	BillingProvisioned = "PROVISIONED"
)

// MayHaveSortKey reports whether the table has a sort key, or whether that is not known.
func (f *TableFacts) MayHaveSortKey() bool { return f == nil || f.SortKey == nil || len(f.SortKey) > 0 }

// ShapeOf returns what the owner says the items of a partition key are; empty if nothing. The
// longest name wins.
func (f *TableFacts) ShapeOf(key string) (shape Shape) {
	if f == nil {
		return ""
	}
	if exact, named := f.Items[key]; named {
		return exact
	}
	longest := -1
	for name, s := range f.Items {
		if prefix, many := strings.CutSuffix(name, "*"); many && len(prefix) > longest && strings.HasPrefix(key, prefix) {
			longest, shape = len(prefix), s
		}
	}
	return shape
}

// Capacity returns the provisioned units a second of a table or index; zero if unknown or
// unbounded.
func (f *TableFacts) Capacity(index string) (wcu, rcu float64) {
	switch {
	case f == nil || f.Billing == BillingOnDemand:
		return 0, 0
	case index != "":
		return f.Indexes[index].WCU, f.Indexes[index].RCU
	}
	return f.WCU, f.RCU
}

// WarmThroughput returns the warm throughput of a table or index; zero if unknown.
func (f *TableFacts) WarmThroughput(index string) (wcu, rcu float64) {
	switch {
	case f == nil:
		return 0, 0
	case index != "":
		return f.Indexes[index].WarmWCU, f.Indexes[index].WarmRCU
	}
	return f.WarmWCU, f.WarmRCU
}

// IsVector reports whether an index is known to be a vector index.
func (f *TableFacts) IsVector(index string) bool {
	return f != nil && index != "" && slices.Contains(f.VectorIndexes, index)
}

// Regions returns the sorted Regions of a global table, including its own Region. It
// returns nil for other tables, and if the Regions are unknown.
func (f *TableFacts) Regions(own string) []string {
	if f == nil || own == "" || len(f.Replicas) == 0 {
		return nil
	}
	all := append(slices.Clone(f.Replicas), own)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) < 2 {
		return nil
	}
	return all
}

// Merge returns the facts, with unknown fields taken from others. Both may be nil, and
// neither is changed.
func (f *TableFacts) Merge(others *TableFacts) *TableFacts {
	switch {
	case f == nil:
		return others
	case others == nil:
		return f
	}
	all := *others
	all.Billing, all.Stream = cmp.Or(f.Billing, others.Billing), cmp.Or(f.Stream, others.Stream)
	all.StrongRegions = f.StrongRegions || others.StrongRegions
	if f.WCU != 0 || f.RCU != 0 {
		all.WCU, all.RCU = f.WCU, f.RCU
	}
	if f.WarmWCU != 0 || f.WarmRCU != 0 {
		all.WarmWCU, all.WarmRCU = f.WarmWCU, f.WarmRCU
	}
	for _, list := range []struct{ known, into *[]string }{
		{&f.LSIs, &all.LSIs}, {&f.VectorIndexes, &all.VectorIndexes}, {&f.Replicas, &all.Replicas},
	} {
		if *list.known != nil {
			*list.into = *list.known
		}
	}
	if f.Items != nil {
		all.Items = f.Items
	}
	all.KeySchema = f.KeySchema.Merge(others.KeySchema)
	all.Indexes = maps.Clone(others.Indexes)
	for name, x := range f.Indexes {
		if all.Indexes == nil {
			all.Indexes = make(map[string]IndexFacts)
		}
		known := all.Indexes[name]
		known.KeySchema = x.KeySchema.Merge(known.KeySchema)
		if x.WCU != 0 || x.RCU != 0 {
			known.WCU, known.RCU = x.WCU, x.RCU
		}
		if x.WarmWCU != 0 || x.WarmRCU != 0 {
			known.WarmWCU, known.WarmRCU = x.WarmWCU, x.WarmRCU
		}
		all.Indexes[name] = known
	}
	return &all
}

// FactsByTable holds the facts of tables, by name. Several accounts and Regions may have
// a table of that name.
type FactsByTable map[string][]targetFacts

type targetFacts struct {
	Target
	facts *TableFacts
}

// Add adds the facts of a table.
func (all FactsByTable) Add(t Target, facts *TableFacts) {
	t.Index = ""
	all[t.Table] = append(all[t.Table], targetFacts{t, facts})
}

// Find returns the facts of a target's table. Without an exact match it returns the facts
// of the only possible table: one of the two lacks an account or Region. It returns nil
// if no table or several tables match.
func (all FactsByTable) Find(t Target) (only *TableFacts) {
	t.Index = ""
	found := 0
	for _, f := range all[t.Table] {
		if f.Target == t {
			return f.facts
		}
		if f.MayBe(t) {
			only, found = f.facts, found+1
		}
	}
	if found > 1 {
		return nil
	}
	return only
}
