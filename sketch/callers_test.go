package sketch_test

import (
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestCallersCountNoLoad: records without a key are in no window, name their callers by reads and
// writes, and survive the binary form.
func TestCallersCountNoLoad(t *testing.T) {
	t.Parallel()
	config := sketch.Config{Seed: 1}
	shard := sketch.NewShard(config)
	for _, r := range []sample.Record{
		{Table: "orders", Op: sample.PutItem, WCU: 2000, Rate: 0.5, N: 1, Caller: "web"},
		{Table: "orders", Op: sample.PutItem, WCU: 1000, Rate: 1, N: 1, Caller: "app"},
		{Table: "orders", Op: sample.Query, RCU: 500, Rate: 1, N: 1, Caller: "app"},
		{Table: "carts", Op: sample.Query, RCU: 700, Rate: 1, N: 1, Caller: "app"},
	} {
		r.Time = 1_800_000_000_000
		must.Succeed(t, shard.AddCaller(&r))
	}
	sealed := sketch.NewDelta(config)
	shard.Seal(sealed)
	body, err := sealed.MarshalBinary()
	must.Succeed(t, err)
	var d sketch.Delta
	must.Succeed(t, d.UnmarshalBinary(body))
	if len(d.Windows) != 0 || len(d.Cardinality) != 0 || len(d.Callers) != 2 || d.Empty() {
		t.Fatalf("%+v", d)
	}
	orders := d.Callers[1]
	if most, _ := orders.Writers.Largest(); d.Callers[0].Table != "carts" || orders.Table != "orders" || most.Text != "web" || most.Weight != 4000 || len(orders.Writers.Entries) != 2 {
		t.Errorf("%+v", d.Callers)
	}
	if most, _ := orders.Readers.Largest(); most.Text != "app" || most.Weight != 500 || len(orders.Readers.Entries) != 1 {
		t.Errorf("%+v", orders.Readers)
	}
	again := sketch.NewDelta(config)
	if shard.Seal(again); !again.Empty() {
		t.Errorf("they are sealed twice: %+v", again)
	}
}
