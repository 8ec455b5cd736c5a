package access

import "github.com/keyheat/keyheat/sample"

// Access is one key that a request reads or writes.
type Access struct {
	Table, Index string
	PK, SK       sample.Key
	// Unreadable reports that the key's absence is counted already.
	Unreadable bool
	Write      bool
	// Transactional doubles the price of a write; a read's is in Consistency.
	Transactional bool
	Consistency   sample.Consistency
	// Bytes is the size that is charged, 0 when unknown.
	Bytes int64
	// Before and After are the item as request and response show it.
	Before, After Item
	// Units are an estimate until charge has set them.
	Units    sample.Milli
	Throttle string
}

// Estimate prices the access by the bytes that are known of it.
func (t *Access) Estimate() {
	if t.Write {
		t.Bytes = max(itemSize(t.Before), itemSize(t.After), t.Bytes)
		t.Units = sample.WriteUnits(t.Bytes, t.Transactional)
		return
	}
	t.Units = sample.ReadUnits(t.Bytes, t.Consistency)
}

// ChargedBytes returns the size rounded up to what is charged, so that requests of
// equal price fold into one record from which a collector computes that price.
func (t *Access) ChargedBytes() int64 {
	block := int64(sample.ReadUnitBytes)
	if t.Write {
		block = sample.WriteUnitBytes
	}
	return (t.Bytes + block - 1) / block * block
}
