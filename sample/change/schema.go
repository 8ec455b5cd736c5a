package change

import (
	"slices"

	"github.com/keyheat/keyheat/sample"
)

// SplitKeys separates an item's key attributes into the table's partition key and sort key. A
// single key is the partition key. A record does not name the roles of two keys, so the schema
// must. Otherwise, or if the schema names other keys, the reject reason is RejectKeySchema.
func SplitKeys(s sample.KeySchema, keys map[string]sample.Key) (pk, sk sample.Key, reason sample.RejectReason) {
	switch {
	case len(keys) == 0:
		return pk, sk, sample.RejectNoKey
	case len(keys) > 2:
		return pk, sk, sample.RejectBadKey
	case len(s.PartitionKey) == 0 && len(keys) == 2:
		return pk, sk, RejectKeySchema
	}
	for name, k := range keys {
		switch {
		case len(s.PartitionKey) == 0 || slices.Contains(s.PartitionKey, name):
			pk = k
		case len(s.SortKey) == 0 || slices.Contains(s.SortKey, name):
			sk = k
		default:
			return pk, sk, RejectKeySchema
		}
	}
	if pk.IsZero() || sk.IsZero() && len(s.SortKey) > 0 {
		return pk, sk, RejectKeySchema
	}
	return pk, sk, ""
}

// globalIndexes returns the names of the global secondary indexes, in order. Local ones are
// charged with their table.
func globalIndexes(s sample.Schema) []string {
	var names []string
	for name, x := range s.Indexes {
		if !x.Local {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
