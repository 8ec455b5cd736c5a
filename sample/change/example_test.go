package change_test

import (
	"fmt"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
)

type printer struct{}

func (printer) Record(r *sample.Record) {
	fmt.Printf("%s %s: %s, %d write units\n", r.Table, r.Index, r.PK, r.WCU/1000)
}

func (printer) Bad(reason sample.RejectReason, _ []byte) {
	fmt.Println("bad:", reason, change.Hint(reason))
}

// An order changes its status: a write on the table, and, in the index, a
// delete on the old status and a put on the new one.
func ExampleDecoder() {
	tables := sample.Schemas{"orders": {
		KeySchema: sample.Keys("customer", "id"),
		Indexes: map[string]sample.IndexSchema{
			"by-status": {KeySchema: sample.Keys("status"), Projection: sample.ProjectKeysOnly},
		},
	}}
	change.NewDecoder(tables).Decode([]byte(`{"eventName":"MODIFY","tableName":"orders","dynamodb":{
		"ApproximateCreationDateTime":1763692032185,
		"Keys":    {"customer":{"S":"ann"},"id":{"N":"7"}},
		"OldImage":{"customer":{"S":"ann"},"id":{"N":"7"},"status":{"S":"open"}},
		"NewImage":{"customer":{"S":"ann"},"id":{"N":"7"},"status":{"S":"paid"}}}}`), 0, printer{})
	// Output:
	// orders : ann, 1 write units
	// orders by-status: open, 1 write units
	// orders by-status: paid, 1 write units
}
