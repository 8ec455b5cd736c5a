package store

import (
	"context"
	"time"
)

// TableView is what a table or index looks like as a whole, as the judge wrote
// it last.
type TableView struct {
	// Table and Index name the target; Index is empty for the table itself.
	Table, Index string
	// Updated is when it was written; set by the store.
	Updated time.Time
	// Document is the view as JSON.
	Document []byte
}

// TableViews returns the views of all tables and indexes, by name.
func (s *Store) TableViews(ctx context.Context) ([]TableView, error) {
	rows, err := s.read.QueryContext(ctx, `
		SELECT table_name, index_name, updated, document
		FROM table_views ORDER BY table_name, index_name`)
	if err != nil {
		return nil, wrap(ctx, "read table views", err)
	}
	all, err := collect(rows, func(v *TableView) []any {
		return []any{&v.Table, &v.Index, &v.Updated, &v.Document}
	})
	return all, wrap(ctx, "read table views", err)
}

func (t *tx) putViews(ctx context.Context, views []TableView) error {
	rows := make([][]any, len(views))
	for i, v := range views {
		rows[i] = []any{clean(v.Table), clean(v.Index), t.now, clean(string(v.Document))}
	}
	return t.insert(ctx, `INSERT INTO table_views (table_name, index_name, updated, document)`, `
		ON CONFLICT (table_name, index_name) DO UPDATE
		SET updated = excluded.updated, document = excluded.document`, rows)
}
