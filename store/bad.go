package store

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// DefaultExcerpts is the number of excerpts kept for each writer, hour, source and reject
// reason: enough to recognise the fault, and few enough that a flood of bad messages
// fills nothing.
const DefaultExcerpts = 5

// BadSample counts the messages of one source that were rejected for one reason.
type BadSample struct {
	// Hour is when they were read, cut to the hour.
	Hour time.Time `json:"hour"`
	// Source is where they came from, Reason one of a bounded set of words.
	Source string `json:"source"`
	Reason string `json:"reason"`
	// Count is how many; counts of the same hour, source and reason add.
	Count int64 `json:"count"`
	// Excerpts are redacted beginnings of some of them. The first
	// DefaultExcerpts are kept.
	Excerpts []sample.Text `json:"excerpts"`

	// Writer is set when read.
	Writer string `json:"collector"`
}

// BadQuery chooses counts of bad samples. The zero value chooses all.
type BadQuery struct {
	// Source is a source's name, or empty for all.
	Source string
	// From and To choose the hours with some time in between, To exclusive; zero is open.
	From, To time.Time
	Limit    int
}

// BadSamples returns counts with their excerpts, the newest hour first, then
// by writer, source and reason.
func (s *Store) BadSamples(ctx context.Context, q BadQuery) ([]BadSample, error) {
	var all []BadSample
	err := s.snapshot(ctx, "read bad samples", func(t *tx) (err error) {
		if all, err = t.badCounts(ctx, q); err != nil {
			return err
		}
		return t.addExcerpts(ctx, all)
	})
	return all, err
}

// addExcerpts reads the excerpts of counts, the newest hour first, with one query.
func (t *tx) addExcerpts(ctx context.Context, all []BadSample) error {
	if len(all) == 0 {
		return nil
	}
	type place struct {
		hour                   int64
		writer, source, reason string
	}
	of := make(map[place]*BadSample, len(all))
	for i := range all {
		of[place{all[i].Hour.Unix(), all[i].Writer, all[i].Source, all[i].Reason}] = &all[i]
	}
	rows, err := selectAll(ctx, t, func(b *BadSample) []any {
		b.Excerpts = []sample.Text{""}
		return []any{&b.Writer, &b.Hour, &b.Source, &b.Reason, &b.Excerpts[0]}
	}, `SELECT writer, hour, source, reason, excerpt FROM bad_excerpts WHERE hour >= $1 ORDER BY slot`, utc(all[len(all)-1].Hour))
	for _, row := range rows {
		if b := of[place{row.Hour.Unix(), row.Writer, row.Source, row.Reason}]; b != nil {
			b.Excerpts = append(b.Excerpts, row.Excerpts...)
		}
	}
	return err
}

func (t *tx) badCounts(ctx context.Context, q BadQuery) ([]BadSample, error) {
	return selectAll(ctx, t, func(b *BadSample) []any {
		return []any{&b.Writer, &b.Hour, &b.Source, &b.Reason, &b.Count}
	}, `
		SELECT writer, hour, source, reason, count FROM bad_samples
		WHERE ($1 = '' OR source = $1) AND hour >= $2 AND hour < $3
		ORDER BY hour DESC, writer, source, reason LIMIT $4`, q.Source, utc(q.From.Truncate(time.Hour)), orForever(q.To), limit(q.Limit))
}

func (t *tx) excerpts(ctx context.Context, writer string, b BadSample) ([]string, error) {
	return selectAll(ctx, t, singleColumn[string], `
		SELECT excerpt FROM bad_excerpts
		WHERE hour = $1 AND writer = $2 AND source = $3 AND reason = $4 ORDER BY slot`,
		b.Hour, writer, b.Source, b.Reason)
}

func (t *tx) putBad(ctx context.Context, writer string, all []BadSample) error {
	for _, b := range all {
		b.Hour, b.Source, b.Reason = utc(b.Hour.Truncate(time.Hour)), clean(b.Source), clean(b.Reason)
		err := t.run(ctx, `
			INSERT INTO bad_samples (writer, hour, source, reason, count)
			VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (hour, writer, source, reason) DO UPDATE
			SET count = bad_samples.count + excluded.count`,
			writer, b.Hour, b.Source, b.Reason, b.Count)
		if err != nil {
			return err
		}
		if err := t.putExcerpts(ctx, writer, b); err != nil {
			return err
		}
	}
	return nil
}

// putExcerpts fills the slots that are still free. No other process writes
// a writer's rows, so the count cannot be overtaken.
func (t *tx) putExcerpts(ctx context.Context, writer string, b BadSample) error {
	if len(b.Excerpts) == 0 {
		return nil
	}
	kept, err := t.excerpts(ctx, writer, b)
	if err != nil {
		return err
	}
	var rows [][]any
	for i, excerpt := range b.Excerpts {
		if slot := len(kept) + i; slot < DefaultExcerpts {
			rows = append(rows, []any{writer, b.Hour, b.Source, b.Reason, slot, clean(string(excerpt))})
		}
	}
	return t.insert(ctx, `INSERT INTO bad_excerpts (writer, hour, source, reason, slot, excerpt)`, "", rows)
}
