package sketch_test

import (
	"fmt"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Two shards count the writes of one second, and the merged window has the load of the hot key.
func Example() {
	config := sketch.Config{Seed: 42} // keep it secret in production
	delta := sketch.NewDelta(config)
	for range 2 {
		shard := sketch.NewShard(config)
		for i := range 1000 {
			r := sample.Record{
				Time: 1_763_692_032_000 + int64(i), Table: "orders", PK: sample.KeyString("user#42"),
				Op: sample.UpdateItem, WCU: 1000, Rate: 1, N: 1,
			}
			if i%4 == 0 {
				r.PK = sample.KeyString(fmt.Sprint("user#", i))
			}
			if err := shard.Add(&r); err != nil {
				panic(err)
			}
		}
		shard.Seal(delta)
	}
	second := delta.Windows[0]
	second.Merge(&delta.Windows[1])

	hash := sketch.Hash(second.Target, sample.KeyString("user#42"), config.Seed)
	key, listed := second.Key(hash)
	fmt.Println(listed, key.Key, "has", key.Low.Write/1000, "to", key.High().Write/1000, "write units")
	fmt.Println("any other key has at most", second.Unseen.Write/1000)
	// Output:
	// true user#42 has 1500 to 1500 write units
	// any other key has at most 0
}
