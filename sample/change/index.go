package change

import (
	"maps"
	"slices"

	"github.com/keyheat/keyheat/sample"
)

// entry is an item as an index holds it.
type entry struct {
	pk, sk sample.Key
	item   Item
}

// indexRecords returns the writes of a change with whole images to an index.
func (c *itemChange) indexRecords(name string, x sample.IndexSchema) []sample.Record {
	before, wasIn := entryOf(x, c.keys, c.old)
	after, isIn := entryOf(x, c.keys, c.new)
	put := func() sample.Record {
		return c.record(name, after.pk, after.sk, sample.PutItem, after.item.Size())
	}
	remove := func() sample.Record {
		return c.record(name, before.pk, before.sk, sample.DeleteItem, before.item.Size())
	}
	switch {
	case !wasIn && !isIn:
		return nil
	case !wasIn:
		return []sample.Record{put()}
	case !isIn:
		return []sample.Record{remove()}
	case before.pk != after.pk || before.sk != after.sk:
		return []sample.Record{remove(), put()}
	case before.item.Equal(after.item):
		return nil
	}
	size := max(before.item.Size(), after.item.Size())
	return []sample.Record{c.record(name, after.pk, after.sk, sample.UpdateItem, size)}
}

// entryOf returns an item's entry in the index, or false if a key attribute is missing. An
// attribute that cannot be a key counts as missing, because DynamoDB rejects such an item.
func entryOf(x sample.IndexSchema, tableKeys, item Item) (entry, bool) {
	pk, ok := joinKey(item, x.PartitionKey)
	if !ok {
		return entry{}, false
	}
	sk, ok := joinKey(item, x.SortKey)
	return entry{pk, sk, project(x, tableKeys, item)}, ok
}

// joinKey returns the key of an item by the names of its attributes.
func joinKey(item Item, names []string) (sample.Key, bool) {
	parts := make([]sample.Key, len(names))
	for i, name := range names {
		var ok bool
		if parts[i], ok = item[name].Key(); !ok {
			return sample.Key{}, false
		}
	}
	return sample.JoinKeys(parts...), true
}

// project returns the part of an item that the index holds: at least the keys of the index and
// of the table.
func project(x sample.IndexSchema, tableKeys, item Item) Item {
	if x.Projection == "" || x.Projection == sample.ProjectAll {
		return item
	}
	part := make(Item)
	names := slices.Concat(x.PartitionKey, x.SortKey, x.Include)
	for _, name := range slices.AppendSeq(names, maps.Keys(tableKeys)) {
		if v, ok := item[name]; ok {
			part[name] = v
		}
	}
	return part
}
