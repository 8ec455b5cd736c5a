package fixes

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// cost returns the request units that a step adds; nil if it adds none, or they are unknown.
func (c *Case) cost(s *detect.Step) *detect.Cost {
	n, parts := &detect.Cost{}, float64(s.Arguments.Count)
	reads := c.requests(sample.GetItem, sample.BatchGetItem, sample.TransactGetItems)
	switch s.Fix {
	case detect.FixPrewarmForShards:
		return detect.Prewarm(c.Subject, s.Arguments.Units, c.Index, c.Facts, c.Policy)
	case detect.FixShardedKey, detect.FixShardedIndex:
		return detect.FanOut(c.requests(sample.Query), s.Arguments.Count-1, c.Policy)
	case detect.FixDividedCounter: // the old item is read, too
		n.RCU = reads * parts * detect.QueryMinimum
	case detect.FixDividedItem:
		n.RCU = reads * (parts - 1) * detect.QueryMinimum
	case detect.FixCopies:
		n.WCU = c.writtenUnits() * (parts - 1)
	case detect.FixMigrateWrites: // an item is put and deleted
		n.ItemWCU = 2 * c.itemWCU() * c.transactional()
	case detect.FixMigrateReads: // an item is checked and put, and every write is made twice
		n.WCU, n.ItemWCU = c.writtenUnits(), c.itemWCU()
		if c.transactional() > 1 {
			n.ItemWCU *= 2 * c.transactional()
		}
	case detect.FixMigrateIndex: // an item is updated, and its new entry put
		n.ItemWCU = c.itemWCU() + 1
	}
	if *n == (detect.Cost{}) {
		return nil
	}
	n.Price(c.Policy)
	return n
}

// transactional returns the price of a write in a move, as a multiple of a plain one's.
func (c *Case) transactional() float64 {
	if c.Facts != nil && c.Facts.StrongRegions {
		return 1
	}
	return 2
}

// itemWCU returns the least mean write units of an item.
func (c *Case) itemWCU() float64 {
	if c.Evidence == nil {
		return 1
	}
	return max(1, c.Evidence.ItemBytes/sample.WriteUnitBytes)
}

// writtenUnits returns the write units a second of the key's evidence.
func (c *Case) writtenUnits() (units float64) {
	for op, o := range c.operations() {
		if op.IsWrite() {
			units += o.Requests * o.Units
		}
	}
	return units
}
