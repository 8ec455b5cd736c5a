package awssdk

import (
	"maps"
	"math"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk/internal/access"
)

// charge emits a successful request's accesses with the units that DynamoDB reported, or with
// their estimates, and adds accesses for the written indexes.
func (r *request) charge(accesses []access.Access, reported []types.ConsumedCapacity) {
	if len(reported) == len(accesses) && (r.op == sample.BatchExecuteStatement || r.op == sample.ExecuteTransaction) {
		for i := range reported { // one report for each statement, in order
			r.chargeOnce(accesses[i:i+1], reported[i:i+1])
		}
		return
	}
	r.chargeOnce(accesses, byTable(reported))
}

// chargeOnce charges a request with at most one report for each table.
func (r *request) chargeOnce(accesses []access.Access, reported []types.ConsumedCapacity) {
	for i := range reported {
		r.chargeTable(accesses, &reported[i])
	}
	for i := range accesses {
		if t := &accesses[i]; t.Throttle != "" || !r.isCharged(t.Table, reported) {
			r.emit(t, true)
		}
	}
}

// byTable adds the reports of the same table, so that each table is split once. It returns the
// list unchanged if each table has one report, as nearly always.
func byTable(reported []types.ConsumedCapacity) []types.ConsumedCapacity {
	var sums []types.ConsumedCapacity
	for _, c := range reported {
		i := slices.IndexFunc(sums, func(s types.ConsumedCapacity) bool {
			return access.TableName(s.TableName) == access.TableName(c.TableName)
		})
		if i < 0 {
			sums = append(sums, c)
			continue
		}
		sums[i] = plus(sums[i], c)
	}
	return sums
}

// plus adds two reports. It does not change the caller's reports.
func plus(a, b types.ConsumedCapacity) types.ConsumedCapacity {
	a.CapacityUnits = aws.Float64(aws.ToFloat64(a.CapacityUnits) + aws.ToFloat64(b.CapacityUnits))
	if a.Table != nil || b.Table != nil {
		a.Table = &types.Capacity{CapacityUnits: aws.Float64(float64(tableUnits(&a)+tableUnits(&b)) / 1000)}
		a.LocalSecondaryIndexes = nil // included in the table's units
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
	return slices.ContainsFunc(reported, func(c types.ConsumedCapacity) bool { return access.TableName(c.TableName) == table })
}

// chargeTable splits one table's report over the accessed keys.
func (r *request) chargeTable(accesses []access.Access, c *types.ConsumedCapacity) {
	table := access.TableName(c.TableName)
	var base, read []*access.Access // accesses of the table, and of an index that was read
	for i := range accesses {
		t := &accesses[i]
		switch {
		case t.Table != table || t.Throttle != "":
		case t.Index != "":
			read = append(read, t)
		default:
			base = append(base, t)
		}
	}
	if c.Table == nil && len(c.GlobalSecondaryIndexes) == 0 { // a report of TOTAL, or of an index alone
		both := append(base, read...)
		r.splitTotal(both, milli(c.CapacityUnits), r.mayHideIndexes(both))
		return
	}
	r.splitTotal(base, tableUnits(c), false)
	if len(read) > 0 {
		r.splitTotal(read, milli(c.GlobalSecondaryIndexes[read[0].Index].CapacityUnits), false)
		return
	}
	for name, units := range c.GlobalSecondaryIndexes {
		r.chargeIndex(base, name, milli(units.CapacityUnits))
	}
}

// tableUnits returns the units of the table and of its local indexes, which share its
// partitions.
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

// mayHideIndexes reports whether a total of writes may include the cost of global indexes.
func (r *request) mayHideIndexes(accesses []*access.Access) bool {
	if len(accesses) == 0 || !accesses[0].Write {
		return false
	}
	schema := r.sampler.schemas.Schema(accesses[0].Table)
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

// splitTotal splits the total over the accesses by their estimates, to the last thousandth, and
// emits them. If the estimates do not add up to the total, the split is a guess, and the
// records are marked as estimated.
func (r *request) splitTotal(accesses []*access.Access, total sample.Milli, guessed bool) {
	var weight sample.Milli
	for _, t := range accesses {
		weight += t.Units
	}
	guessed = guessed || len(accesses) > 1 && weight != total
	var sum, given sample.Milli
	for _, t := range accesses {
		sum += t.Units
		upTo := total
		if weight > 0 {
			upTo = total * sum / weight
		}
		t.Units, given = upTo-given, upTo
		r.emitReported(t, guessed)
	}
}

// emitReported emits units that were reported, and not computed from the item's size.
func (r *request) emitReported(t *access.Access, guessed bool) {
	t.Bytes = 0
	r.emit(t, guessed)
}

// chargeIndex charges a global index's units to the keys of its changed entries. An item that
// moved to another key is a delete on the old key and a put on the new one.
func (r *request) chargeIndex(accesses []*access.Access, index string, total sample.Milli) {
	if total == 0 {
		return
	}
	var entries []*access.Access
	for _, t := range accesses {
		entries = append(entries, r.indexEntries(t, index)...)
	}
	if len(entries) == 0 {
		r.sampler.count.unknownIndexKeys.Add(1)
		return
	}
	r.splitTotal(entries, total, false)
}

// indexEntries returns the entries of an index that a write may have changed, as far as the
// item is known before and after it. Each entry weighs its smallest possible cost.
func (r *request) indexEntries(t *access.Access, index string) (entries []*access.Access) {
	for _, it := range []access.Item{t.Before, t.After} {
		entry := &access.Access{Table: t.Table, Index: index, Write: true, Units: sample.WriteUnits(0, false)}
		entry.PK, entry.SK = r.keyInIndex(it, t.Table, index)
		if entry.PK.IsZero() || len(entries) == 1 && entries[0].PK == entry.PK && entries[0].SK == entry.SK {
			continue
		}
		entries = append(entries, entry)
	}
	return entries
}

// indexKey returns the item's new key in an index, or its old key if it has no new one.
func (r *request) indexKey(t *access.Access, index string) (pk, sk sample.Key) {
	if pk, sk = r.keyInIndex(t.After, t.Table, index); pk.IsZero() {
		return r.keyInIndex(t.Before, t.Table, index)
	}
	return pk, sk
}

func (r *request) keyInIndex(it access.Item, table, index string) (pk, sk sample.Key) {
	schema := r.sampler.schemas.Schema(table)
	if schema == nil || it == nil {
		return pk, sk
	}
	x := schema.Indexes[index]
	pk, ok := access.KeyOf(it, x.PartitionKey)
	if !ok {
		return sample.Key{}, sk
	}
	sk, _ = access.KeyOf(it, x.SortKey)
	return pk, sk
}

// milli converts DynamoDB's units to thousandths.
func milli(units *float64) sample.Milli {
	return sample.Milli(math.Round(aws.ToFloat64(units) * 1000))
}
