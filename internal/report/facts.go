package report

import (
	"context"
	"encoding/json"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// factsEvery is the pause between two looks at what is stored of tables:
// billing and indexes seldom change.
const factsEvery = time.Minute

// facts are what is known of tables beside their traffic.
type facts struct {
	told   func(table string) *detect.TableFacts
	stored map[string]*detect.TableFacts
	loaded time.Time // the database's time
}

// of is what an operator says of a table over what is stored of it.
func (f *facts) of(table string) *detect.TableFacts {
	if f.told != nil {
		return f.told(table).Over(f.stored[table])
	}
	return f.stored[table]
}

// refreshFacts reads what is stored of tables, now and then. Facts that cannot
// be read are as good as none.
func (t *term) refreshFacts(ctx context.Context, now time.Time) error {
	if now.Sub(t.facts.loaded) < factsEvery {
		return nil
	}
	rows, err := t.store.TableFacts(ctx)
	if err != nil {
		return err
	}
	stored := make(map[string]*detect.TableFacts, len(rows))
	for _, row := range rows {
		var known detect.TableFacts
		if err := json.Unmarshal(row.JSON, &known); err != nil {
			t.logger.Warn("what is stored of a table cannot be read; a collector writes it anew", "table", row.Table, "error", err)
			continue
		}
		stored[row.Table] = &known
	}
	t.facts.stored, t.facts.loaded = stored, now
	return nil
}
