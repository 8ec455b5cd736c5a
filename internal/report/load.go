package report

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/growth"
	"github.com/keyheat/keyheat/internal/report/fold"
	"github.com/keyheat/keyheat/internal/report/verdict"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// windowStore is where closed seconds and minutes are.
type windowStore interface {
	LastWindow(ctx context.Context, at sample.Target) (time.Time, bool, error)
	Windows(ctx context.Context, q store.WindowQuery) ([]store.Window, error)
	Cardinalities(ctx context.Context, q store.CardinalityQuery) ([]store.Cardinality, error)
}

// findingStore is where earlier findings, their incidents, and keys' hourly peaks are.
type findingStore interface {
	Findings(ctx context.Context, q store.FindingQuery) ([]store.Finding, error)
	Finding(ctx context.Context, fingerprint string) (store.Finding, error)
	Incident(ctx context.Context, id string) (store.Incident, error)
	IncidentsByID(ctx context.Context, ids []string) ([]store.Incident, error)
	Incidents(ctx context.Context, q store.IncidentQuery) ([]store.Incident, error)
	HourPeaks(ctx context.Context, at sample.Target, hash uint64, since time.Time) ([]store.HourPeak, error)
	Groups(ctx context.Context) ([]store.Group, error)
	WarmKeys(ctx context.Context, at sample.Target, since time.Time, most int) ([]store.WarmKey, error)
}

// loadOpen loads the stored windows and minutes that deltas add to. When the store
// fails, no window is loaded.
func loadOpen(ctx context.Context, st windowStore, s *verdict.State, deltas []fold.Delta) error {
	for _, at := range s.Minutes.Missing(deltas) {
		minute := time.Unix(at.Second, 0)
		rows, err := st.Cardinalities(ctx, store.CardinalityQuery{
			Target: at.Target, From: minute, To: minute.Add(time.Second),
		})
		if err != nil {
			return err
		}
		if err := s.Minutes.Reopen(at, rows); err != nil {
			return err
		}
	}
	loaded := make(map[fold.Instant]*fold.OpenWindow)
	for at, wanted := range s.Windows.Missing(deltas) {
		newest, err := loadNewest(ctx, st, s.Windows, at)
		if err != nil {
			return err
		}
		wanted = slices.DeleteFunc(wanted, func(second int64) bool { return second > newest })
		if err := loadWindows(ctx, st, at, wanted, loaded); err != nil {
			return err
		}
	}
	s.Windows.Reopen(loaded)
	return nil
}

func loadNewest(ctx context.Context, st windowStore, l *fold.Windows, at sample.Target) (int64, error) {
	if second, known := l.Newest(at); known {
		return second, nil
	}
	newest := int64(fold.NothingStored)
	last, any, err := st.LastWindow(ctx, at)
	if err != nil {
		return 0, err
	}
	if any {
		newest = last.Unix()
	}
	l.SetNewest(at, newest)
	return newest, nil
}

// loadWindows reads the wanted seconds of a target, which are in order, as far
// as they are stored.
func loadWindows(ctx context.Context, st windowStore, at sample.Target, wanted []int64, into map[fold.Instant]*fold.OpenWindow) error {
	for len(wanted) > 0 {
		// One query for seconds that lie close to each other.
		n := 1
		for n < len(wanted) && wanted[n]-wanted[0] < store.DefaultLimit {
			n++
		}
		rows, err := st.Windows(ctx, store.WindowQuery{
			Target: at,
			From:   time.Unix(wanted[0], 0), To: time.Unix(wanted[n-1]+1, 0),
		})
		if err != nil {
			return err
		}
		for _, row := range rows {
			second := row.Second.Unix()
			if _, want := slices.BinarySearch(wanted[:n], second); !want {
				continue
			}
			o, err := fold.Reopened(row)
			if err != nil {
				return err
			}
			into[fold.Instant{Target: at, Second: second}] = o
		}
		wanted = wanted[n:]
	}
	return nil
}

// loadEarlier loads what is stored of the findings that the board has, and
// the peaks that their forecasts are made of.
func loadEarlier(ctx context.Context, st findingStore, s *verdict.State, now time.Time) error {
	for _, fingerprint := range append(s.Unknown(), s.Ending(now)...) {
		if err := loadEarlierOf(ctx, st, s, fingerprint); err != nil {
			return err
		}
	}
	for ids := range slices.Chunk(s.UnknownIncidents(), 1000) {
		rows, err := st.IncidentsByID(ctx, ids)
		if err != nil {
			return err
		}
		if err := s.SetIncidents(ids, rows); err != nil {
			return err
		}
	}
	for _, root := range s.UnknownMembers(now) {
		if err := loadEarlierOf(ctx, st, s, root); err != nil {
			return err
		}
		s.Looked(root)
	}
	for _, q := range s.Unforeseen() {
		rows, err := st.HourPeaks(ctx, q.Target, q.Hash, q.Since)
		if err != nil {
			return err
		}
		s.SetPeaks(q.Fingerprint, rows)
	}
	return nil
}

