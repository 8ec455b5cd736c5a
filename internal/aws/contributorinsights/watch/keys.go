package watch

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/judge/heat"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyhash"
	"github.com/keyheat/keyheat/store"
)

// name gives the series of a reading the names that their keys have in samples, and
// forgets the keys themselves.
func (w *Watcher) name(target sample.Target, r *contributors.Reading) {
	var forms [][]string
	for _, counts := range []*contributors.Counts{&r.Accessed, &r.Throttled} {
		named := counts.Series[:0]
		for _, s := range counts.Series {
			if len(s.Keys) == 0 {
				continue
			}
			names := w.names(target, s.Keys[0])
			if len(names) == 0 {
				continue // a policy keeps nothing of keys: no finding has one
			}
			s.Keys = names[:1]
			named = append(named, s)
			forms = append(forms, names)
		}
		counts.Series = named
	}
	// A key's first name before the others of other keys: 042 may be a string beside 42.
	for _, names := range forms {
		r.Names[names[0]] = names[0]
	}
	for _, names := range forms {
		for _, name := range names {
			if _, taken := r.Names[name]; !taken {
				r.Names[name] = names[0]
			}
			r.Hashes = r.Hashes || w.Hashes != nil && keyhash.Find(name) >= 0
		}
	}
}

// names returns how a key stands in samples, its most likely form first: the type of a
// key is not reported.
func (w *Watcher) names(target sample.Target, text string) (all []string) {
	forms := []sample.Key{sample.KeyString(text)}
	if number, err := sample.KeyNumber(text); err == nil {
		forms = append(forms, number)
	}
	if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
		forms = append(forms, sample.KeyBinary(raw))
	}
	target.Index = ""
	for _, key := range forms {
		hidden := []sample.Key{key}
		if w.Hashes != nil {
			var err error
			if hidden, err = w.Hashes(target, key); err != nil {
				continue
			}
		}
		for _, k := range hidden {
			all = append(all, k.Text)
		}
	}
	return all
}

// shown is the share of a minute at a limit from which a key is kept that Contributor
// Insights does not list.
const shown = 0.05

// loadSampled loads what the samples show of keys in the minutes of a reading, from the
// roll-ups of minutes.
func (w *Watcher) loadSampled(ctx context.Context, target sample.Target, r *contributors.Reading) error {
	rows, err := w.Store.Rollups(ctx, store.RollupQuery{Target: target, Level: int64(heat.Minute), From: r.From, To: r.To, Limit: int(2 * Span / heat.Minute.Duration())})
	if err != nil {
		return err
	}
	r.Sampled = make(map[int64]map[string]contributors.Sampled, len(rows))
	for _, row := range rows {
		var minute heat.Rollup
		if err := minute.UnmarshalBinary(row.Body); err != nil {
			return fmt.Errorf("read the roll-up of %s at %s: %w", target.Name(), row.Begins, err)
		}
		keys := make(map[string]contributors.Sampled)
		for i := range minute.Keys {
			k := &minute.Keys[i]
			write, writePeak := servedLoad(k.Write, detect.PartitionWrite)
			read, readPeak := servedLoad(k.Read, detect.PartitionRead)
			_, listed := r.Names[k.Key.Text]
			if k.Cut || !listed && max(writePeak, readPeak) < shown {
				continue
			}
			keys[k.Key.Text] = contributors.Sampled{Served: corroboration.Units{Write: write, Read: read}, Peak: max(writePeak, readPeak)}
		}
		r.Sampled[row.Begins.Unix()] = keys
		r.SampledTo = row.Begins.UTC().Add(heat.Minute.Duration())
	}
	return nil
}

// servedLoad returns the units of a key that were not throttled, and the share of a limit
// that its highest second had, at least.
func servedLoad(s heat.Side, limit sample.Milli) (units, peak float64) {
	return max(0, detect.Units(s.Sum-s.Throttled)), float64(s.Max.Low) / float64(limit)
}
