package detect

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

// Of returns the facts of a target's table: its own, or else those of the only
// table that it may be while an account or Region of one of both is not known.
// Nil when nothing is known, also because it may be one of several.
func (all FactsByTable) Of(target Target) (only *TableFacts) {
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
