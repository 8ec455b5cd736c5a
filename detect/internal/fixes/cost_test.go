package fixes_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/sample"
)

// TestCost holds the request units that steps add, and their price at $0.625 for a million
// write units and $0.125 for a million read units.
func TestCost(t *testing.T) {
	t.Parallel()
	puts, queries := op(sample.PutItem, 1, 2000, 1), op(sample.Query, 1, 40, 0.5)
	updates, counts := op(sample.UpdateItem, 1, 100, 3), op(sample.UpdateItem, 1, 2000, 1)
	item := func(c *fixes.Case) { c.Ground = detect.GroundItem }
	for _, c := range []struct {
		name string
		of   *fixes.Case
		fix  detect.Fix
		want *detect.Cost
	}{
		{"a query of 3 key shards is two more", hot(detect.KeyWrites, 2000, puts, queries), detect.FixShardedKey, &detect.Cost{RCU: 40, DayUSD: new(0.432)}},
		{"writes to key shards cost the same", hot(detect.KeyWrites, 2000, puts), detect.FixShardedKey, nil},
		{"a small item moves by a transaction of two writes", hot(detect.KeyWrites, 2000, puts), detect.FixMigrateWrites, &detect.Cost{ItemWCU: 4, ItemsUSD: new(2.5)}},
		{"an item of 3 KB pays for each", with(hot(detect.KeyWrites, 2000, puts), func(c *fixes.Case) { c.Evidence.ItemBytes = 3072 }), detect.FixMigrateWrites, &detect.Cost{ItemWCU: 12, ItemsUSD: new(7.5)}},
		{"strongly consistent Regions move it by two writes", with(hot(detect.KeyWrites, 2000, puts), func(c *fixes.Case) { c.Facts = &detect.TableFacts{StrongRegions: true} }), detect.FixMigrateWrites, &detect.Cost{ItemWCU: 2, ItemsUSD: new(1.25)}},
		{"readers that move need every write twice", hot(detect.KeyReads, 4000, op(sample.Query, 1, 8000, 0.5), updates), detect.FixMigrateReads, &detect.Cost{WCU: 300, ItemWCU: 4, DayUSD: new(16.2), ItemsUSD: new(2.5)}},
		{"an index has a new entry of each item", with(hot(detect.KeyWrites, 2000, puts), func(c *fixes.Case) { c.Index = "by-status" }), detect.FixMigrateIndex, &detect.Cost{ItemWCU: 2, ItemsUSD: new(1.25)}},
		{"a second copy of an item is written", with(hot(detect.KeyReads, 4000, op(sample.GetItem, 1, 8000, 0.5), updates), item), detect.FixCopies, &detect.Cost{WCU: 300, DayUSD: new(16.2)}},
		{"a counter's reader reads 3 items more", with(hot(detect.KeyWrites, 2000, counts, op(sample.GetItem, 1, 20, 0.5)), func(c *fixes.Case) { item(c); c.Evidence.ItemBytes = 100 }), detect.FixDividedCounter, &detect.Cost{RCU: 30, DayUSD: new(0.324)}},
	} {
		for _, priced := range []bool{true, false} {
			if c.of.Policy.WritePrice, c.of.Policy.ReadPrice = 0.625, 0.125; !priced {
				c.of.Policy.WritePrice, c.of.Policy.ReadPrice = 0, 0
			}
			steps := fixes.Steps(c.of)
			i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Fix == c.fix })
			if i < 0 {
				t.Fatalf("%s: no step %s", c.name, c.fix)
			}
			want := c.want
			if want != nil && !priced {
				want = &detect.Cost{RCU: want.RCU, WCU: want.WCU, ItemWCU: want.ItemWCU}
			}
			if !reflect.DeepEqual(steps[i].Cost, want) {
				t.Errorf("%s, priced %t: %+v", c.name, priced, steps[i].Cost)
			}
		}
	}
}