// loadEarlierOf loads what is stored of one finding, if it is no new one.
func loadEarlierOf(ctx context.Context, st findingStore, s *verdict.State, fingerprint string) error {
	earlier, err := loadFinding(ctx, st, fingerprint)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.SetEarlier(earlier)
}

// loadFinding loads what is stored of one finding.
func loadFinding(ctx context.Context, st findingStore, fingerprint string) (e verdict.Earlier, err error) {
	if e.Finding, err = st.Finding(ctx, fingerprint); err != nil {
		return e, err
	}
	f, err := detect.ReadFinding(e.Finding.Document)
	if err != nil {
		return e, fmt.Errorf("stored finding %s: %w", fingerprint, err)
	}
	incident, err := st.Incident(ctx, f.Incident)
	if err == nil {
		e.Incident = &incident
		return e, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return e, err
	}
	// One of before causes were told apart: each finding had its own.
	incidents, err := st.Incidents(ctx, store.IncidentQuery{Finding: fingerprint, Limit: 1})
	if err == nil && len(incidents) > 0 {
		e.Incident = &incidents[0]
	}
	return e, err
}

// loadGrowth loads the growing keys of tables.
func loadGrowth(ctx context.Context, st findingStore, s *verdict.State, tables []detect.Table) error {
	for _, at := range s.Views.WithoutGrowth(tables, s.Newest) {
		keys, err := growingOf(ctx, st, at, s.Newest)
		if err != nil {
			return err
		}
		s.Views.SetGrowing(at, s.Newest, keys)
	}
	return nil
}

// warmKeys is how many of the highest warm keys are tried for the growing keys of
// a view.
const warmKeys = 25

// growingOf returns the warm keys of a target with a forecast.
func growingOf(ctx context.Context, st findingStore, at sample.Target, newest int64) ([]detect.GrowingKey, error) {
	warm, err := st.WarmKeys(ctx, at, verdict.ForecastFrom(newest), warmKeys)
	if err != nil {
		return nil, err
	}
	var keys []detect.GrowingKey
	for _, k := range warm {
		if len(keys) == growth.Listed {
			break
		}
		rows, err := st.HourPeaks(ctx, at, k.Hash, verdict.ForecastFrom(newest))
		if err != nil {
			return nil, err
		}
		most := sketch.Load{Write: sample.Milli(k.WriteMilli), Read: sample.Milli(k.ReadMilli)}
		if f := verdict.Foresee(rows, growth.Kind(at.Index, most), newest); f != nil {
			keys = append(keys, growth.Key(sample.Key{Type: k.KeyType, Text: k.Key}, most, f))
		}
	}
	return keys, nil
}

// loadUnresolved loads the stored findings that are not resolved.
func loadUnresolved(ctx context.Context, st findingStore) ([]detect.Finding, error) {
	var all []detect.Finding
	for _, state := range []detect.State{detect.Firing, detect.Pending} {
		rows, err := st.Findings(ctx, store.FindingQuery{State: string(state), Limit: verdict.MaxKnown})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			f, err := detect.ReadFinding(row.Document)
			if err != nil {
				return nil, fmt.Errorf("stored finding %s: %w", row.Fingerprint, err)
			}
			all = append(all, f)
		}
	}
	return all, nil
}

// loadGroups loads the groups of incidents that receivers are told of.
func loadGroups(ctx context.Context, st findingStore, s *verdict.State, now time.Time) error {
	rows, err := st.Groups(ctx)
	if err != nil || len(rows) == 0 {
		return err
	}
	return s.SetGroups(rows, now)
}

// loadFiring loads the stored incidents that fire, with their roots.
func loadFiring(ctx context.Context, st findingStore, s *verdict.State, unresolved []detect.Finding) error {
	rows, err := st.Incidents(ctx, store.IncidentQuery{State: string(detect.Firing), Limit: verdict.MaxKnown})
	if err != nil {
		return err
	}
	var open []verdict.Earlier
	for i := range rows {
		root, err := st.Finding(ctx, rows[i].Root)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		open = append(open, verdict.Earlier{Finding: root, Incident: &rows[i]})
	}
	return s.SetOpen(open, unresolved)
}

// loadRecent loads the windows of targets in the time to replay, which ends with
// each target's newest window, or now where that is ahead, in the order of time.
func loadRecent(ctx context.Context, st windowStore, targets []sample.Target, now time.Time) ([]store.Window, error) {
	var all []store.Window
	for _, at := range targets {
		newest, any, err := st.LastWindow(ctx, at)
		if err != nil {
			return nil, err
		}
		if !any {
			continue
		}
		if newest.After(now) {
			newest = now
		}
		rows, err := st.Windows(ctx, store.WindowQuery{
			Target: at, From: newest.Add(-verdict.Replay), To: newest.Add(time.Second), Limit: int(verdict.Replay/time.Second) + 1,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	slices.SortStableFunc(all, func(a, b store.Window) int { return a.Second.Compare(b.Second) })
	return all, nil
}
