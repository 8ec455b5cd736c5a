package chart

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// The dimensions of a map.
const (
	Write = "write"
	Read  = "read"
)

// Map is the heatmap of a table or index, in the API's form: a row for each logical key, a
// column for each step of time.
type Map struct {
	sample.Target
	What string `json:"what"`
	// Unit is the cells' unit, WCU or RCU, and Limit a partition's limit in a second.
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
	// it is not known. It is an upper bound, because sums are lower bounds.
	Rest []*float64 `json:"rest"`
	// Reasons are the words of the bits in cells.
	Reasons []string `json:"reasons"`

	// Total is the load of the table or index, and Seconds how many seconds it is of.
	Total   rollup.Total `json:"-"`
	Seconds int64        `json:"-"`
}

// Row is a logical key: the shards of one key together.
type Row struct {
	Key     sample.Text `json:"key"`
	KeyType string      `json:"key_type"`
	// Cut reports that only the key's beginning is stored.
	Cut bool `json:"cut"`
	// Shards is how many shards of the key are in the row; 0 for a key that has none.
	Shards int `json:"shards"`
	// Finding is the fingerprint of the key's finding; empty without one.
	Finding string `json:"finding"`
	// Sum is all that the key asked for in this time, in units.
	Sum float64 `json:"sum"`
	// Over is how many cells are over the limit.
	Over int `json:"over"`
	// Cells are the cells with load, in the order of time.
	Cells []Cell `json:"cells"`

	highest int
	// shards are the names of the key shards in the row.
	shards map[string]bool
}

// Cell is a key's heat in a column. In JSON it is a list of numbers: column, value, low,
// high, sum, refused, seconds, reasons.
type Cell struct {
	Column int
	// Value is the highest second, of the hottest shard, and Low and High its bounds.
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

// NewMap returns a map without rows.
func NewMap(of sample.Target, step rollup.Level, from, to int64) *Map {
	return &Map{
		Target: of, Step: int64(step), From: time.Unix(from, 0).UTC(), To: time.Unix(to, 0).UTC(),
		Reasons: rollup.Reasons(1<<sample.ThrottleReasons - 1).Words(),
	}
}

// Lay fills the rows, at most so many, from the loads of the columns by their beginning.
// what is Write or Read; empty for whichever is hotter.
func (m *Map) Lay(columns map[int64]*rollup.Rollup, what string, rows int) {
	m.layRows(columns, cmp.Or(what, hotterSide(columns)))
	if m.More = max(0, len(m.Rows)-rows); m.More > 0 {
		m.Rows = m.Rows[:rows]
	}
	m.addRest(columns)
}

func hotterSide(columns map[int64]*rollup.Rollup) string {
	var hottest rollup.Key
	for _, r := range columns {
		for i := range r.Keys {
			if r.Keys[i].Utilization() > hottest.Utilization() {
				hottest = r.Keys[i]
			}
		}
	}
	if hottest.Writes() {
		return Write
	}
	return Read
}

// Hottest returns the row's highest cell.
func (r *Row) Hottest() Cell { return r.Cells[r.highest] }

// Peak returns the highest value of a row, as a share of the limit.
func (m *Map) Peak(row int) float64 { return m.Rows[row].Hottest().Value / m.Limit }

// ColumnTime returns the beginning of a column.
func (m *Map) ColumnTime(column int) time.Time {
	return m.From.Add(time.Duration(int64(column)*m.Step) * time.Second)
}

func (m *Map) addRest(columns map[int64]*rollup.Rollup) {
	listed := make([]float64, len(m.Seen))
	for _, row := range m.Rows {
		for _, c := range row.Cells {
			listed[c.Column] += c.Sum
		}
	}
	m.Rest = make([]*float64, len(m.Seen))
	for i, seen := range m.Seen {
		if r := columns[m.ColumnTime(i).Unix()]; r != nil {
			m.Rest[i] = new(tenth(max(0, m.ofSide(r.Total.Load)-listed[i])))
		} else if seen > 0 {
			m.Rest[i] = new(0.0)
		}
	}
}

// restRate is the load of everything without a row in a counted second of a column.
func (m *Map) restRate(column int) float64 {
	if m.Rest[column] == nil {
		return 0
	}
	return *m.Rest[column] / float64(max(m.Seen[column], 1))
}

// RestPeak returns the highest load of everything without a row, in units a second.
func (m *Map) RestPeak() (most float64) {
	for n := range m.Rest {
		most = max(most, m.restRate(n))
	}
	return most
}

func tenth(v float64) float64 { return math.Round(v*10) / 10 }

// side returns the value of a map's dimension.
func side[T any](what string, write, read T) T {
	if what == Read {
		return read
	}
	return write
}

// ofSide returns the units of a load in the map's dimension.
func (m *Map) ofSide(l sketch.Load) float64 { return detect.Units(side(m.What, l.Write, l.Read)) }
