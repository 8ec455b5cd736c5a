package detect

// TableFacts are what is known of a table beside its traffic: from the operator, or
// from DescribeTable where that is allowed. The zero value of a field is "not known",
// except for LSIs of known facts.
type TableFacts struct {
	// Billing is PAY_PER_REQUEST or PROVISIONED.
	Billing string `json:"billing"`
	// WCU and RCU are the provisioned units a second of the table.
	WCU float64 `json:"wcu"`
	RCU float64 `json:"rcu"`
	// LSIs are the local secondary indexes: a table with one never splits an
	// item collection. Known facts without LSIs say that there are none.
	LSIs []string `json:"lsis"`
	// PK and SK are the attributes of the table's key. A known PK without SK
	// means that every key is one item.
	PK []string `json:"pk"`
	SK []string `json:"sk"`
	// Stream is the view type of the table's stream, empty without one.
	Stream string `json:"stream"`
	// Indexes are the global secondary indexes by name.
	Indexes map[string]IndexFacts `json:"indexes"`
}

// IndexFacts are what is known of a global secondary index.
type IndexFacts struct {
	PK  []string `json:"pk"`
	SK  []string `json:"sk"`
	WCU float64  `json:"wcu"`
	RCU float64  `json:"rcu"`
}

// The billing modes, in DynamoDB's words.
const (
	BillingOnDemand    = "PAY_PER_REQUEST"
	BillingProvisioned = "PROVISIONED"
)

// Provisioned returns the units a second that a table or index is provisioned with;
// zero where that is not known or not bounded.
func (f *TableFacts) Provisioned(index string) (wcu, rcu float64) {
	switch {
	case f == nil || f.Billing == BillingOnDemand:
		return 0, 0
	case index != "":
		return f.Indexes[index].WCU, f.Indexes[index].RCU
	}
	return f.WCU, f.RCU
}
