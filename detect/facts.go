package detect

import (
	"cmp"
	"maps"
	"slices"

	"github.com/keyheat/keyheat/sample"
)

// TableFacts are what is known of a table beside its traffic: from the operator, or
// from DescribeTable where that is allowed. The zero value of a field is "not known".
type TableFacts struct {
	// Billing is PAY_PER_REQUEST or PROVISIONED.
	Billing string `json:"billing"`
	// WCU and RCU are the provisioned units a second of the table.
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
	// LSIs are the local secondary indexes: a table with one never splits an
	// item collection. Nil is "not known"; a list without names says that there
	// are none.
	LSIs []string `json:"lsis"`
	// VectorIndexes are the table's vector indexes. They have units of their own, which
	// a partition's limits say nothing of.
	VectorIndexes []string `json:"vector_indexes,omitempty"`
	// The key's attributes. A table without a sort key has one item a key.
	sample.KeySchema
	// Stream is the view type of the table's stream, empty without one.
	Stream string `json:"stream"`
	// Replicas are the Regions of a global table; its own may be left out.
	Replicas []string `json:"replicas,omitempty"`
	// Indexes are the global secondary indexes by name.
	Indexes map[string]IndexFacts `json:"indexes"`
}

// IndexFacts are what is known of a global secondary index.
type IndexFacts struct {
	sample.KeySchema
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
}

// The billing modes, in DynamoDB's words.
const (
	BillingOnDemand    = "PAY_PER_REQUEST"
	BillingProvisioned = "PROVISIONED"
)

// Capacity returns the units a second that a table or index is provisioned with;
// zero where that is not known or not bounded.
func (f *TableFacts) Capacity(index string) (wcu, rcu float64) {
	switch {
	case f == nil || f.Billing == BillingOnDemand:
		return 0, 0
	case index != "":
		return f.Indexes[index].WCU, f.Indexes[index].RCU
	}
	return f.WCU, f.RCU
}

// IsVector reports whether an index is known to be a vector index.
func (f *TableFacts) IsVector(index string) bool {
	return f != nil && index != "" && slices.Contains(f.VectorIndexes, index)
}

// Regions returns those of a global table that has a replica in this one, in order;
// nil of any other table, and where nothing tells.
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

// Merge returns the facts with what is not known in them taken from others. Both
// may be nil, and neither is changed.
func (f *TableFacts) Merge(others *TableFacts) *TableFacts {
	switch {
	case f == nil:
		return others
	case others == nil:
		return f
	}
	all := *others
	all.Billing, all.Stream = cmp.Or(f.Billing, others.Billing), cmp.Or(f.Stream, others.Stream)
	if f.WCU != 0 || f.RCU != 0 {
		all.WCU, all.RCU = f.WCU, f.RCU
	}
	for _, list := range []struct{ known, into *[]string }{
		{&f.LSIs, &all.LSIs}, {&f.VectorIndexes, &all.VectorIndexes}, {&f.Replicas, &all.Replicas},
	} {
		if *list.known != nil {
			*list.into = *list.known
		}
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
		all.Indexes[name] = known
	}
	return &all
}

// FactsByTable are the facts of tables, by name; of each name they may be of
// several accounts and Regions.
type FactsByTable map[string][]FactsOf

// FactsOf are the facts of one table.
type FactsOf struct {
	Target
	Facts *TableFacts
}

// Add adds the facts of a table.
func (all FactsByTable) Add(of Target, facts *TableFacts) {
	of.Index = ""
	all[of.Table] = append(all[of.Table], FactsOf{of, facts})
}

// Find returns the facts of a target's table: its own, or else those of the only
// table that it may be while an account or Region of one of both is not known.
// Nil when nothing is known, also because it may be one of several.
func (all FactsByTable) Find(target Target) (only *TableFacts) {
	of := Target{Account: target.Account, Region: target.Region, Table: target.Table}
	found := 0
	for _, f := range all[of.Table] {
		if f.Target == of {
			return f.Facts
		}
		if f.MayBe(of) {
			only, found = f.Facts, found+1
		}
	}
	if found > 1 {
		return nil
	}
	return only
}
