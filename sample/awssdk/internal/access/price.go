package access

import "github.com/keyheat/keyheat/sample"

// Access is one key that a request reads or writes.
type Access struct {
	Table, Index string
	PK, SK       sample.Key
	// Unreadable means that the missing key is already counted.
	Unreadable bool
	Write      bool
	// Transactional doubles the price of a write. Consistency has the price of a read.
	Transactional bool
	Consistency   sample.Consistency
	// Bytes is the charged size, 0 if unknown.
	Bytes int64
	// Before and After are the item as request and response show it.
	Before, After Item
	// an estimate, until charge sets them
	Units    sample.Milli
	Throttle string
	// Conflicts and ConditionsFailed count the attempts that other requests took. Lost means
	// that the last one was one of these.
	Conflicts, ConditionsFailed int64
	Lost                        bool
}

// Estimate prices the access by its known bytes.
func (t *Access) Estimate() {
	if t.Write {
		t.Bytes = max(itemSize(t.Before), itemSize(t.After), t.Bytes)
		t.Units = sample.WriteUnits(t.Bytes, t.Transactional)
		return
	}
	t.Units = sample.ReadUnits(t.Bytes, t.Consistency)
}

// ChargedBytes returns the size rounded up to a whole charged block. So requests of equal price
// fold into one record, and a collector computes the same price from it.
func (t *Access) ChargedBytes() int64 {
	block := int64(sample.ReadUnitBytes)
	if t.Write {
		block = sample.WriteUnitBytes
	}
	return (t.Bytes + block - 1) / block * block
}
