package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"
)

// Retention is how long things are kept. A zero field means its default.
type Retention struct {
	// Deltas counts from the commit, and only for deltas at or below their
	// writer's cursor: one that is not read is never deleted.
	Deltas time.Duration
	// Windows count from their last writing, not from event time, so that a backfill is
	// kept too.
	Windows time.Duration
	// Findings and History count from the last writing, and so do incidents. Silences are
	// kept like History, from their end.
	Findings, History time.Duration
	// Notifications count from their making; pending ones stay.
	Notifications time.Duration
	// Gaps count from when they were noticed, Bad samples from their hour.
	Gaps, Bad time.Duration
	// Writers and their cursors go this long after their last sign of life,
	// when no delta of theirs is left.
	Writers time.Duration
	// Views, maps and checkpoints count from their last writing.
	Views time.Duration
	// Rollups are the roll-ups of each level, from their last writing. The counted seconds
	// are kept as long as the longest kept level. Levels without a retention stay.
	Rollups map[int64]time.Duration
	// Positions go, with their watermarks, when no collector reported their
	// partition for this long. A partition that comes back later begins anew, so
	// it must be longer than any log keeps its records.
	Positions time.Duration
	// Producers go this long after their newest batch. They may send one again until then.
	Producers time.Duration
	// Shards go, with their positions and watermarks, this long after they were counted
	// to their end. It must be longer than a stream lists a closed shard, which is a day:
	// a listed shard without a row would be read anew.
	Shards time.Duration
	// Facts of a table count from their last writing.
	Facts time.Duration
	// CloudWatch's minutes count from their last writing.
	CloudWatch time.Duration
	// Reports count from their making.
	Reports time.Duration
	// Audit entries count from when they were written.
	Audit time.Duration
	// Targets go this long after they were last written for, when no row refers
	// to them. It must be longer than a day: see [usedEvery].
	Targets time.Duration
}

// DefaultRetention returns the defaults of Retention.
func DefaultRetention() Retention {
	const day = 24 * time.Hour
	return Retention{
		Deltas: 20 * time.Minute, Windows: 6 * time.Hour, Views: 30 * day,
		Findings: 30 * day, History: 90 * day, Notifications: 7 * day, Gaps: 30 * day, Bad: 7 * day,
		Writers: 7 * day, Positions: 365 * day, Producers: day, Shards: 72 * time.Hour, Facts: 30 * day, CloudWatch: 14 * day, Reports: 365 * day, Audit: 2 * 365 * day,
		// It is longer than usedEvery, within which a judge may write for a target and
		// leave used as it is.
		Targets: 2 * usedEvery,
	}
}

func unreferencedTargets() string {
	var b strings.Builder
	for _, table := range []string{"windows", "findings", "table_views", "partition_maps", "table_facts", "checkpoints", "incidents",
		"cloudwatch_minutes", "cloudwatch_reads", "rollups"} {
		fmt.Fprintf(&b, ` AND NOT EXISTS (SELECT 1 FROM %[1]s AS r WHERE r.target = targets.id)`, table)
	}
	return b.String()
}

// pruneBatch is how many rows one transaction deletes, so that none is long.
const pruneBatch = 1000

// Pruned counts the deleted rows by table, without the tables that lost none.
type Pruned map[string]int64

// rule deletes rows of one table: rows of this key for which the condition holds at a
// time limit, $1.
type rule struct {
	table, key, condition string
	// still is a condition that is checked once more when a row is deleted, for
	// rows that another transaction may change meanwhile. It may be empty.
	still string
	keep  time.Duration
}

