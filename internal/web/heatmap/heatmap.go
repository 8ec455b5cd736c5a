// Package heatmap lays out the hot keys of a table or index over time: a row for each
// logical key, a column for each time step. Steps of a second come from the stored
// seconds, longer ones from roll-ups; an open roll-up is made of the levels below it. A
// [Chart] draws the row of one key with its bounds, and a [WhatIf] its key shards. A
// [Trend] is the recent load of a table's hottest key, or of one key, as a small picture.
package heatmap

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// The dimensions of a map.
const (
	Write     = "write"
	Read      = "read"
	Throttled = "throttled"
)

var whats = []string{Write, Read, Throttled}

// The orders of a map's rows: the hottest first, by their keys, the hottest group of keys
// with a common prefix first, and by the keys' positions in the key space.
const (
	ByLoad     = "load"
	ByKey      = "key"
	ByPrefix   = "prefix"
	ByPosition = "position"
)

// sorts lists every order, the default first.
var sorts = []string{ByLoad, ByKey, ByPrefix, ByPosition}

// Bounds of a query.
const (
	// MaxColumns is how many steps a map has at most.
	MaxColumns = 400
	// MaxSpan is the longest time of a map: the longest steps, so many times.
	MaxSpan = MaxColumns * time.Hour
	// minSpan is the shortest.
	minSpan = 10 * time.Second
	// DefaultRows and maxRows are how many keys a map has.
	DefaultRows = 30
	maxRows     = rollup.Keys
)

// Query chooses a map.
type Query struct {
	sample.Target
	Range
	// What is one of whats, or empty for writes or reads, whichever are hotter.
	What string
	// Sort is one of sorts; empty for the first.
	Sort string
	Rows int
	// Partitions are the table's; nil if no ranges of them are claimed.
	Partitions *partition.Map
}

// Map is a heatmap in the API's form.
type Map struct {
	sample.Target
	What string `json:"what"`
	// Unit is the cells' unit, WCU, RCU or %, and Limit a partition's limit in a second.
	Unit  string  `json:"unit"`
	Limit float64 `json:"limit"`
	// From is the beginning of the first column and To the end of the last one; each is
	// Step seconds.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Step int64     `json:"step"`
	// Seen is the number of whole counted seconds of each column. A column with fewer
	// than Step may have had more load than it shows.
	Seen []int64 `json:"seen"`
	// Rows are the keys with any such load, the hottest first: by the highest cell, then
	// by the sum. More is how many keys are not listed.
	Rows []Row `json:"rows"`
	More int   `json:"more"`
	// Unlisted is the most that a key without a row can have had in one second.
	Unlisted float64 `json:"unlisted"`
	// Rest is the load in each column of everything without a row, in units; null where
	// it is not known. It is an upper bound, because sums are lower bounds. A map of
	// throttling has none.
	Rest []*float64 `json:"rest"`
	// Reasons are the words of the bits in cells.
	Reasons []string `json:"reasons"`
	// Partitions are the rows of a map by position, joined by their partitions; empty
	// otherwise, and if no ranges of partitions are claimed.
	Partitions []Band `json:"partitions"`

	// Total is the load of the table or index, and Seconds how many seconds it is of.
	Total   rollup.Total `json:"-"`
	Seconds int64        `json:"-"`

	sort string
}

// Row is a logical key: the shards of one key together.
type Row struct {
	Key     sample.Text `json:"key"`
	KeyType string      `json:"key_type"`
	// Cut reports that only the key's beginning is stored.
	Cut bool `json:"cut"`
	// Shards is how many shards of the key are in the row; 0 for a key that has none.
	Shards int `json:"shards"`
	// Keys is how many keys with a common prefix are in the row, of which the hottest
	// counts; 0 for a row of one key.
	Keys int `json:"keys"`
	// Finding is the fingerprint of the key's finding; empty without one.
	Finding string `json:"finding"`
	// Sum is all that the key asked for in this time, in units.
	Sum float64 `json:"sum"`
	// Over is how many cells are over the limit.
	Over int `json:"over"`
	// Cells are the cells with load, in the order of time.
	Cells []Cell `json:"cells"`

	highest int
}

