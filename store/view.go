package store

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// TableView is the judge's last view of a table or index as a whole.
type TableView struct {
	sample.Target
	// Updated is when it was written; set by the store.
	Updated time.Time
	// Document is the view as JSON.
	Document []byte
}

// TableViews returns the views of all tables and indexes, by name.
func (s *Store) TableViews(ctx context.Context) ([]TableView, error) {
	return list(ctx, s, "read table views", func(v *TableView) []any {
		return append(targetFields(&v.Target), &v.Updated, &v.Document)
	}, `
		SELECT `+targetColumns+`, updated, document
		FROM table_views AS v JOIN targets AS t ON t.id = v.target
		ORDER BY t.table_name, t.index_name, t.account, t.region`)
}

func (t *tx) putViews(ctx context.Context, views []TableView, ids targetIDs) error {
	return insertAll(ctx, t, `INSERT INTO table_views (target, updated, document)`, `
		ON CONFLICT (target) DO UPDATE
		SET updated = excluded.updated, document = excluded.document`, views, func(v TableView) []any {
		return []any{ids.id(v.Target), t.now, clean(string(v.Document))}
	})
}
