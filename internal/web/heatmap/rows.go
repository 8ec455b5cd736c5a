package heatmap

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge/heat"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/store"
)

// identity is the key of a row.
type identity struct {
	key  sample.Key
	hash uint64
}

// line is a row that is being laid.
type line struct {
	Row
	// shard reports that the row is about key shards, and names are their names.
	shard bool
	names map[string]bool
}

// layHotter makes the rows of writes or reads.
func (m *Map) layHotter(columns map[int64]*heat.Rollup) {
	utilization := func() float64 {
		if len(m.Rows) == 0 {
			return 0
		}
		return m.Rows[0].Hottest().Value / m.Limit
	}
	m.lay(columns, Read)
	if reads := utilization(); reads > 0 {
		if m.lay(columns, Write); utilization() >= reads {
			return
		}
		m.lay(columns, Read)
		return
	}
	m.lay(columns, Write)
}

// lay makes the rows of the columns' keys.
func (m *Map) lay(columns map[int64]*heat.Rollup, what string) {
	m.What, m.Unit, m.Limit, m.Unlisted = what, "WCU", detect.Units(detect.PartitionWrite), 0
	switch what {
	case Read:
		m.Unit, m.Limit = "RCU", detect.Units(detect.PartitionRead)
	case Throttled:
		m.Unit, m.Limit = "%", 100
	}
	lines := make(map[identity]*line)
	for _, begins := range slices.Sorted(maps.Keys(columns)) {
		r := columns[begins]
		column := int((begins - m.From.Unix()) / m.Step)
		m.Unlisted = max(m.Unlisted, m.amount(r.Unlisted.Write, r.Unlisted.Read))
		for i := range r.Keys {
			k := &r.Keys[i]
			if c := m.cell(column, k); c.Value > 0 || c.High > 0 && m.What != Throttled {
				m.put(lines, k, c)
			}
		}
	}
	m.Rows = make([]Row, 0, len(lines))
	for _, l := range lines {
		m.Rows = append(m.Rows, m.finish(l))
	}
	slices.SortFunc(m.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Hottest().Value, a.Hottest().Value), cmp.Compare(b.Sum, a.Sum), cmp.Compare(a.Key, b.Key))
	})
}

// put adds a key's cell to its line. The cells of a column come one after another.
func (m *Map) put(lines map[identity]*line, k *heat.Key, c Cell) {
	id := identity{key: k.Key}
	base, shard := baseOf(k.Key.Text)
	switch {
	case shard && !k.Cut:
		id = identity{sample.Key{Type: k.Key.Type, Text: base}, shardOf}
	case k.Hash != 0: // its text may be cut in some columns
		id = identity{hash: k.Hash}
	}
	l := lines[id]
	if l == nil {
		l = &line{Row: Row{Key: cmp.Or(id.key.Text, k.Key.Text), KeyType: k.Key.Type, Cut: k.Cut}, shard: id.hash == shardOf, names: make(map[string]bool)}
		lines[id] = l
	}
	if l.Cut && !k.Cut {
		l.Key, l.Cut = k.Key.Text, false
	}
	if l.shard {
		l.names[k.Key.Text] = true
	}
	l.Sum += c.Sum
	if n := len(l.Cells); n > 0 && l.Cells[n-1].Column == c.Column {
		l.Cells[n-1].join(c)
		return
	}
	l.Cells = append(l.Cells, c)
}

// join adds another shard's cell: the hotter one's value counts.
func (c *Cell) join(o Cell) {
	if sum := c.Sum + o.Sum; sum > 0 {
		c.Refused = (c.Refused*c.Sum + o.Refused*o.Sum) / sum
	}
	c.Value, c.Low, c.High = max(c.Value, o.Value), max(c.Low, o.Low), max(c.High, o.High)
	c.Sum += o.Sum
	c.Seconds = max(c.Seconds, o.Seconds)
	c.Reasons |= o.Reasons
}

