package samplepb

import "github.com/keyheat/keyheat/sample"

// CutBatch splits off the records of one batch: at most so many records, and bytes, but always
// one.
func CutBatch(records []sample.Record, mostRecords, mostBytes int) (batch, rest []sample.Record) {
	size := 0
	for i := range records {
		if size += sizeBound(&records[i]); i == mostRecords || i > 0 && size > mostBytes {
			return records[:i], records[i:]
		}
	}
	return records, nil
}

// sizeBound returns the most bytes of a record in a batch.
func sizeBound(r *sample.Record) int {
	const fields = 175 // all fields but texts, and the tags and lengths of texts
	size := fields + len(r.Table) + len(r.Index) + len(r.PK.Text) + len(r.SK.Text) + len(r.Throttle) +
		len(r.Call) + len(r.Caller) + len(r.Account) + len(r.Region) + len(r.ID)
	for name, value := range r.Attrs {
		size += len(name) + len(value) + 10
	}
	return size
}
