package store

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// TargetDocument is a JSON document about a table or index. Its writer and its reader agree
// on the form.
type TargetDocument struct {
	sample.Target
	// Updated is when it was written; set by the store.
	Updated  time.Time
	Document []byte
}

// TableViews returns the judge's last views of all tables and indexes, by name.
func (s *Store) TableViews(ctx context.Context) ([]TargetDocument, error) {
	return s.documents(ctx, "table_views", "document")
}

// PartitionMaps returns the judge's maps of all tables' partitions, by name.
func (s *Store) PartitionMaps(ctx context.Context) ([]TargetDocument, error) {
	return s.documents(ctx, "partition_maps", "document")
}

// TableFacts returns DescribeTable's facts about all tables, by name.
func (s *Store) TableFacts(ctx context.Context) ([]TargetDocument, error) {
	return s.documents(ctx, "table_facts", "facts")
}

// PutTableFacts replaces the facts of a table.
func (s *Store) PutTableFacts(ctx context.Context, at sample.Target, facts []byte) error {
	return s.change(ctx, "put the facts of "+at.Name(), func(t *tx) error {
		ids, err := t.targets(ctx, map[sample.Target]bool{at: true})
		if err != nil {
			return err
		}
		return putDocuments("table_facts", "facts")(t, ctx, []TargetDocument{{Target: at, Document: facts}}, ids)
	})
}

func (s *Store) documents(ctx context.Context, table, column string) ([]TargetDocument, error) {
	return list(ctx, s, "read "+table, func(d *TargetDocument) []any {
		return append(targetFields(&d.Target), &d.Updated, &d.Document)
	}, `
		SELECT `+targetColumns+`, d.updated, d.`+column+`
		FROM `+table+` AS d JOIN targets AS t ON t.id = d.target
		ORDER BY t.table_name, t.index_name, t.account, t.region`)
}

func putDocuments(table, column string) func(*tx, context.Context, []TargetDocument, targetIDs) error {
	return func(t *tx, ctx context.Context, all []TargetDocument, ids targetIDs) error {
		return insertAll(ctx, t, `INSERT INTO `+table+` (target, updated, `+column+`)`, `
			ON CONFLICT (target) DO UPDATE SET updated = excluded.updated, `+column+` = excluded.`+column, all, func(d TargetDocument) []any {
			return []any{ids.id(d.Target), t.now, clean(string(d.Document))}
		})
	}
}
