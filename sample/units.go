package sample

// The prices of DynamoDB, from the Developer Guide, "DynamoDB read and write
// operations" (capacity unit consumption), with 1 KB = 1,024 bytes. They price
// one item; whoever reads many in one Query adds their sizes first, whoever
// reads a batch prices each item and adds the prices.
const (
	// ReadUnitBytes is what one strongly consistent read unit reads.
	ReadUnitBytes = 4096
	// WriteUnitBytes is what one write unit writes.
	WriteUnitBytes = 1024
)

// readPrice is what each begun 4 KB of a read costs, by Consistency.
var readPrice = [...]Milli{Eventual: 500, Strong: 1000, Transactional: 2000}

// ReadUnits returns what reading that many bytes costs: one read unit for each
// begun 4 KB when strongly consistent, half as much when eventually
// consistent, twice as much in a transaction. An item that is missing, or of
// unknown size (0 or less), costs the minimum, as one of 4 KB does. A Query is
// priced by the summed size of what matched its key condition.
func ReadUnits(bytes int64, c Consistency) Milli {
	if int(c) >= len(readPrice) {
		c = Eventual
	}
	return countBlocks(bytes, ReadUnitBytes) * readPrice[c]
}

// WriteUnits returns what writing that many bytes costs: one write unit for each
// begun 1 KB, twice as much in a transaction, never less than one. The bytes
// of a put or an update are the larger of the item before and after it; of a
// delete those of the deleted item; a failed condition costs the same.
func WriteUnits(bytes int64, transactional bool) Milli {
	units := countBlocks(bytes, WriteUnitBytes) * 1000
	if transactional {
		units *= 2
	}
	return units
}

// EstimateUnits returns what one request costs by its operation, the bytes it
// touched (0 when unknown: the operation's minimum) and its consistency. It
// returns false when the operation may read or write.
// The operations in a transaction cost double whatever c says.
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

// CompleteUnits sets the units of a record that were not given, to what [EstimateUnits]
// returns. It returns false where none were given, and the operation may read or write.
func (r *Record) CompleteUnits(hasRCU, hasWCU bool) bool {
	if hasWCU && !hasRCU && r.Op.IsWrite() { // the usual record: nothing has to be computed
		r.RCU, r.Estimated = 0, false
		return true
	}
	rcu, wcu, known := EstimateUnits(r.Op, r.Bytes, r.Read)
	if !known && !hasRCU && !hasWCU {
		return false
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

// countBlocks returns how many blocks of that size the bytes begin, at least one.
func countBlocks(bytes, block int64) Milli {
	if bytes <= block {
		return 1
	}
	return Milli((bytes-1)/block + 1)
}
