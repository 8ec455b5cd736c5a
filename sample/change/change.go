// Package change turns what DynamoDB says about changed items into samples:
// the load on the table's key, and on the key of every global secondary index.
//
// A Decoder reads stream records as JSON: those of Kinesis Data Streams for
// DynamoDB, a Lambda function's event {"Records":[…]}, and what connectors lay
// on Kafka. A reader of DynamoDB Streams itself fills a Change.
//
// # What a stream does not show
//
// Reads, throttled and failed writes, writes that changed nothing, and the
// double price of a transaction. The load is therefore a lower bound of the
// write load. A record's time may be rounded down to the second.
//
// # Units
//
// A write costs one unit for each begun 1,024 bytes of the larger of the item
// before and after it; a delete by time to live costs nothing. Both images are
// needed to know: with fewer, the units are those of what is seen, at least
// one, and the record is marked Estimated.
//
// # Indexes
//
// An index whose Schema is given is charged for what changes in it: an entry
// that appears, disappears or changes in a projected attribute, once, by the
// entry's size; a changed index key as a delete on the old key and a put on
// the new one; anything else not at all. Source: Developer Guide, "Using
// global secondary indexes", provisioned throughput considerations.
package change

import "github.com/keyheat/keyheat/sample"

// Change is one changed item.
type Change struct {
	// Time is when it changed, in Unix milliseconds; FromMessage says that it is
	// the message's own time.
	Time        int64
	FromMessage bool
	// Table is the table's name; Account, Region and ID, the event's, are empty
	// when unknown.
	Table, Account, Region, ID string
	// Op is PutItem for a new item, UpdateItem for a changed one and DeleteItem.
	Op sample.Op
	// Expired reports that time to live deleted the item.
	Expired bool
	// Keys are the item's key attributes. Old and New are the item before and
	// after; nil for what was not there, or what the stream does not show.
	Keys, Old, New Item
}

// records returns the samples of the change: the table's, and those of these global
// indexes of the schema. A reason says why nothing could be made; but ReasonNoImages
// comes beside the table's own record. The records are not yet checked.
func (c *Change) records(s sample.Schema, indexes []string) ([]sample.Record, sample.RejectReason) {
	keys := make(map[string]sample.Key, len(c.Keys))
	for name, v := range c.Keys {
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
	all := []sample.Record{c.record("", pk, sk, c.Op, max(c.Old.Size(), c.New.Size()))}
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
func (c *Change) isWhole() bool {
	switch c.Op {
	case sample.PutItem:
		return c.New != nil
	case sample.DeleteItem:
		return c.Old != nil
	}
	return c.Old != nil && c.New != nil
}

// record returns a sample of the change, on the table or an index, of so many bytes.
func (c *Change) record(index string, pk, sk sample.Key, op sample.Op, bytes int64) sample.Record {
	r := sample.Record{
		Time: c.Time, TimeFromMessage: c.FromMessage, Table: c.Table, Index: index, PK: pk, SK: sk,
		Op: op, Bytes: bytes, Rate: 1, N: 1, Account: c.Account, Region: c.Region, ID: c.ID, Change: true,
	}
	if !c.Expired {
		r.WCU = sample.WriteUnits(bytes, false)
	}
	return r
}
