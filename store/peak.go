package store

import (
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// HourPeak is the highest second of one key in one hour of event time, in
// thousandths of a unit.
type HourPeak struct {
	sample.Target
	// Hash names the key, as in the windows. KeyType and Key are its text; characters
	// that SQL cannot hold are replaced in Key.
	Hash    uint64
	KeyType string
	Key     sample.Text
	Hour    time.Time
	// WriteMilli and ReadMilli are each the hour's own highest.
	WriteMilli, ReadMilli int64
}

// keyHash is stored as the signed number of the same bits: SQL has no unsigned one.
type keyHash uint64

// Scan implements sql.Scanner.
func (h *keyHash) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a key's hash is %T, want a number", v)
	}
	*h = keyHash(n)
	return nil
}

// PeakQuery chooses the stored hours of one key since a time, the zero time for all.
type PeakQuery struct {
	sample.Target
	Hash  uint64
	Since time.Time
}

// HourPeaks returns the stored hours of one key since a time, the zero time for
// all, in their order.
func (s *Store) HourPeaks(ctx context.Context, at sample.Target, hash uint64, since time.Time) ([]HourPeak, error) {
	return ofOne(s.EachHourPeaks(ctx, []PeakQuery{{at, hash, since}}))
}

// EachHourPeaks returns the hours that each of some queries chooses.
func (s *Store) EachHourPeaks(ctx context.Context, all []PeakQuery) ([][]HourPeak, error) {
	each := make([][]any, len(all))
	for i, q := range all {
		each[i] = targetArgs(q.Target, int64(q.Hash), utc(q.Since))
	}
	return listEach(ctx, s, "read hourly peaks", func(p *HourPeak) []any {
		return append(targetFields(&p.Target), (*keyHash)(&p.Hash), &p.KeyType, &p.Key, &p.Hour, &p.WriteMilli, &p.ReadMilli)
	}, `
		SELECT `+targetColumns+`, key_hash, key_type, key_text, hour, write_milli, read_milli
		FROM hourly_peaks AS p JOIN targets AS t ON t.id = p.target
		WHERE `+isTarget+` AND key_hash = $5 AND hour >= $6
		ORDER BY hour`, each)
}

// WarmKey is a key with stored hourly peaks.
type WarmKey struct {
	Hash    uint64
	KeyType string
	Key     sample.Text
	// WriteMilli and ReadMilli are the highest of all hours.
	WriteMilli, ReadMilli int64
}

// WarmKeys returns the keys of a table or index with stored hours since a time,
// the highest first. At most so many, 0 for DefaultLimit.
func (s *Store) WarmKeys(ctx context.Context, at sample.Target, since time.Time, most int) ([]WarmKey, error) {
	return ofOne(s.EachWarmKeys(ctx, []sample.Target{at}, since, most))
}

// EachWarmKeys returns the result of WarmKeys for each of some tables and indexes.
func (s *Store) EachWarmKeys(ctx context.Context, of []sample.Target, since time.Time, most int) ([][]WarmKey, error) {
	each := make([][]any, len(of))
	for i, at := range of {
		each[i] = targetArgs(at, utc(since), limit(most))
	}
	return listEach(ctx, s, "read warm keys", func(k *WarmKey) []any {
		return []any{(*keyHash)(&k.Hash), &k.KeyType, &k.Key, &k.WriteMilli, &k.ReadMilli}
	}, `
		SELECT key_hash, max(key_type), max(key_text), max(write_milli), max(read_milli)
		FROM hourly_peaks AS p JOIN targets AS t ON t.id = p.target
		WHERE `+isTarget+` AND hour >= $5
		GROUP BY key_hash
		ORDER BY max(3 * write_milli + read_milli) DESC, key_hash LIMIT $6`, each)
}

// putPeaks raises stored peaks. Where only the beginning of a key's text was
// known, the longer text stays.
func (t *tx) putPeaks(ctx context.Context, peaks []HourPeak, ids targetIDs) error {
	return insertAll(ctx, t, `
		INSERT INTO hourly_peaks (target, key_hash, hour, key_type, key_text,
			write_milli, read_milli, updated)`, `
		ON CONFLICT (target, key_hash, hour) DO UPDATE
		SET key_text = CASE WHEN length(excluded.key_text) > length(hourly_peaks.key_text)
				THEN excluded.key_text ELSE hourly_peaks.key_text END,
			write_milli = CASE WHEN excluded.write_milli > hourly_peaks.write_milli
				THEN excluded.write_milli ELSE hourly_peaks.write_milli END,
			read_milli = CASE WHEN excluded.read_milli > hourly_peaks.read_milli
				THEN excluded.read_milli ELSE hourly_peaks.read_milli END,
			updated = excluded.updated`, peaks, func(p HourPeak) []any {
		return []any{ids.id(p.Target), int64(p.Hash), utc(p.Hour), p.KeyType, clean(string(p.Key)), p.WriteMilli, p.ReadMilli, t.now}
	})
}

// DefaultWarmKeys is the number of keys of a table or index whose peaks are kept: the
// keys with the highest peaks.
const DefaultWarmKeys = 1000

// overfull returns the ids of targets with peaks of more than the most keys. It scans the
// hours without a lock, apart from the transaction that deletes.
func (s *Store) overfull(ctx context.Context, most int) ([]int64, error) {
	return list(ctx, s, "count warm keys", singleColumn[int64], `
		SELECT target
		FROM (SELECT DISTINCT target, key_hash FROM hourly_peaks) AS kept
		GROUP BY target HAVING count(*) > $1`, most)
}

// pruneKeys deletes hours of the keys beyond the most of a table or index, one
// batch.
func (s *Store) pruneKeys(ctx context.Context, target int64, most int) (deleted int64, err error) {
	err = s.change(ctx, "prune hourly_peaks", func(t *tx) error {
		deleted, err = t.exec(ctx, `
			DELETE FROM hourly_peaks
			WHERE target = $1 AND (key_hash, hour) IN (
				SELECT p.key_hash, p.hour
				FROM hourly_peaks AS p
				JOIN (SELECT key_hash, row_number() OVER (ORDER BY max(3 * write_milli + read_milli) DESC, key_hash) AS place
					FROM hourly_peaks WHERE target = $1 GROUP BY key_hash) AS ranked
				ON ranked.key_hash = p.key_hash
				WHERE p.target = $1 AND ranked.place > $2 LIMIT $3)`,
			target, most, pruneBatch)
		return err
	})
	return deleted, err
}