// Cell is a key's heat in a column. In JSON it is a list of numbers: column, value, low,
// high, sum, refused, seconds, reasons.
type Cell struct {
	Column int
	// Value is the highest second, of the hottest shard, and Low and High its bounds; on
	// a map of throttling, the refused share in percent.
	Value, Low, High float64
	// Sum is all that was asked for, in units, and Refused the share in percent of it
	// that was throttled.
	Sum, Refused float64
	// Seconds is in how many seconds the key had load.
	Seconds int64
	// Reasons has a bit for each of [Map.Reasons].
	Reasons rollup.Reasons
}

// MarshalJSON implements json.Marshaler.
func (c Cell) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "[%d,%g,%g,%g,%g,%g,%d,%d]",
		c.Column, tenth(c.Value), tenth(c.Low), tenth(c.High), tenth(c.Sum), tenth(c.Refused), c.Seconds, c.Reasons), nil
}

// Hottest returns the row's highest cell.
func (r *Row) Hottest() Cell { return r.Cells[r.highest] }

// Hottest returns the row with the highest cell; nil without rows.
func (m *Map) Hottest() (hottest *Row) {
	for i := range m.Rows {
		if r := &m.Rows[i]; hottest == nil || r.Hottest().Value > hottest.Hottest().Value {
			hottest = r
		}
	}
	return hottest
}

// ColumnTime returns the beginning of a column.
func (m *Map) ColumnTime(column int) time.Time {
	return m.From.Add(time.Duration(int64(column)*m.Step) * time.Second)
}

// Load returns the map that a query chooses.
func Load(ctx context.Context, st *store.Store, q Query) (*Map, error) {
	m, columns, err := load(ctx, st, q)
	if err != nil {
		return nil, err
	}
	m.sort = q.Sort
	if q.What == "" {
		m.layHotter(columns)
	} else {
		m.lay(columns, q.What)
	}
	if m.More = len(m.Rows) - q.Rows; m.More > 0 {
		m.Rows = m.Rows[:q.Rows]
	}
	m.More = max(0, m.More)
	m.addRest(columns)
	switch q.Sort {
	case ByKey:
		slices.SortFunc(m.Rows, func(a, b Row) int { return cmp.Compare(a.Key, b.Key) })
	case ByPosition:
		m.orderByPosition(q.Partitions)
	}
	return m, nameFindings(ctx, st, m)
}

// loadKey returns the map of one key alone, as writes or reads; without a row where the
// key had no load worth one. A shard stands for itself.
func loadKey(ctx context.Context, st *store.Store, q Query, key sample.Key) (*Map, error) {
	m, columns, err := load(ctx, st, q)
	if err != nil {
		return nil, err
	}
	for _, r := range columns {
		r.Keys = slices.DeleteFunc(r.Keys, func(k rollup.Key) bool {
			same := k.Key == key || k.Cut && k.Key.Type == key.Type && strings.HasPrefix(key.Text, k.Key.Text)
			return !same
		})
	}
	m.lay(columns, q.What)
	return m, nil
}

// load returns a map without rows, and the roll-ups of its rows.
func load(ctx context.Context, st *store.Store, q Query) (m *Map, columns map[int64]*rollup.Rollup, err error) {
	m = &Map{Target: q.Target, Reasons: rollup.Reasons(1<<sample.ThrottleReasons - 1).Words(), Partitions: []Band{}}
	k, err := loadKept(ctx, st, q)
	if err != nil {
		return nil, nil, err
	}
	step := k.chooseStep(q)
	from := step.Begin(q.From.Unix())
	to := step.Begin(q.To.Unix()-1) + int64(step)
	m.Step, m.From, m.To = int64(step), time.Unix(from, 0).UTC(), time.Unix(to, 0).UTC()
	l := loader{st, q.Target, k.end}
	if columns, err = l.load(ctx, step, from, to); err != nil {
		return nil, nil, err
	}
	for _, r := range columns {
		m.Total = m.Total.Plus(r.Total)
		m.Seconds += r.Seconds
	}
	m.Seen, err = l.seenSeconds(ctx, m, columns)
	counted := int64(0)
	for _, n := range m.Seen {
		counted += n
	}
	m.Seconds = max(m.Seconds, counted)
	return m, columns, err
}

type kept struct {
	// first is the first of each level; of 1, the seconds, from an hour before the query
	// on. end is the end of the last.
	first map[rollup.Level]time.Time
	end   int64
}

