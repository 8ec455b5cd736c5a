package awssdk

import (
	"maps"
	"math"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

// charge gives a successful request's touches the units that DynamoDB reported,
// or leaves them their estimates, and emits them with those of the indexes that
// were written.
func (r *request) charge(touches []touch, reported []types.ConsumedCapacity) {
	if len(reported) == len(touches) && (r.op == sample.BatchExecuteStatement || r.op == sample.ExecuteTransaction) {
		for i := range reported { // a statement each, in order
			r.chargeOnce(touches[i:i+1], reported[i:i+1])
		}
		return
	}
	r.chargeOnce(touches, byTable(reported))
}

// chargeOnce charges what has one report a table at most.
func (r *request) chargeOnce(touches []touch, reported []types.ConsumedCapacity) {
	for i := range reported {
		r.chargeTable(touches, &reported[i])
	}
	for i := range touches {
		if t := &touches[i]; t.throttle != "" || !r.isCharged(t.table, reported) {
			r.emit(t, true)
		}
	}
}

// byTable adds the reports of one table, so that it is split only once. Where
// a table has one report, which is nearly always, they are left as they are.
func byTable(reported []types.ConsumedCapacity) []types.ConsumedCapacity {
	var sums []types.ConsumedCapacity
	for _, c := range reported {
		i := slices.IndexFunc(sums, func(s types.ConsumedCapacity) bool {
			return tableName(s.TableName) == tableName(c.TableName)
		})
		if i < 0 {
			sums = append(sums, c)
			continue
		}
		sums[i] = plus(sums[i], c)
	}
	return sums
}

// plus adds two reports. The caller's own are not written to.
func plus(a, b types.ConsumedCapacity) types.ConsumedCapacity {
	a.CapacityUnits = aws.Float64(aws.ToFloat64(a.CapacityUnits) + aws.ToFloat64(b.CapacityUnits))
	if a.Table != nil || b.Table != nil {
		a.Table = &types.Capacity{CapacityUnits: aws.Float64(float64(tableUnits(&a)+tableUnits(&b)) / 1000)}
		a.LocalSecondaryIndexes = nil // they are in the table's
	}
	indexes := maps.Clone(a.GlobalSecondaryIndexes)
	for name, c := range b.GlobalSecondaryIndexes {
		if indexes == nil {
			indexes = map[string]types.Capacity{}
		}
		sum := aws.ToFloat64(indexes[name].CapacityUnits) + aws.ToFloat64(c.CapacityUnits)
		indexes[name] = types.Capacity{CapacityUnits: &sum}
	}
	a.GlobalSecondaryIndexes = indexes
	return a
}

func (r *request) isCharged(table string, reported []types.ConsumedCapacity) bool {
	for i := range reported {
		if tableName(reported[i].TableName) == table {
			return true
		}
	}
	return false
}

// chargeTable splits one table's report over the keys that were touched.
func (r *request) chargeTable(touches []touch, c *types.ConsumedCapacity) {
	table := tableName(c.TableName)
	var base, read []*touch // of the table, and of an index that was read
	for i := range touches {
		t := &touches[i]
		switch {
		case t.table != table || t.throttle != "":
		case t.index != "":
			read = append(read, t)
		default:
			base = append(base, t)
		}
	}
	if c.Table == nil && len(c.GlobalSecondaryIndexes) == 0 { // TOTAL, or an index alone
		both := append(base, read...)
		r.split(both, milli(c.CapacityUnits), r.mayHideIndexes(both))
		return
	}
	r.split(base, tableUnits(c), false)
	if len(read) > 0 {
		r.split(read, milli(c.GlobalSecondaryIndexes[read[0].index].CapacityUnits), false)
		return
	}
	for name, units := range c.GlobalSecondaryIndexes {
		r.chargeIndex(base, name, milli(units.CapacityUnits))
	}
}

// tableUnits returns the table's own units and those of its local indexes, which
// live in the same partitions.
func tableUnits(c *types.ConsumedCapacity) sample.Milli {
	var units sample.Milli
	if c.Table != nil {
		units = milli(c.Table.CapacityUnits)
	}
	for _, local := range c.LocalSecondaryIndexes {
		units += milli(local.CapacityUnits)
	}
	return units
}

// mayHideIndexes reports whether a total of writes may hold what global indexes cost.
func (r *request) mayHideIndexes(touches []*touch) bool {
	if len(touches) == 0 || !touches[0].write {
		return false
	}
	schema := r.sampler.schemas.Of(touches[0].table)
	if schema == nil {
		return true
	}
	for _, x := range schema.Indexes {
		if !x.Local {
			return true
		}
	}
	return false
}

// split gives each touch its share of the total by its estimate, to the last
// thousandth, and emits it. Where the estimates are not the total it is a guess
// which key cost what, and the records say so.
func (r *request) split(touches []*touch, total sample.Milli, guessed bool) {
	var weight sample.Milli
	for _, t := range touches {
		weight += t.units
	}
	guessed = guessed || len(touches) > 1 && weight != total
	var sum, given sample.Milli
	for _, t := range touches {
		sum += t.units
		upTo := total
		if weight > 0 {
			upTo = total * sum / weight
		}
		t.units, given = upTo-given, upTo
		r.emitReported(t, guessed)
	}
}

// emitReported emits units that are not computed from the item's size.
func (r *request) emitReported(t *touch, guessed bool) {
	t.bytes = 0
	r.emit(t, guessed)
}

// chargeIndex charges what writing a global index cost to the keys of its
// entries. An item that has moved to another key is a delete on the one and a
// put on the other.
func (r *request) chargeIndex(touches []*touch, index string, total sample.Milli) {
	if total == 0 {
		return
	}
	var entries []*touch
	for _, t := range touches {
		entries = append(entries, r.indexEntries(t, index)...)
	}
	if len(entries) == 0 {
		r.sampler.count.unknownIndexKeys.Add(1)
		return
	}
	r.split(entries, total, false)
}

// indexEntries returns the entries of an index that a write may have touched, as
// far as the item is known before and after it, each weighing the least it costs.
func (r *request) indexEntries(t *touch, index string) (entries []*touch) {
	for _, it := range []item{t.before, t.after} {
		entry := &touch{table: t.table, index: index, write: true, units: sample.WriteUnits(0, false)}
		entry.pk, entry.sk = r.keyInIndex(it, t.table, index)
		if entry.pk.IsZero() || len(entries) == 1 && entries[0].pk == entry.pk && entries[0].sk == entry.sk {
			continue
		}
		entries = append(entries, entry)
	}
	return entries
}

// indexKey returns the key that the touched item has, or else had, in an index.
func (r *request) indexKey(t *touch, index string) (pk, sk sample.Key) {
	if pk, sk = r.keyInIndex(t.after, t.table, index); pk.IsZero() {
		return r.keyInIndex(t.before, t.table, index)
	}
	return pk, sk
}

func (r *request) keyInIndex(it item, table, index string) (pk, sk sample.Key) {
	schema := r.sampler.schemas.Of(table)
	if schema == nil || it == nil {
		return pk, sk
	}
	x := schema.Indexes[index]
	pk, ok := keyOf(it, x.PartitionKey)
	if !ok {
		return sample.Key{}, sk
	}
	sk, _ = keyOf(it, x.SortKey)
	return pk, sk
}

// milli returns DynamoDB's number of units in thousandths.
func milli(units *float64) sample.Milli {
	return sample.Milli(math.Round(aws.ToFloat64(units) * 1000))
}
