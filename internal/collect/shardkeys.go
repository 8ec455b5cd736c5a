package collect

import (
	"time"

	partitions "github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/store"
)

// shardKeysEvery is how often a commit stores what a shard delivered. A shard's range is
// known from its first thousands of keys, so that later news are few.
const shardKeysEvery = 10 * time.Second

// shardKeys is what a shard of a table's stream delivered. Losing some of it loses no
// sample: the map of partitions only learns later.
type shardKeys struct {
	target   sample.Target
	observed partitions.Observed
	changed  bool
	stored   time.Time
}

// locate returns where a change's key lies. It is false for an index, which has other
// partitions.
func (k *shardKeys) locate(r *sample.Record) (position.Position, bool) {
	if k == nil || r.Index != "" {
		return 0, false
	}
	return position.Find(r.PK)
}

func (k *shardKeys) add(target sample.Target, p position.Position) {
	k.target = target
	k.changed = k.observed.Add(p) || k.changed
}

// row returns the row to store, if something is new and it is time, or the shard has ended.
func (k *shardKeys) row(id store.PartitionID, ended bool, now time.Time) (row store.ShardKeys, due bool) {
	if k == nil || !k.changed || !ended && now.Sub(k.stored) < shardKeysEvery {
		return row, false
	}
	k.changed, k.stored = false, now
	body, err := k.observed.MarshalBinary()
	return store.ShardKeys{PartitionID: id, Target: k.target, Body: body}, err == nil
}
