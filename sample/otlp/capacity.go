package otlp

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
)

// units are the consumed units of a table or index.
type units struct {
	CapacityUnits, ReadCapacityUnits, WriteCapacityUnits float64
}

// capacity is a ConsumedCapacity of DynamoDB's API.
type capacity struct {
	units
	TableName                                     string
	Table                                         *units
	LocalSecondaryIndexes, GlobalSecondaryIndexes map[string]units
}

// parseCapacities parses one JSON object a text. An instrumentation may cut texts off, and
// these are left out.
func parseCapacities(texts []string) (all []capacity) {
	for _, text := range texts {
		var c capacity
		if json.Unmarshal([]byte(text), &c) == nil {
			all = append(all, c)
		}
	}
	return all
}

// charge sets the units that a record's table or index consumed, or else their estimate. It
// returns false if they are unknown and the operation may read or write.
func (q *request) charge(r *sample.Record, only bool) bool {
	i := slices.IndexFunc(q.capacities, func(c capacity) bool {
		named := sample.Record{}
		named.Locate(c.TableName)
		return named.Table == r.Table || only && c.TableName == ""
	})
	if i < 0 || r.Throttle != "" {
		return r.CompleteUnits(false, false)
	}
	u, guessed := q.capacities[i].recordUnits(r)
	switch {
	case r.Op.IsRead():
		r.RCU = milli(u.CapacityUnits)
	case r.Op.IsWrite():
		r.WCU = milli(u.CapacityUnits)
	case u.ReadCapacityUnits == 0 && u.WriteCapacityUnits == 0:
		return false
	default:
		r.RCU, r.WCU = milli(u.ReadCapacityUnits), milli(u.WriteCapacityUnits)
	}
	r.Estimated = guessed
	return true
}

// recordUnits returns the part of a report that belongs to a record's table or index. A local index lives
// in its table's partitions, so its record becomes the table's. guessed reports that a total of
// writes may include the units of global indexes.
func (c *capacity) recordUnits(r *sample.Record) (u units, guessed bool) {
	if _, local := c.LocalSecondaryIndexes[r.Index]; local {
		r.Index = ""
	}
	if global, ok := c.GlobalSecondaryIndexes[r.Index]; ok {
		return global, false
	}
	if c.Table == nil && len(c.LocalSecondaryIndexes)+len(c.GlobalSecondaryIndexes) == 0 {
		return c.units, !r.Op.IsRead()
	}
	if c.Table != nil {
		u = *c.Table
	}
	for _, local := range c.LocalSecondaryIndexes {
		u.CapacityUnits += local.CapacityUnits
		u.ReadCapacityUnits += local.ReadCapacityUnits
		u.WriteCapacityUnits += local.WriteCapacityUnits
	}
	return u, false
}

// milli converts units to thousandths. Impossible units stay impossible.
func milli(units float64) sample.Milli {
	if !(units >= 0 && units <= float64(sample.MaxUnits/1000)) {
		return -1
	}
	return sample.Milli(math.Round(1000 * units))
}
