// Package partitions is a table's partitions as a value for pages, reports and the API: the
// judge's map of them, and what each carried in a minute.
package partitions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// ErrNoMap is the error for a table of whose partitions nothing is known.
var ErrNoMap = errors.New("nothing is known of this table's partitions: a collector has to read its stream")

// Span is the time of which each partition's highest second is shown.
const Span = time.Minute

// Store holds the maps and the seconds; *store.Store has it.
type Store interface {
	PartitionMaps(ctx context.Context) ([]store.TargetDocument, error)
	Windows(ctx context.Context, q store.WindowQuery) ([]store.Window, error)
}

// Table is a table's partitions.
type Table struct {
	partition.View
	// From and To bound the seconds of the partitions' loads; null if no second is stored.
	From *time.Time `json:"from"`
	To   *time.Time `json:"to"`
	// Updated is when the map changed last.
	Updated time.Time `json:"updated"`
	// Walk is load that walks through the key space; null for none.
	Walk *detect.Walk `json:"walk"`
}

// List returns the tables that have a map, without their loads, or the named table as Load
// does.
func List(ctx context.Context, st *store.Store, at sample.Target, now time.Time) ([]Table, error) {
	if at.Table != "" {
		t, err := Load(ctx, st, at, now, nil)
		if err != nil {
			return nil, err
		}
		return []Table{*t}, nil
	}
	rows, err := st.PartitionMaps(ctx)
	if err != nil {
		return nil, err
	}
	walks, err := loadWalks(ctx, st)
	if err != nil {
		return nil, err
	}
	all := []Table{}
	for _, row := range rows {
		if m, err := read(row); err == nil { // the judge begins others anew
			t := newTable(row, m, now)
			t.Walk = walks[row.Target]
			all = append(all, t)
		}
	}
	return all, nil
}

func loadWalks(ctx context.Context, st *store.Store) (map[sample.Target]*detect.Walk, error) {
	rows, err := st.TableViews(ctx)
	if err != nil {
		return nil, err
	}
	walks := map[sample.Target]*detect.Walk{}
	for _, row := range rows {
		var t detect.Table
		if err := json.Unmarshal(row.Document, &t); err == nil { // the judge writes others anew
			t.DropPast(time.Now())
			walks[row.Target] = t.Walk
		}
	}
	return walks, nil
}

// Load returns the partitions of the first table of this name with a map, and what they
// carried in the newest minute, or in the one that ends when choose says. An empty account
// or Region matches any. The error is ErrNoMap if no such table has a map.
func Load(ctx context.Context, st *store.Store, at sample.Target, now time.Time, choose func(sample.Target) (time.Time, error)) (*Table, error) {
	rows, err := st.PartitionMaps(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rows, func(r store.TargetDocument) bool {
		return r.Table == at.Table && (at.Account == "" || r.Account == at.Account) && (at.Region == "" || r.Region == at.Region)
	})
	if i < 0 {
		return nil, ErrNoMap
	}
	m, err := read(rows[i])
	if err != nil {
		return nil, err
	}
	walks, err := loadWalks(ctx, st)
	if err != nil {
		return nil, err
	}
	t := newTable(rows[i], m, now)
	t.Walk = walks[rows[i].Target]
	if !t.State.IsKnown() { // where a key lies is not known
		return &t, nil
	}
	if choose != nil {
		end, err := choose(t.Target)
		if err != nil {
			return nil, err
		}
		return &t, t.addLoads(ctx, st, m, end)
	}
	last, stored, err := st.LastWindow(ctx, t.Target)
	if err != nil || !stored {
		return &t, err
	}
	return &t, t.addLoads(ctx, st, m, last.Add(time.Second))
}

// ListClaimed returns the tables whose ranges are claimed, with what the partitions carried in
// the last minute of a period.
func ListClaimed(ctx context.Context, st Store, end, now time.Time, covers func(sample.Target) bool) ([]partition.View, error) {
	rows, err := st.PartitionMaps(ctx)
	if err != nil {
		return nil, err
	}
	var all []partition.View
	for _, row := range rows {
		if !covers(row.Target) {
			continue
		}
		m, err := read(row)
		if err != nil || !m.State(now).Claims() {
			continue
		}
		t := newTable(row, m, now)
		if err := t.addLoads(ctx, st, m, end); err != nil {
			return nil, err
		}
		all = append(all, t.View)
	}
	return all, nil
}

func read(row store.TargetDocument) (*partition.Map, error) {
	m := &partition.Map{}
	if err := json.Unmarshal(row.Document, m); err != nil {
		return nil, fmt.Errorf("the partitions of %s: %w", row.Name(), err)
	}
	return m, nil
}

func newTable(row store.TargetDocument, m *partition.Map, now time.Time) Table {
	return Table{View: m.View(row.Target, now), Updated: row.Updated}
}

// addLoads measures the stored seconds before a time.
func (t *Table) addLoads(ctx context.Context, st Store, m *partition.Map, to time.Time) error {
	from := to.Add(-Span)
	rows, err := st.Windows(ctx, store.WindowQuery{Target: t.Target, From: from, To: to})
	if err != nil {
		return err
	}
	seconds := make([]sketch.Window, len(rows))
	for i, row := range rows {
		if err := seconds[i].UnmarshalBinary(row.Body); err != nil {
			return fmt.Errorf("the second %s of %s: %w", row.Second, t.Name(), err)
		}
	}
	if len(seconds) > 0 {
		t.Partitions, t.From, t.To = m.Carry(seconds), &from, &to
	}
	return nil
}

// KeysSeen is how many distinct keys were seen, at least.
func (t *Table) KeysSeen() int64 { return int64(t.Keys) }
