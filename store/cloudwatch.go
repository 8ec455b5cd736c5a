package store

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// CloudWatchMinute is CloudWatch's report about a minute of a table or index.
type CloudWatchMinute struct {
	sample.Target
	Minute time.Time
	// Metrics are the sums of the minute by metric. One without a data point is
	// not there.
	Metrics map[string]float64
}

// CloudWatchRead is how CloudWatch was read last for a table or index.
type CloudWatchRead struct {
	sample.Target
	// Through is the end of the last minute that was read; zero for none.
	Through time.Time
	// Attempted is the time of the last attempt, by the database's clock; State and
	// Message are its result.
	Attempted      time.Time
	State, Message string
	// Requested is how many metrics were asked for: by this attempt where it is
	// written, in the present month where it is read.
	Requested int64
}

// PutCloudWatch writes a target's reading over the earlier one, and adds the requested
// metrics to the month's. If the reading covers nothing, the earlier one stays. The store
// sets Attempted.
func (s *Store) PutCloudWatch(ctx context.Context, read CloudWatchRead, minutes []CloudWatchMinute) error {
	return s.change(ctx, "put CloudWatch of "+read.Name(), func(t *tx) error {
		ids, err := t.targets(ctx, map[sample.Target]bool{read.Target: true})
		if err != nil {
			return err
		}
		id := ids.id(read.Target)
		err = t.run(ctx, `
			INSERT INTO cloudwatch_reads (target, attempted, through, state, message, month, requested)
			VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT (target) DO UPDATE
			SET attempted = excluded.attempted, through = COALESCE(excluded.through, cloudwatch_reads.through),
				state = excluded.state, message = excluded.message, month = excluded.month,
				requested = excluded.requested +
					CASE WHEN cloudwatch_reads.month = excluded.month THEN cloudwatch_reads.requested ELSE 0 END`,
			id, t.now, orNull(read.Through), clean(read.State), clean(read.Message), monthOf(t.now), read.Requested)
		if err != nil {
			return err
		}
		return insertAll(ctx, t, `INSERT INTO cloudwatch_minutes (target, minute, metrics, updated)`, `
			ON CONFLICT (target, minute) DO UPDATE SET metrics = excluded.metrics, updated = excluded.updated`,
			minutes, func(m CloudWatchMinute) []any { return []any{id, utc(m.Minute), asJSON{m.Metrics}, t.now} })
	})
}

func monthOf(at time.Time) string { return at.UTC().Format("2006-01") }

// CloudWatchReads returns how CloudWatch was read last, by target.
func (s *Store) CloudWatchReads(ctx context.Context) ([]CloudWatchRead, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	return list(ctx, s, "read how CloudWatch was read", func(r *CloudWatchRead) []any {
		return append(targetFields(&r.Target), &r.Attempted, (*orZero)(&r.Through), &r.State, &r.Message, &r.Requested)
	}, `
		SELECT `+targetColumns+`, attempted, through, state, message, CASE WHEN month = $1 THEN requested ELSE 0 END
		FROM cloudwatch_reads AS r JOIN targets AS t ON t.id = r.target
		ORDER BY t.table_name, t.index_name, t.account, t.region`, monthOf(now))
}

// MinuteQuery chooses the minutes of a target since a time.
type MinuteQuery struct {
	sample.Target
	Since time.Time
}

func minuteArgs(all []MinuteQuery) [][]any {
	each := make([][]any, len(all))
	for i, q := range all {
		each[i] = targetArgs(q.Target, utc(q.Since))
	}
	return each
}

// CloudWatchMinutes returns CloudWatch's reports about a target since a minute, in the
// order of time.
func (s *Store) CloudWatchMinutes(ctx context.Context, at sample.Target, since time.Time) ([]CloudWatchMinute, error) {
	return ofOne(s.EachCloudWatchMinutes(ctx, []MinuteQuery{{at, since}}))
}

// EachCloudWatchMinutes returns the result of CloudWatchMinutes for each query.
func (s *Store) EachCloudWatchMinutes(ctx context.Context, all []MinuteQuery) ([][]CloudWatchMinute, error) {
	return listEach(ctx, s, "read CloudWatch's minutes", func(m *CloudWatchMinute) []any {
		return append(targetFields(&m.Target), &m.Minute, asJSON{&m.Metrics})
	}, `
		SELECT `+targetColumns+`, minute, metrics
		FROM cloudwatch_minutes AS m JOIN targets AS t ON t.id = m.target
		WHERE `+isTarget+` AND minute >= $5 ORDER BY minute`, minuteArgs(all))
}

// MinuteTotal is the samples' total of a minute of a table or index.
type MinuteTotal struct {
	Minute                time.Time
	ReadMilli, WriteMilli int64
	// Complete reports that no second of it was closed early.
	Complete bool
}

// EachMinuteTotals returns, for each query, the consumption that the samples show of the
// minutes that have windows, in the order of time.
func (s *Store) EachMinuteTotals(ctx context.Context, all []MinuteQuery) ([][]MinuteTotal, error) {
	each, err := listEach(ctx, s, "read the totals of minutes", func(m *MinuteTotal) []any {
		return []any{&m.Minute, &m.ReadMilli, &m.WriteMilli, &m.Complete}
	}, `
		SELECT second, read_milli, write_milli, complete FROM `+windowTables+`
		WHERE `+isTarget+` AND second >= $5 ORDER BY second`, minuteArgs(all))
	for i, seconds := range each {
		each[i] = addMinutes(seconds)
	}
	return each, err
}

func addMinutes(seconds []MinuteTotal) (minutes []MinuteTotal) {
	for _, s := range seconds {
		minute := s.Minute.Truncate(time.Minute)
		if n := len(minutes); n == 0 || !minutes[n-1].Minute.Equal(minute) {
			minutes = append(minutes, MinuteTotal{Minute: minute, Complete: true})
		}
		m := &minutes[len(minutes)-1]
		m.ReadMilli, m.WriteMilli = m.ReadMilli+s.ReadMilli, m.WriteMilli+s.WriteMilli
		m.Complete = m.Complete && s.Complete
	}
	return minutes
}

// ActiveTargets returns the tables and indexes that have a second since a time.
func (s *Store) ActiveTargets(ctx context.Context, since time.Time) ([]sample.Target, error) {
	return list(ctx, s, "read the active targets", targetFields, `
		SELECT `+targetColumns+` FROM targets AS t
		WHERE EXISTS (SELECT 1 FROM windows AS w WHERE w.target = t.id AND w.second >= $1)
		ORDER BY t.table_name, t.index_name, t.account, t.region`, utc(since))
}