// rules are in an order that leaves no orphan: deltas before their writers and
// cursors, watermarks after their positions.
func (r Retention) rules() []rule {
	orphan := `NOT EXISTS (SELECT 1 FROM deltas AS d WHERE d.writer = %[1]s.writer)`
	all := []rule{
		{"deltas", "writer, seq", `committed < $1
			AND seq <= (SELECT c.seq FROM cursors AS c WHERE c.writer = deltas.writer)`, "", r.Deltas},
		{"windows", "target, second", `updated < $1`, "", r.Windows},
		{"findings", "fingerprint", `updated_at < $1`, "", r.Findings},
		{"incidents", "id", `updated < $1`, "", r.Findings},
		{"incident_findings", "incident, fingerprint", `NOT EXISTS (
			SELECT 1 FROM incidents AS i WHERE i.id = incident_findings.incident AND i.updated >= $1)`, "", r.Findings},
		{"incident_history", "id", `written < $1`, "", r.History},
		{"finding_history", "id", `written < $1`, "", r.History},
		{"notifications", "ordinal", `created < $1 AND state <> 'pending'
			AND NOT EXISTS (SELECT 1 FROM incidents AS i WHERE i.id = notifications.incident AND i.state = 'firing')`, "", r.Notifications},
		{"gaps", "id", `noticed < $1`, "", r.Gaps},
		{"bad_samples", "hour, writer, source, reason", `hour < $1`, "", r.Bad},
		{"bad_excerpts", "hour, writer, source, reason, slot", `hour < $1`, "", r.Bad},
		{"table_views", "target", `updated < $1`, "", r.Views},
		{"partition_maps", "target", `updated < $1`, "", r.Views},
		{"checkpoints", "target", `updated < $1`, "", r.Views},
		{"writers", "writer", `seen < $1 AND ` + fmt.Sprintf(orphan, "writers"), "", r.Writers},
		{"cursors", "writer", `advanced < $1 AND ` + fmt.Sprintf(orphan, "cursors") +
			` AND NOT EXISTS (SELECT 1 FROM writers AS w WHERE w.writer = cursors.writer)`, "", r.Writers},
		{"positions", "source, name", `ended AND moved < $1 AND EXISTS (
			SELECT 1 FROM shards AS s
			WHERE s.source = positions.source AND s.name = positions.name)`, "", r.Shards},
		{"positions", "source, name", `moved < $1 AND NOT EXISTS (
			SELECT 1 FROM watermarks AS w
			WHERE w.source = positions.source AND w.name = positions.name AND w.seen >= $1)`, "", r.Positions},
		{"positions", "source, name", `source = '` + Push + `' AND moved < $1 AND NOT EXISTS (
			SELECT 1 FROM watermarks AS w
			WHERE w.source = positions.source AND w.name = positions.name AND w.seen >= $1)`, "AND moved < $1", r.Producers},
		{"watermarks", "source, name", `seen < $1 AND NOT EXISTS (
			SELECT 1 FROM positions AS p
			WHERE p.source = watermarks.source AND p.name = watermarks.name)`, "",
			min(r.Positions, r.Shards)},
		{"shards", "source, name", `found < $1 AND NOT EXISTS (
			SELECT 1 FROM positions AS p
			WHERE p.source = shards.source AND p.name = shards.name)`, "", 0},
		{"shard_keys", "source, name", `updated < $1 AND NOT EXISTS (
			SELECT 1 FROM shards AS s
			WHERE s.source = shard_keys.source AND s.name = shard_keys.name)`, "", 0},
		{"cloudwatch_minutes", "target, minute", `updated < $1`, "", r.CloudWatch},
		{"cloudwatch_reads", "target", `attempted < $1`, "", r.CloudWatch},
		{"reports", "id", `made < $1`, "", r.Reports},
		// As long as a yearly schedule may be away; while there is one it is seen daily.
		{"report_schedules", "name", `seen < $1`, `AND seen < $1`, 2 * DefaultRetention().Reports},
		{"silences", "id", `ends_at < $1`, "", r.History},
		{"audit", "id", `at < $1`, "", r.Audit},
		{"table_facts", "target", `updated < $1`, "", r.Facts},
		{"targets", "id", `used < $1` + unreferencedTargets(), `AND used < $1`,
			r.Targets},
	}
	var longest time.Duration
	for level, keep := range r.Rollups {
		all = append(all, rule{"rollups", "target, level, begins", fmt.Sprintf(`level = %d AND updated < $1`, level), "", keep})
		longest = max(longest, keep)
	}
	if longest > 0 {
		all = append(all, rule{"seen_minutes", "minute", `updated < $1`, "", longest})
	}
	return all
}

// Prune deletes rows older than their retention, by the database's clock, in batches of
// their own transactions. It may run anywhere and at any time. Rows that were deleted
// before an error are counted too.
func (s *Store) Prune(ctx context.Context, r Retention) (Pruned, error) {
	r = options.OrDefault(r, DefaultRetention())
	pruned := make(Pruned)
	for _, rule := range r.rules() {
		if err := pruned.inBatches(rule.table, func() (int64, error) { return s.pruneBatch(ctx, rule) }); err != nil {
			return pruned, err
		}
	}
	return pruned, nil
}

// inBatches counts the rows that are deleted from a table until a batch is not full.
func (p Pruned) inBatches(table string, batch func() (int64, error)) error {
	for {
		n, err := batch()
		if n > 0 {
			p[table] += n
		}
		if err != nil || n < pruneBatch {
			return err
		}
	}
}

func (s *Store) pruneBatch(ctx context.Context, r rule) (deleted int64, err error) {
	err = s.change(ctx, "prune "+r.table, func(t *tx) error {
		deleted, err = t.exec(ctx, fmt.Sprintf(`
			DELETE FROM %[1]s WHERE (%[2]s) IN (SELECT %[2]s FROM %[1]s WHERE %[3]s LIMIT $2) %[4]s`,
			r.table, r.key, r.condition, r.still), utc(t.now.Add(-r.keep)), pruneBatch)
		return err
	})
	return deleted, err
}
