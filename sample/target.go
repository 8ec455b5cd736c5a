package sample

import (
	"cmp"
	"strings"
)

// Target is a table or an index that load is counted for. Unknown fields are empty; Index is
// empty for the table itself.
type Target struct {
	Account string `json:"account"`
	Region  string `json:"region"`
	Table   string `json:"table"`
	Index   string `json:"index"`
}

// Compare orders targets by account, Region, table and index.
func (t Target) Compare(o Target) int {
	return cmp.Or(cmp.Compare(t.Account, o.Account), cmp.Compare(t.Region, o.Region),
		cmp.Compare(t.Table, o.Table), cmp.Compare(t.Index, o.Index))
}

// Name returns "table" or "table/index", after the account and the Region if they are known.
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

// Target returns the table or index of the record.
func (r *Record) Target() Target {
	return Target{Account: r.Account, Region: r.Region, Table: r.Table, Index: r.Index}
}

// Locate fills the record's table from a name or an ARN. An ARN may belong to another account
// and Region than the caller's.
func (r *Record) Locate(text string) {
	r.Table = text
	parts := strings.SplitN(text, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" {
		return
	}
	if name, ok := strings.CutPrefix(parts[5], "table/"); ok {
		r.Region, r.Account, r.Table = parts[3], parts[4], name
	}
}

// MayBe reports whether both may be the same table or index: their names are equal, and their
// accounts and Regions are equal if both are known.
func (t Target) MayBe(o Target) bool {
	same := func(a, b string) bool { return a == b || a == "" || b == "" }
	return t.Table == o.Table && t.Index == o.Index && same(t.Account, o.Account) && same(t.Region, o.Region)
}

// LookupNames returns the possible names of a target's table in configuration, the most
// specific first: account/Region/table, Region/table and table. A name with an unknown part is
// empty.
func LookupNames(t Target) (names [3]string) {
	if t.Region != "" {
		names[1] = t.Region + "/" + t.Table
		if t.Account != "" {
			names[0] = t.Account + "/" + names[1]
		}
	}
	names[2] = t.Table
	return names
}

// Lookup returns the value of a target's table under the most specific of its names. It
// allocates nothing, because decoders call it for each record.
func Lookup[V any](all map[string]V, t Target) (found V, ok bool) {
	if len(all) == 0 {
		return found, false
	}
	if t.Region != "" {
		var buffer [256]byte
		name := append(append(append(append(append(buffer[:0], t.Account...), '/'), t.Region...), '/'), t.Table...)
		if t.Account != "" {
			if found, ok = all[string(name)]; ok {
				return found, true
			}
		}
		if found, ok = all[string(name[len(t.Account)+1:])]; ok {
			return found, true
		}
	}
	found, ok = all[t.Table]
	return found, ok
}
