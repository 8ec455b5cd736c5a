package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

const (
	// partitionsEvery is the pause between two looks at the shards of streams.
	partitionsEvery = 10 * time.Second
	// shardsOverlap is for how long a row may become visible after the time that it bears.
	shardsOverlap = time.Minute
)

// partitions are the maps of tables' partitions, in the judge's memory.
type partitions struct {
	// lookedAt is the database's time of the last look at shards, newest the newest time of
	// a row that was read.
	lookedAt, newest time.Time
	// tables are the maps; nil before the stored ones were read.
	tables map[sample.Target]*tableMap
	// unreadable are the shards whose row cannot be read, with the row's time: each row is
	// logged once.
	unreadable map[store.PartitionID]time.Time
}

// tableMap is a table's map, and its stored form.
type tableMap struct {
	*partition.Map
	stored []byte
	at     time.Time // when it was last compared with stored
}

// loadPartitions reads the shards of streams at intervals, with what they delivered, and
// brings the maps up to date.
func (t *term) loadPartitions(ctx context.Context, now time.Time) error {
	p := &t.partitions
	if now.Sub(p.lookedAt) < partitionsEvery {
		return nil
	}
	if p.tables == nil {
		if err := p.restore(ctx, t.judge.store, t.judge.logger); err != nil {
			return err
		}
	}
	rows, err := t.judge.store.StreamShards(ctx, p.newest.Add(-shardsOverlap))
	if err != nil {
		return err
	}
	p.update(rows, now, t.state.FactsOf, t.judge.logger)
	p.lookedAt = now
	t.judge.measures.know(p, now)
	t.state.Partitions = p.claimedMaps(now)
	return nil
}

// restore reads the maps of the judge before. A map that cannot be read begins anew: judging
// keys does not wait for it.
func (p *partitions) restore(ctx context.Context, st Store, log *slog.Logger) error {
	rows, err := st.PartitionMaps(ctx)
	if err != nil {
		return err
	}
	p.tables = make(map[sample.Target]*tableMap, len(rows))
	for _, row := range rows {
		m := &partition.Map{}
		if err := json.Unmarshal(row.Document, m); err != nil {
			log.Warn("the stored map of a table's partitions cannot be read; it begins anew", "table", row.Name(), "error", err)
			continue
		}
		p.tables[row.Target] = &tableMap{Map: m, stored: row.Document}
	}
	return nil
}

// update takes the shards of all streams, and what they delivered as far as it can be read.
func (p *partitions) update(rows []store.StreamShard, now time.Time, facts func(detect.Target) *detect.TableFacts, log *slog.Logger) {
	tables := map[string]sample.Target{} // by their streams
	for i := range rows {
		if row := &rows[i]; row.Table != "" {
			tables[row.Source+row.Stream] = row.Target
		}
	}
	byTable := map[sample.Target][]partition.Listed{}
	for i := range rows {
		row := &rows[i]
		table, known := tables[row.Source+row.Stream]
		if !known {
			continue // no shard of the stream delivered anything yet
		}
		listed := partition.Listed{Name: row.PartitionID.Name, Parent: row.After, Stream: row.Stream, Open: row.Ended.IsZero(), Ended: row.Ended}
		if len(row.Body) > 0 {
			listed.Observed = &partition.Observed{}
			if err := listed.Observed.UnmarshalBinary(row.Body); err != nil {
				p.warnUnreadable(row, err, log)
				listed.Observed = nil
			}
		}
		if row.Updated.After(p.newest) {
			p.newest = row.Updated
		}
		byTable[table] = append(byTable[table], listed)
	}
	for table, listed := range byTable {
		m := p.tables[table]
		if m == nil {
			m = &tableMap{Map: partition.New(facts(table).MayHaveSortKey())}
			p.tables[table] = m
		}
		m.Update(listed, now)
	}
}

// warnUnreadable logs a row that cannot be read, once until it changes.
func (p *partitions) warnUnreadable(row *store.StreamShard, err error, log *slog.Logger) {
	if at, known := p.unreadable[row.PartitionID]; known && at.Equal(row.Updated) {
		return
	}
	if p.unreadable == nil {
		p.unreadable = map[store.PartitionID]time.Time{}
	}
	p.unreadable[row.PartitionID] = row.Updated
	log.Warn("what a shard delivered of keys cannot be read; the map goes on without it", "shard", row.PartitionID.String(), "error", err)
}

// claimedMaps returns the maps whose ranges are claimed without a doubt.
func (p *partitions) claimedMaps(now time.Time) map[detect.Target]*partition.Map {
	claimed := map[detect.Target]*partition.Map{}
	for table, m := range p.tables {
		if m.State(now).IsCertain() {
			claimed[table] = m.Map
		}
	}
	return claimed
}

// pending returns the maps that changed since they were stored.
func (p *partitions) pending(now time.Time) (changed []store.TargetDocument, err error) {
	for table, m := range p.tables {
		if now.Sub(m.at) < partitionsEvery {
			continue
		}
		m.at = now
		document, err := json.Marshal(m.Map)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(document, m.stored) {
			changed = append(changed, store.TargetDocument{Target: table, Document: document})
		}
	}
	return changed, nil
}

func (p *partitions) markWritten(all []store.TargetDocument) {
	for _, row := range all {
		p.tables[row.Target].stored = row.Document
	}
}
