package store

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// ShardKeys is what a shard of a table's stream delivered so far, about keys. Writer and
// reader agree on the form of Body; the store does not read it.
type ShardKeys struct {
	PartitionID
	sample.Target
	Body []byte
}

// StreamShard is a shard of a stream, with what it delivered.
type StreamShard struct {
	// ShardKeys has no target before the shard delivered anything, and no Body if it delivered
	// nothing lately.
	ShardKeys
	// Stream is the shard's stream, After the shard that it continues; empty for none.
	Stream, After string
	// Ended is when it was read to its end; zero for an open shard.
	Ended time.Time
	// Updated is when Body was written; zero before.
	Updated time.Time
}

func (t *tx) putShardKeys(ctx context.Context, all []ShardKeys) error {
	return insertAll(ctx, t, `INSERT INTO shard_keys (source, name, account, region, table_name, body, updated)`, `
		ON CONFLICT (source, name) DO UPDATE SET body = excluded.body, updated = excluded.updated`, all, func(k ShardKeys) []any {
		return []any{k.Source, k.PartitionID.Name, k.Account, k.Region, k.Table, k.Body, t.now}
	})
}

// StreamShards returns all known shards of streams, by name, with what each delivered if that
// was written since then.
func (s *Store) StreamShards(ctx context.Context, since time.Time) ([]StreamShard, error) {
	type row struct {
		StreamShard
		ended bool
	}
	rows, err := list(ctx, s, "read the shards of streams", func(r *row) []any {
		return []any{&r.Source, &r.PartitionID.Name, &r.Stream, &r.After, &r.ended, &r.Ended, &r.Account, &r.Region, &r.Table, &r.Body, (*orZero)(&r.Updated)}
	}, `
		SELECT s.source, s.name, s.stream, s.after, p.ended, p.moved, COALESCE(k.account, ''), COALESCE(k.region, ''), COALESCE(k.table_name, ''),
			CASE WHEN k.updated >= $1 THEN k.body END, k.updated
		FROM shards AS s
		JOIN positions AS p ON p.source = s.source AND p.name = s.name
		LEFT JOIN shard_keys AS k ON k.source = s.source AND k.name = s.name
		ORDER BY s.source, s.name`, utc(since))
	all := make([]StreamShard, len(rows))
	for i := range rows {
		if all[i] = rows[i].StreamShard; !rows[i].ended {
			all[i].Ended = time.Time{}
		}
	}
	return all, err
}

// StreamedTables returns the tables whose stream delivered positions of keys: the tables of
// which there may be a map.
func (s *Store) StreamedTables(ctx context.Context) ([]sample.Target, error) {
	return list(ctx, s, "read the tables with streams", func(t *sample.Target) []any {
		return []any{&t.Account, &t.Region, &t.Table}
	}, `SELECT DISTINCT account, region, table_name FROM shard_keys ORDER BY table_name, account, region`)
}
