package awssdk

import "github.com/keyheat/keyheat/sample"

// touch is one key that a request reads or writes.
type touch struct {
	table, index string
	pk, sk       sample.Key
	// unreadable reports that the key's absence is counted already.
	unreadable bool
	write      bool
	// transactional doubles the price of a write; a read's is in consistency.
	transactional bool
	consistency   sample.Consistency
	// bytes is the size that is charged, 0 when unknown.
	bytes int64
	// before and after are the item as request and response show it.
	before, after item
	// units are an estimate until charge has set them.
	units    sample.Milli
	throttle string
}

// estimate prices the touch by the bytes that are known of it.
func (t *touch) estimate() {
	if t.write {
		t.bytes = max(itemSize(t.before), itemSize(t.after), t.bytes)
		t.units = sample.WriteUnits(t.bytes, t.transactional)
		return
	}
	t.units = sample.ReadUnits(t.bytes, t.consistency)
}

// chargedBytes returns the size rounded up to what is charged, so that requests of
// equal price fold into one record from which a collector computes that price.
func (t *touch) chargedBytes() int64 {
	block := int64(4096)
	if t.write {
		block = 1024
	}
	return (t.bytes + block - 1) / block * block
}