// finish returns the row of a line.
func (m *Map) finish(l *line) Row {
	r := l.Row
	switch {
	case l.shard && len(l.names) > 1:
		r.Shards = len(l.names)
	case l.shard: // it stands for itself
		for name := range l.names {
			r.Key = name
		}
	}
	for i, c := range r.Cells {
		if c.Value > r.Cells[r.highest].Value {
			r.highest = i
		}
		if c.Value > m.Limit {
			r.Over++
		}
	}
	r.Sum = tenth(r.Sum)
	return r
}

// shardOf is added to the hash of a row of key shards, so that it differs from the hash
// of the key without shards.
const shardOf = math.MaxUint64

// baseOf returns the key behind a key shard's name, if a word in the name marks it: a
// number alone may mean anything.
func baseOf(name string) (string, bool) {
	p, is := shardkey.Parse(name)
	if !is || len(p.Form.Before) < 2 {
		return "", false
	}
	return p.Base + p.Tail, true
}

// cell returns a key's cell in the map's dimension.
func (m *Map) cell(column int, k *heat.Key) Cell {
	c := Cell{Column: column, Seconds: k.Seconds, Reasons: k.Reasons}
	s := k.Write
	switch m.What {
	case Read:
		s = k.Read
	case Throttled:
		weigh := func(write, read sample.Milli) float64 {
			return detect.Units(detect.WritesInReads*write+read) / detect.WritesInReads
		}
		c.Sum = weigh(k.Write.Sum, k.Read.Sum)
		c.Refused = 100 * detect.Ratio(weigh(k.Write.Throttled, k.Read.Throttled), c.Sum)
		c.Value, c.Low, c.High = c.Refused, c.Refused, c.Refused
		return c
	}
	c.Value, c.Low, c.High = detect.Units(s.Max.Value), detect.Units(s.Max.Low), detect.Units(s.Max.High)
	c.Sum, c.Refused = detect.Units(s.Sum), 100*detect.Ratio(float64(s.Throttled), float64(s.Sum))
	return c
}

// amount returns the side that the map shows, in units.
func (m *Map) amount(write, read sample.Milli) float64 {
	switch m.What {
	case Write:
		return detect.Units(write)
	case Read:
		return detect.Units(read)
	}
	return 0
}

// tenth rounds to a tenth.
func tenth(v float64) float64 { return math.Round(v*10) / 10 }

// maxFindings bounds the findings that rows are looked for in.
const maxFindings = 1000

// nameFindings links rows to the findings of their keys.
func nameFindings(ctx context.Context, st Store, m *Map) error {
	fingerprints, err := Findings(ctx, st, m.Target)
	for i := range m.Rows {
		m.Rows[i].Finding = fingerprints[m.Rows[i].Key]
	}
	return err
}

// Findings returns the fingerprints of the findings of a target's keys, by key; firing
// ones first.
func Findings(ctx context.Context, st Store, of sample.Target) (map[string]string, error) {
	found, err := st.Findings(ctx, store.FindingQuery{Account: of.Account, Region: of.Region, Table: of.Table, Limit: maxFindings})
	if err != nil {
		return nil, err
	}
	firing := func(f store.Finding) int {
		return map[bool]int{true: 0, false: 1}[f.State == string(detect.Firing)]
	}
	slices.SortStableFunc(found, func(a, b store.Finding) int { return cmp.Compare(firing(a), firing(b)) })
	fingerprints := make(map[string]string)
	for _, f := range found {
		for _, key := range namesOf(f) {
			if _, known := fingerprints[key]; !known && f.Target == of {
				fingerprints[key] = f.Fingerprint
			}
		}
	}
	return fingerprints, nil
}

// namesOf returns the keys of a map that a finding is about.
func namesOf(f store.Finding) []string {
	names := []string{f.Key}
	if base, is := baseOf(f.Key); is {
		names = append(names, base)
	}
	return names
}
