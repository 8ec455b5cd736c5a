package judge

import (
	"context"
	"encoding/json"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// factsEvery is the pause between two loads of tables' facts: billing and indexes
// seldom change.
const factsEvery = time.Minute

// loadFacts reads the stored facts of tables, at intervals. Unreadable facts count as
// none.
func (t *term) loadFacts(ctx context.Context, now time.Time) error {
	if now.Sub(t.factsAt) < factsEvery {
		return nil
	}
	rows, err := t.judge.store.TableFacts(ctx)
	if err != nil {
		return err
	}
	stored := make(detect.FactsByTable, len(rows))
	for _, row := range rows {
		var known detect.TableFacts
		if err := json.Unmarshal(row.Document, &known); err != nil {
			t.judge.logger.Warn("the stored facts of a table cannot be read; a collector writes them anew", "table", row.Name(), "error", err)
			continue
		}
		stored.Add(row.Target, &known)
	}
	t.state.Facts = stored
	t.factsAt = now
	return nil
}
