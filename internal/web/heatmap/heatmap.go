// Package heatmap reads the heat of tables and indexes from the store, for the pages and the
// API: a map of a table's keys, the load of one key, and the recent load of many. Steps of a
// second come from the stored seconds, longer ones from roll-ups; an open roll-up is made of
// the levels below it. Package chart lays the loads out and draws them.
package heatmap

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Bounds of a query.
const (
	// MaxColumns is how many steps a map has at most: of the longest steps, [address.MaxSpan].
	MaxColumns = 400
	// DefaultRows and maxRows are how many keys a map has.
	DefaultRows = 30
	maxRows     = rollup.Keys
)

// Query chooses a map.
type Query struct {
	sample.Target
	address.Range
	// What is chart.Write or chart.Read; empty for whichever is hotter.
	What string
	Rows int
}

// Load returns the map that a query chooses.
func Load(ctx context.Context, st *store.Store, q Query) (*chart.Map, error) {
	m, columns, err := load(ctx, st, q)
	if err != nil {
		return nil, err
	}
	m.Lay(columns, q.What, q.Rows)
	fingerprints, err := Findings(ctx, st, m.Target)
	for i := range m.Rows {
		m.Rows[i].Finding = fingerprints[m.Rows[i].Key]
	}
	return m, err
}

// loadKey returns the map of one key alone, as writes or reads; without a row where the
// key had no load worth one. A shard stands for itself.
func loadKey(ctx context.Context, st *store.Store, q Query, key sample.Key) (*chart.Map, error) {
	m, columns, err := load(ctx, st, q)
	if err != nil {
		return nil, err
	}
	for _, r := range columns {
		r.Keys = slices.DeleteFunc(r.Keys, func(k rollup.Key) bool { return !isOf(&k, key) })
	}
	m.Lay(columns, q.What, 1)
	return m, nil
}

// isOf reports whether a listed key is this one, as far as its text is stored.
func isOf(k *rollup.Key, key sample.Key) bool {
	return k.Key == key || k.Cut && k.Key.Type == key.Type && strings.HasPrefix(key.Text, k.Key.Text)
}

// load returns a map without rows, and the roll-ups of its rows.
func load(ctx context.Context, st *store.Store, q Query) (m *chart.Map, columns loads, err error) {
	k, err := loadKept(ctx, st, q)
	if err != nil {
		return nil, nil, err
	}
	step := k.chooseStep(append([]rollup.Level{1}, rollup.Levels...), q.Range, MaxColumns)
	from, to := step.Begin(q.From.Unix()), step.Begin(q.To.Unix()-1)+int64(step)
	m = chart.NewMap(q.Target, step, from, to)
	l := loader{Store: st, of: []sample.Target{q.Target}, end: k.end, lowest: 1, read: readWhole}
	all, err := l.load(ctx, step, from, to)
	if err != nil {
		return nil, nil, err
	}
	columns = all[q.Target]
	for _, r := range columns {
		m.Total = m.Total.Plus(r.Total)
		m.Seconds += r.Seconds
	}
	m.Seen, err = seenSeconds(ctx, st, m, columns)
	counted := int64(0)
	for _, n := range m.Seen {
		counted += n
	}
	m.Seconds = max(m.Seconds, counted)
	return m, columns, err
}

// shortest is how long a range is at least that no address chooses.
const shortest = 5 * time.Minute

// LatestRange returns the newest hour in which a table or index has data, or less if its
// data begin later. It ends now if the last hour has any.
func LatestRange(ctx context.Context, st *store.Store, of sample.Target, now time.Time) (address.Range, error) {
	r := address.LastHour(now)
	k, err := loadKept(ctx, st, Query{Target: of, Range: r})
	if err != nil || k.end == 0 {
		return r, err
	}
	if end := time.Unix(k.end, 0).UTC(); !end.After(r.From) {
		r.From, r.To = end.Add(-time.Hour), end
	}
	first, level := k.first[rollup.TenSeconds], rollup.TenSeconds
	if first.IsZero() {
		first, level = k.first[1], 1
	}
	if first.After(r.From) && k.reaches(level, r.From) {
		r.From = first.UTC()
		if begin := r.To.Add(-shortest); r.From.After(begin) {
			r.From = begin
		}
	}
	return r, nil
}

const maxFindings = 1000

// Findings returns the fingerprints of the findings of a target's keys, by key; firing
// ones first.
func Findings(ctx context.Context, st *store.Store, of sample.Target) (map[sample.Text]string, error) {
	found, err := st.FindingHeads(ctx, of, maxFindings)
	fingerprints := make(map[sample.Text]string)
	for _, f := range found {
		for _, key := range chart.Names(f.Key) {
			if _, known := fingerprints[key]; !known {
				fingerprints[key] = f.Fingerprint
			}
		}
	}
	return fingerprints, err
}

// episode is how much of a finding's time a question is answered from: its end. around is
// the time before and after a finding that its chart shows.
const episode, around = 6 * time.Minute, 30 * time.Second

// EpisodeRange returns the finding's own time, with its onset.
func EpisodeRange(f *detect.Finding, now time.Time) address.Range {
	end := f.LastSeen.Add(around).Truncate(time.Second)
	if end.After(now) {
		end = now
	}
	r := address.Range{From: f.FirstSeen.Add(-around), To: end}
	if !r.From.Before(end) { // a clock is ahead
		r.From = end.Add(-episode)
	}
	if earliest := end.Add(-address.MaxSpan); r.From.Before(earliest) && !f.FirstSeen.IsZero() {
		r.From = earliest
	}
	return r
}

// LoadSeconds returns the picture of the load of a finding's key; nil where nothing of the
// time is stored.
func LoadSeconds(ctx context.Context, st *store.Store, f *detect.Finding, r address.Range) (*chart.Seconds, error) {
	if r.From.Unix() < 0 {
		return nil, nil // the finding has no times
	}
	q := Query{Target: f.Target, Range: r, What: detect.SideOf(f, chart.Write, chart.Read)}
	m, err := loadKey(ctx, st, q, f.PartitionKey())
	return chart.NewSeconds(m), err
}
