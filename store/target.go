package store

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// usedEvery is how far targets.used may be behind: a target that is in use is not
// written at every judgement.
const usedEvery = 24 * time.Hour

// maxFound bounds the targets of one query, and with them its parameters: see maxRows.
const maxFound = 4096

const targetColumns = `t.account, t.region, t.table_name, t.index_name`

// Targets returns the tables and indexes with any stored rows, in order, without those that
// CloudWatch was asked about and nobody has seen: their names may be misspelt. Findings about
// Keyheat itself, and what the judge remembers of no table, have a row without a name.
func (s *Store) Targets(ctx context.Context) ([]sample.Target, error) {
	return list(ctx, s, "read the tables and indexes", targetFields, `
		SELECT `+targetColumns+` FROM targets AS t
		WHERE t.table_name <> '' AND (NOT EXISTS (SELECT 1 FROM cloudwatch_reads AS r WHERE r.target = t.id)
			OR EXISTS (SELECT 1 FROM cloudwatch_minutes AS m WHERE m.target = t.id)
			OR EXISTS (SELECT 1 FROM windows AS w WHERE w.target = t.id)
			OR EXISTS (SELECT 1 FROM table_views AS v WHERE v.target = t.id)
			OR EXISTS (SELECT 1 FROM findings AS f WHERE f.target = t.id))
		ORDER BY t.table_name, t.index_name, t.account, t.region`)
}

// AllTargets returns the tables and indexes with any stored rows, in order. It reads nothing
// else, as a collector's role may.
func (s *Store) AllTargets(ctx context.Context) ([]sample.Target, error) {
	return list(ctx, s, "read all tables and indexes", targetFields, `
		SELECT `+targetColumns+` FROM targets AS t WHERE t.table_name <> '' ORDER BY t.table_name, t.index_name, t.account, t.region`)
}

// OldestTargets returns the tables and indexes that were stored first, at most so many, the
// oldest first. It reads nothing else, as a collector's role may.
func (s *Store) OldestTargets(ctx context.Context, most int) ([]sample.Target, error) {
	return list(ctx, s, "read the oldest tables and indexes", targetFields, `
		SELECT `+targetColumns+` FROM targets AS t WHERE t.table_name <> '' ORDER BY t.id LIMIT $1`, most)
}

// isTarget chooses a target by its four names, $1 to $4; see [targetArgs].
const isTarget = `t.table_name = $1 AND t.index_name = $2 AND t.account = $3 AND t.region = $4`

// targetFields returns where targetColumns go.
func targetFields(at *sample.Target) []any {
	return []any{&at.Account, &at.Region, &at.Table, &at.Index}
}

// targetArgs returns the parameters of isTarget, and further ones.
func targetArgs(at sample.Target, more ...any) []any {
	at = cleanTarget(at)
	return append([]any{at.Table, at.Index, at.Account, at.Region}, more...)
}

// cleanTarget returns a target as both engines can hold it.
func cleanTarget(at sample.Target) sample.Target {
	return sample.Target{
		Account: clean(at.Account), Region: clean(at.Region), Table: clean(at.Table), Index: clean(at.Index),
	}
}

// targetIDs are the ids of targets, as cleanTarget writes them.
type targetIDs map[sample.Target]int64

func (ids targetIDs) id(at sample.Target) int64 { return ids[cleanTarget(at)] }

// targets returns the ids of the wanted targets, including new ones. It keeps them from
// being pruned until a while after this transaction.
func (t *tx) targets(ctx context.Context, wanted map[sample.Target]bool) (targetIDs, error) {
	cleaned := make(map[sample.Target]bool, len(wanted))
	for at := range wanted {
		cleaned[cleanTarget(at)] = true
	}
	all := slices.SortedFunc(maps.Keys(cleaned), sample.Target.Compare)
	ids := make(targetIDs, len(all))
	for part := range slices.Chunk(all, maxFound) {
		if err := t.findTargets(ctx, part, ids); err != nil {
			return nil, err
		}
	}
	missing := slices.DeleteFunc(all, func(at sample.Target) bool { return ids[at] != 0 })
	// Another judge or collector may insert the same: then the ids are its.
	err := insertAll(ctx, t, `INSERT INTO targets (account, region, table_name, index_name, used)`,
		`ON CONFLICT (table_name, index_name, account, region) DO UPDATE SET used = excluded.used`,
		missing, func(at sample.Target) []any { return []any{at.Account, at.Region, at.Table, at.Index, t.now} })
	if err != nil {
		return nil, err
	}
	for part := range slices.Chunk(missing, maxFound) {
		if err := t.findTargets(ctx, part, ids); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func (t *tx) findTargets(ctx context.Context, wanted []sample.Target, ids targetIDs) error {
	var args []any
	for _, at := range wanted {
		args = append(args, at.Account, at.Region, at.Table, at.Index)
	}
	type known struct {
		id     int64
		used   time.Time
		target sample.Target
	}
	all, err := selectAll(ctx, t, func(k *known) []any { return append(targetFields(&k.target), &k.id, &k.used) }, `
		SELECT `+targetColumns+`, t.id, t.used FROM targets AS t
		WHERE (t.account, t.region, t.table_name, t.index_name) IN (VALUES `+placeholders(len(wanted), 4)+`)`, args...)
	if err != nil {
		return err
	}
	stale := []any{t.now}
	for _, k := range all {
		if t.now.Sub(k.used) < usedEvery {
			ids[k.target] = k.id
		} else {
			stale = append(stale, k.id)
		}
	}
	if len(stale) == 1 {
		return nil
	}
	// Targets that were pruned meanwhile are not returned.
	kept, err := selectAll(ctx, t, func(k *known) []any { return append(targetFields(&k.target), &k.id) }, `
		UPDATE targets AS t SET used = $1 WHERE t.id IN (`+strings.TrimPrefix(placeholders(1, len(stale)), "($1, ")+`
		RETURNING `+targetColumns+`, t.id`, stale...)
	for _, k := range kept {
		ids[k.target] = k.id
	}
	return err
}
