package store

import (
	"context"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// AuditEntry is one change that a person made by hand.
type AuditEntry struct {
	// At is when, by the database's clock.
	At time.Time `json:"at"`
	// Who is the author, Action the kind of change, About its subject, Detail the new
	// values. None of them holds a key.
	Who    string `json:"who"`
	Action string `json:"action"`
	About  string `json:"about"`
	Detail string `json:"detail"`
}

// Audit returns the newest entries, at most so many, 0 for DefaultLimit.
func (s *Store) Audit(ctx context.Context, most int) ([]AuditEntry, error) {
	return list(ctx, s, "read the audit", func(a *AuditEntry) []any { return []any{&a.At, &a.Who, &a.Action, &a.About, &a.Detail} }, `
		SELECT at, who, action, about, detail FROM audit ORDER BY id DESC LIMIT $1`, limit(most))
}

func (t *tx) audit(ctx context.Context, who, action, about, detail string) error {
	return t.insert(ctx, `INSERT INTO audit (at, who, action, about, detail)`, "", [][]any{{t.now, clean(who), action, clean(about), clean(detail)}})
}

// tableName writes a table as the settings do: account/Region/table, Region/table or
// table.
func tableName(at sample.Target) string {
	return strings.TrimLeft(at.Account+"/"+at.Region+"/"+at.Table, "/")
}
