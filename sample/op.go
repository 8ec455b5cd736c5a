package sample

// Op is one of DynamoDB's data operations, by their API names. A delete by time to live is a
// DeleteItem of zero write units; a ConditionCheck is part of its TransactWriteItems.
type Op uint8

// The operations. PartiQL's three operations read or write as their statement does, which their
// name does not show. Their records need units.
const (
	OpUnknown Op = iota
	GetItem
	BatchGetItem
	Query
	Scan
	TransactGetItems
	PutItem
	UpdateItem
	DeleteItem
	BatchWriteItem
	TransactWriteItems
	ExecuteStatement
	BatchExecuteStatement
	ExecuteTransaction
)

// opNames are the API's own names, by Op.
var opNames = [...]string{
	GetItem:               "GetItem",
	BatchGetItem:          "BatchGetItem",
	Query:                 "Query",
	Scan:                  "Scan",
	TransactGetItems:      "TransactGetItems",
	PutItem:               "PutItem",
	UpdateItem:            "UpdateItem",
	DeleteItem:            "DeleteItem",
	BatchWriteItem:        "BatchWriteItem",
	TransactWriteItems:    "TransactWriteItems",
	ExecuteStatement:      "ExecuteStatement",
	BatchExecuteStatement: "BatchExecuteStatement",
	ExecuteTransaction:    "ExecuteTransaction",
}

// String returns the API's name of the operation, empty for OpUnknown.
func (o Op) String() string {
	if int(o) < len(opNames) {
		return opNames[o]
	}
	return ""
}

// ParseOp returns the operation with an API name. It returns false for any other name, and for
// the empty one.
func ParseOp(name string) (Op, bool) {
	switch name {
	case "GetItem":
		return GetItem, true
	case "BatchGetItem":
		return BatchGetItem, true
	case "Query":
		return Query, true
	case "Scan":
		return Scan, true
	case "TransactGetItems":
		return TransactGetItems, true
	case "PutItem":
		return PutItem, true
	case "UpdateItem":
		return UpdateItem, true
	case "DeleteItem":
		return DeleteItem, true
	case "BatchWriteItem":
		return BatchWriteItem, true
	case "TransactWriteItems":
		return TransactWriteItems, true
	case "ExecuteStatement":
		return ExecuteStatement, true
	case "BatchExecuteStatement":
		return BatchExecuteStatement, true
	case "ExecuteTransaction":
		return ExecuteTransaction, true
	}
	return OpUnknown, false
}

// TakesMany reports whether one call of the operation may have several items.
func (o Op) TakesMany() bool { return takesMany>>o&1 != 0 }

// takesMany has a bit for each operation with several items.
const takesMany uint32 = 1<<BatchGetItem | 1<<TransactGetItems | 1<<BatchWriteItem | 1<<TransactWriteItems |
	1<<BatchExecuteStatement | 1<<ExecuteTransaction

// IsRead reports whether the operation always reads.
func (o Op) IsRead() bool { return o >= GetItem && o <= TransactGetItems }

// IsWrite reports whether the operation always writes.
func (o Op) IsWrite() bool { return o >= PutItem && o <= TransactWriteItems }
