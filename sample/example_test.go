package sample_test

import (
	"fmt"

	"github.com/keyheat/keyheat/sample"
)

func ExampleRecord_AppendJSON() {
	r := sample.Record{
		Time: 1763692032185, Table: "orders", Index: "by-status",
		PK: sample.KeyString("open"), Op: sample.UpdateItem, WCU: 2000, Rate: 0.01, N: 1,
	}
	fmt.Println(string(r.AppendJSON(nil)))
	// Output:
	// {"ts":1763692032185,"table":"orders","index":"by-status","pk":"open","op":"UpdateItem","wcu":2,"rate":0.01}
}