func loadKept(ctx context.Context, st *store.Store, q Query) (k kept, err error) {
	spans, err := st.RollupSpans(ctx, &q.Target, rollup.Lengths)
	if err != nil {
		return k, err
	}
	k.first = make(map[rollup.Level]time.Time)
	for _, s := range spans {
		k.first[rollup.Level(s.Level)] = s.First
		if s.Level == int64(rollup.TenSeconds) {
			k.end = s.Newest.Unix() + s.Level
		}
	}
	last, any, err := st.LastWindow(ctx, q.Target)
	if err != nil || !any {
		return k, err
	}
	k.end = max(k.end, last.Unix()+1)
	rows, err := st.Windows(ctx, store.WindowQuery{Target: q.Target, From: q.From.Add(-time.Hour), Limit: 1})
	if len(rows) > 0 {
		k.first[1] = rows[0].Second
	}
	return k, err
}

// chooseStep returns the shortest step that has no more than MaxColumns, and whose data
// of the query's time are not pruned: pruned data would look cold.
func (k kept) chooseStep(q Query) rollup.Level {
	var fitting []rollup.Level
	for _, l := range append([]rollup.Level{1}, rollup.Levels...) {
		if q.To.Sub(q.From) <= MaxColumns*l.Duration() {
			fitting = append(fitting, l)
		}
	}
	for _, l := range fitting {
		if k.reaches(l, q.From) {
			return l
		}
	}
	for _, l := range slices.Backward(fitting) {
		if _, any := k.first[l]; any {
			return l
		}
	}
	return fitting[0]
}

// reaches reports whether the stored data of a level reach back to a time, or to the
// beginning of all.
func (k kept) reaches(l rollup.Level, from time.Time) bool {
	first, any := k.first[l]
	if !any || !first.After(from) {
		return any
	}
	for _, above := range rollup.Levels {
		if begins, any := k.first[above]; any && above > l && !first.Before(begins.Add(above.Duration())) {
			return false
		}
	}
	return true
}

// loader loads the roll-ups of a target. end is the end of the stored data.
type loader struct {
	*store.Store
	target sample.Target
	end    int64
}

// load returns the roll-ups of a level from one second to another, by their beginning.
func (l loader) load(ctx context.Context, step rollup.Level, from, to int64) (map[int64]*rollup.Rollup, error) {
	if step == 1 {
		return l.seconds(ctx, from, to)
	}
	rows, err := l.Rollups(ctx, store.RollupQuery{
		Target: l.target, Level: int64(step), From: time.Unix(from, 0), To: time.Unix(to, 0), Limit: MaxColumns + 1,
	})
	if err != nil {
		return nil, err
	}
	all := make(map[int64]*rollup.Rollup, len(rows))
	next := from
	for _, row := range rows {
		r := new(rollup.Rollup)
		if err := r.UnmarshalBinary(row.Body); err != nil {
			return nil, fmt.Errorf("stored roll-up of %s at %s: %w", l.target.Name(), row.Begins, err)
		}
		all[row.Begins.Unix()] = r
		next = row.Begins.Unix() + int64(step)
	}
	to = min(to, l.end)
	return all, l.addUnfinished(ctx, step, max(next, step.Begin(to)-behind*int64(step)), to, all)
}

// behind is the number of newest steps for which lower levels are read.
const behind = 40

// addUnfinished adds the newest buckets from the levels below, because a bucket is
// written only when it is over.
func (l loader) addUnfinished(ctx context.Context, step rollup.Level, from, to int64, all map[int64]*rollup.Rollup) error {
	if from >= to {
		return nil
	}
	parts, err := l.load(ctx, step.PartLevel(), from, to)
	if err != nil {
		return err
	}
	for begins := from; begins < to; begins += int64(step.PartLevel()) {
		part := parts[begins]
		if part == nil {
			continue
		}
		at := step.Begin(begins)
		if all[at] == nil {
			all[at] = new(rollup.Rollup)
		}
		all[at].Add(part)
	}
	return nil
}

func (l loader) seconds(ctx context.Context, from, to int64) (map[int64]*rollup.Rollup, error) {
	rows, err := l.Windows(ctx, store.WindowQuery{Target: l.target, From: time.Unix(from, 0), To: time.Unix(to, 0)})
	if err != nil {
		return nil, err
	}
	all := make(map[int64]*rollup.Rollup, len(rows))
	for _, row := range rows {
		var w sketch.Window
		if err := w.UnmarshalBinary(row.Body); err != nil {
			return nil, fmt.Errorf("stored window of %s at %s: %w", l.target.Name(), row.Second, err)
		}
		all[row.Second.Unix()] = rollup.OfSecond(&w, row.Complete)
	}
	return all, nil
}
