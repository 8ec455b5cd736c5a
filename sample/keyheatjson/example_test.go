package keyheatjson_test

import (
	"fmt"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
)

// printer is the smallest Handler.
type printer struct{}

func (printer) Record(r *sample.Record) {
	read, write := r.Load()
	fmt.Printf("%s %s %s: %d read and %d write, in thousandths\n", r.Table, r.PK, r.Op, read, write)
}

func (printer) Bad(reason sample.RejectReason, excerpt []byte) {
	fmt.Printf("bad (%s): %s\n", reason, excerpt)
}

func ExampleDecoder_Decode() {
	message := `{"ts":1763692032185,"table":"orders","pk":"user#42","op":"UpdateItem","bytes":1500,"rate":0.1}
{"ts":1763692032185,"table":"orders","pk":"user#42","op":"GetItem","rcu":0.5,"n":4}
{"ts":1763692032185,"table":"orders","op":"GetItem"}
`
	keyheatjson.NewDecoder().Decode([]byte(message), 0, printer{})
	// Output:
	// orders user#42 UpdateItem: 0 read and 20000 write, in thousandths
	// orders user#42 GetItem: 2000 read and 0 write, in thousandths
	// bad (no_key): {"ts":1763692032185,"table":"orders","op":"GetItem"}
}
