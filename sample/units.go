package sample

// DynamoDB's prices, from the Developer Guide, "DynamoDB read and write operations" (capacity
// unit consumption), with 1 KB = 1,024 bytes. They are the price of one item. A Query adds the
// sizes of its items before rounding; a batch adds the prices of its items.
const (
	// ReadUnitBytes is the size that one strongly consistent read unit covers.
	ReadUnitBytes = 4096
	// WriteUnitBytes is the size that one write unit covers.
	WriteUnitBytes = 1024
)

// readPrice is the price of each 4 KB of a read, by Consistency.
var readPrice = [...]Milli{Eventual: 500, Strong: 1000, Transactional: 2000}

// ReadUnits returns the price of reading a number of bytes: one read unit for each 4 KB,
// rounded up, if strongly consistent; half as much if eventually consistent; twice as much in a
// transaction. A missing item, or a size of 0 or less (unknown), costs the minimum, as 4 KB do.
// A Query is priced by the summed size of the items that match its key condition.
func ReadUnits(bytes int64, c Consistency) Milli {
	if int(c) >= len(readPrice) {
		c = Eventual
	}
	return countBlocks(bytes, ReadUnitBytes) * readPrice[c]
}

// WriteUnits returns the price of writing a number of bytes: one write unit for each 1 KB,
// rounded up, twice as much in a transaction, and never less than one. The bytes of a put or
// update are the larger of the item before and after it; the bytes of a delete are the deleted
// item's. A failed condition costs the same.
func WriteUnits(bytes int64, transactional bool) Milli {
	units := countBlocks(bytes, WriteUnitBytes) * 1000
	if transactional {
		units *= 2
	}
	return units
}

// EstimateUnits returns the price of one request by its operation, its bytes (0 if unknown: the
// operation's minimum) and its consistency. It returns false if the operation may read or
// write. Operations of a transaction cost double for any consistency.
func EstimateUnits(op Op, bytes int64, c Consistency) (rcu, wcu Milli, ok bool) {
	switch {
	case op == TransactGetItems:
		return ReadUnits(bytes, Transactional), 0, true
	case op.IsRead():
		return ReadUnits(bytes, c), 0, true
	case op.IsWrite():
		return 0, WriteUnits(bytes, op == TransactWriteItems), true
	}
	return 0, 0, false
}

// CompleteUnits sets a record's missing units to the result of [EstimateUnits], and of requests
// that took no effect to what these cost: see [Record.End]. It returns false if the record has no
// units and the operation may read or write.
func (r *Record) CompleteUnits(hasRCU, hasWCU bool) bool {
	if hasWCU && !hasRCU && r.Op.IsWrite() { // most records need no estimate
		r.RCU, r.Estimated = 0, false
		return true
	}
	rcu, wcu, known := EstimateUnits(r.Op, r.Bytes, r.Read)
	if !known && !hasRCU && !hasWCU {
		return false
	}
	if lost := r.Lost(); lost > 0 && lost == r.Tries() {
		rcu, wcu = r.lostUnits(rcu, wcu)
	}
	if !hasRCU {
		r.RCU = rcu
	}
	if !hasWCU {
		r.WCU = wcu
	}
	r.Estimated = r.Op.IsRead() && !hasRCU || r.Op.IsWrite() && !hasWCU
	return true
}

// countBlocks returns the number of blocks that the bytes need, at least one.
func countBlocks(bytes, block int64) Milli {
	if bytes <= block {
		return 1
	}
	return Milli((bytes-1)/block + 1)
}
