// Package change converts changed items, as DynamoDB's streams show them, into samples: the
// load on the table's key, and on the key of every global secondary index.
//
// A Decoder reads stream records as JSON, from Kinesis Data Streams for DynamoDB, from a Lambda
// function's event {"Records":[…]}, or from connectors to Kafka.
//
// # Limits
//
// A stream does not show reads, throttled and failed writes, writes without a change, and the
// double price of a transaction. The load is therefore a lower bound of the write load. A
// record's time may be rounded down to the second.
//
// # Units
//
// A write costs one unit for each 1,024 bytes, rounded up, of the larger of the item before and
// after it. A delete by time to live costs nothing. The exact cost needs both images. Otherwise
// the units are computed from the visible part, at least one, and the record is marked as
// Estimated.
//
// # Indexes
//
// An index with a Schema is charged once, by the entry's size, if an entry appears, disappears,
// or changes in a projected attribute. A changed index key is a delete on the old key and a put
// on the new one. Other changes cost the index nothing. Source: Developer Guide, "Using global
// secondary indexes", provisioned throughput considerations.
package change

import "github.com/keyheat/keyheat/sample"

type itemChange struct {
	// time is the time of the change, in Unix milliseconds. fromMessage means that it is the
	// message's own time.
	time        int64
	fromMessage bool
	// table is the table's name. account, region and id belong to the event, and are empty if
	// unknown.
	table, account, region, id string
	// op is PutItem for a new item, UpdateItem for a changed one, or DeleteItem.
	op sample.Op
	// expired means that time to live deleted the item.
	expired bool
	// keys are the item's key attributes. old and new are the item before and after the change;
	// nil if the item did not exist, or if the stream does not show it.
	keys, old, new Item
}

// records returns the samples of the change for the table and for these global indexes. A
// reject reason means that no sample could be made, except RejectNoImages, which comes beside
// the table's own record. The records are not yet checked.
func (c *itemChange) records(s sample.Schema, indexes []string) ([]sample.Record, sample.RejectReason) {
	keys := make(map[string]sample.Key, len(c.keys))
	for name, v := range c.keys {
		k, ok := v.Key()
		if !ok {
			return nil, sample.RejectBadKey
		}
		keys[name] = k
	}
	pk, sk, reason := SplitKeys(s.KeySchema, keys)
	if reason != "" {
		return nil, reason
	}
	all := []sample.Record{c.record("", pk, sk, c.op, max(c.old.Size(), c.new.Size()))}
	if !c.isWhole() {
		all[0].Bytes, all[0].Estimated = 0, true
		if len(indexes) > 0 {
			return all, RejectNoImages
		}
		return all, ""
	}
	all[0].Edit = c.edit()
	for _, name := range indexes {
		all = append(all, c.indexRecords(name, s.Indexes[name])...)
	}
	return all, ""
}

// isWhole reports whether the images show the whole write.
func (c *itemChange) isWhole() bool {
	switch c.op {
	case sample.PutItem:
		return c.new != nil
	case sample.DeleteItem:
		return c.old != nil
	}
	return c.old != nil && c.new != nil
}

// record returns a sample of the change, on the table or an index, with a size in bytes.
func (c *itemChange) record(index string, pk, sk sample.Key, op sample.Op, bytes int64) sample.Record {
	r := sample.Record{
		Time: c.time, TimeFromMessage: c.fromMessage, Table: c.table, Index: index, PK: pk, SK: sk,
		Op: op, Bytes: bytes, Rate: 1, N: 1, Account: c.account, Region: c.region, ID: c.id, Change: true,
	}
	if !c.expired {
		r.WCU = sample.WriteUnits(bytes, false)
	}
	return r
}
