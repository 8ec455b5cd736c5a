package sample

import "cmp"

// Target is what load is counted for: a table, or an index of one. A field that is
// not known is empty; Index is empty for the table itself.
type Target struct {
	Account string `json:"account"`
	Region  string `json:"region"`
	Table   string `json:"table"`
	Index   string `json:"index"`
}

// Compare orders targets by account, region, table and index.
func (t Target) Compare(o Target) int {
	return cmp.Or(cmp.Compare(t.Account, o.Account), cmp.Compare(t.Region, o.Region),
		cmp.Compare(t.Table, o.Table), cmp.Compare(t.Index, o.Index))
}

// Name returns "table" or "table/index", after the account and the region
// where these are known.
func (t Target) Name() string {
	name := t.Table
	if t.Index != "" {
		name += "/" + t.Index
	}
	if t.Region != "" {
		name = t.Region + "/" + name
	}
	if t.Account != "" {
		name = t.Account + "/" + name
	}
	return name
}
