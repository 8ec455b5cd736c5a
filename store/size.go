package store

import (
	"context"
	"time"
)

// Size is how much the database holds.
type Size struct {
	// Bytes is the size of the database with its free space; without SQLite's log.
	Bytes int64
	// Window, Rollup and Finding are when the oldest second, roll-up of an hour and
	// finding were last written; zero where there is none.
	Window, Rollup, Finding time.Time
}

// Size measures the database.
func (s *Store) Size(ctx context.Context) (Size, error) {
	bytes := `(SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size())`
	if s.pool != nil {
		bytes = `pg_database_size(current_database())`
	}
	return first(list(ctx, s, "measure the database", func(z *Size) []any {
		return []any{&z.Bytes, (*orZero)(&z.Window), (*orZero)(&z.Rollup), (*orZero)(&z.Finding)}
	}, `
		SELECT `+bytes+`,
			(SELECT updated FROM windows ORDER BY updated LIMIT 1),
			(SELECT updated FROM rollups WHERE level = 3600 ORDER BY updated LIMIT 1),
			(SELECT updated_at FROM findings ORDER BY updated_at LIMIT 1)`))
}
