package heatmap

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/store"
)

type identity struct {
	key  sample.Key
	hash uint64
}

type line struct {
	Row
	// group is the sort of row with several keys, and names are their names.
	group group
	names map[string]bool
}

// group is the sort of row: of one key, of the key shards of one, of keys with a prefix.
type group int

const (
	oneKey group = iota
	ofShards
	ofPrefix
)

func (m *Map) layHotter(columns map[int64]*rollup.Rollup) {
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

func (m *Map) lay(columns map[int64]*rollup.Rollup, what string) {
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
func (m *Map) put(lines map[identity]*line, k *rollup.Key, c Cell) {
	id, group := m.rowOf(k)
	l := lines[id]
	if l == nil {
		l = &line{Row: Row{Key: sample.Text(cmp.Or(id.key.Text, k.Key.Text)), KeyType: k.Key.Type, Cut: k.Cut}, group: group, names: make(map[string]bool)}
		lines[id] = l
	}
	if l.Cut && !k.Cut {
		l.Key, l.Cut = sample.Text(k.Key.Text), false
	}
	if l.group != oneKey {
		l.names[k.Key.Text] = true
	}
	l.Sum += c.Sum
	if n := len(l.Cells); n > 0 && l.Cells[n-1].Column == c.Column {
		l.Cells[n-1].join(c)
		return
	}
	l.Cells = append(l.Cells, c)
}

func (m *Map) rowOf(k *rollup.Key) (identity, group) {
	base, shard := baseOf(k.Key.Text)
	prefix := ""
	if m.sort == ByPrefix && k.Key.Type == sample.TypeString {
		prefix = prefixOf(k.Key.Text)
	}
	switch {
	case prefix != "":
		return identity{sample.Key{Type: k.Key.Type, Text: prefix}, prefixGroup}, ofPrefix
	case shard && !k.Cut && m.sort != ByPosition: // each key shard has a position
		return identity{sample.Key{Type: k.Key.Type, Text: base}, shardOf}, ofShards
	case k.Hash != 0: // its text may be cut in some columns
		return identity{hash: k.Hash}, oneKey
	}
	return identity{key: k.Key}, oneKey
}

// prefixOf returns a key's text up to its first separator; empty without one.
func prefixOf(key string) string { return key[:1+strings.IndexAny(key, "#:/|_-.")] }

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

func (m *Map) finish(l *line) Row {
	r := l.Row
	switch {
	case l.group == ofShards && len(l.names) > 1:
		r.Shards = len(l.names)
	case l.group == ofPrefix && len(l.names) > 1:
		r.Keys = len(l.names)
	case l.group != oneKey: // it stands for itself
		for name := range l.names {
			r.Key = sample.Text(name)
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

// The hashes of rows with several keys, which differ from the hash of a key of the same
// text.
const (
	shardOf     = math.MaxUint64
	prefixGroup = math.MaxUint64 - 1
)

// baseOf returns the key behind a key shard's name, if a word in the name marks it: a
// number alone may mean anything.
func baseOf(name string) (string, bool) {
	p, is := shardkey.Parse(name)
	if !is || len(p.Form.Before) < 2 {
		return "", false
	}
	return p.Base + p.Tail, true
}

func (m *Map) cell(column int, k *rollup.Key) Cell {
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

func (m *Map) addRest(columns map[int64]*rollup.Rollup) {
	m.Rest = []*float64{}
	if m.What == Throttled {
		return
	}
	listed := make([]float64, len(m.Seen))
	for _, row := range m.Rows {
		for _, c := range row.Cells {
			listed[c.Column] += c.Sum
		}
	}
	for i, seen := range m.Seen {
		r := columns[m.ColumnTime(i).Unix()]
		switch {
		case r != nil:
			m.Rest = append(m.Rest, new(tenth(max(0, m.amount(r.Total.Load.Write, r.Total.Load.Read)-listed[i]))))
		case seen > 0:
			m.Rest = append(m.Rest, new(0.0))
		default:
			m.Rest = append(m.Rest, nil)
		}
	}
}

// SumRest returns the load in units of everything without a row; nil if it is known for
// no column.
func (m *Map) SumRest() (sum *float64) {
	for _, rest := range m.Rest {
		if rest != nil && sum == nil {
			sum = new(0.0)
		}
		if rest != nil {
			*sum += *rest
		}
	}
	return sum
}

func (m *Map) amount(write, read sample.Milli) float64 {
	switch m.What {
	case Write:
		return detect.Units(write)
	case Read:
		return detect.Units(read)
	}
	return 0
}

func tenth(v float64) float64 { return math.Round(v*10) / 10 }

const maxFindings = 1000

func nameFindings(ctx context.Context, st *store.Store, m *Map) error {
	fingerprints, err := Findings(ctx, st, m.Target)
	for i := range m.Rows {
		m.Rows[i].Finding = fingerprints[m.Rows[i].Key]
	}
	return err
}

// Findings returns the fingerprints of the findings of a target's keys, by key; firing
// ones first.
func Findings(ctx context.Context, st *store.Store, of sample.Target) (map[sample.Text]string, error) {
	found, err := st.FindingHeads(ctx, of, maxFindings)
	fingerprints := make(map[sample.Text]string)
	for _, f := range found {
		for _, key := range namesOf(f.Key) {
			if _, known := fingerprints[key]; !known {
				fingerprints[key] = f.Fingerprint
			}
		}
	}
	return fingerprints, err
}

// namesOf returns the keys of a map that a finding of a key is about.
func namesOf(key sample.Text) []sample.Text {
	names, ref := []sample.Text{key}, detect.KeyRef{Key: key}
	if base, is := baseOf(ref.PartitionKey().Text); is {
		names = append(names, sample.Text(base))
	}
	return names
}
