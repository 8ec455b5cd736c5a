package chart

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/shardkey"
	"github.com/keyheat/keyheat/sketch"
)

type identity struct {
	key  sample.Key
	hash uint64
}

// line is a row in the making. shards are the names of the key shards in it; nil for a key
// that is none.
type line struct {
	Row
	shards map[string]bool
}

func (m *Map) layRows(columns map[int64]*rollup.Rollup, what string) {
	m.What, m.Unlisted = what, 0
	m.Unit, m.Limit = limitOf(what)
	lines := make(map[identity]*line)
	for _, begins := range slices.Sorted(maps.Keys(columns)) {
		r := columns[begins]
		column := int((begins - m.From.Unix()) / m.Step)
		m.Unlisted = max(m.Unlisted, m.ofSide(r.Unlisted))
		for i := range r.Keys {
			k := &r.Keys[i]
			if c := m.cell(column, k); c.Value > 0 || c.High > 0 {
				put(lines, k, c)
			}
		}
	}
	m.Rows = make([]Row, 0, len(lines))
	for _, l := range lines {
		m.Rows = append(m.Rows, l.finish(m.Limit))
	}
	slices.SortFunc(m.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Hottest().Value, a.Hottest().Value), cmp.Compare(b.Sum, a.Sum), cmp.Compare(a.Key, b.Key))
	})
}

func (m *Map) ofSide(l sketch.Load) float64 {
	if m.What == Read {
		return detect.Units(l.Read)
	}
	return detect.Units(l.Write)
}

func (m *Map) cell(column int, k *rollup.Key) Cell {
	s := k.Write
	if m.What == Read {
		s = k.Read
	}
	return Cell{
		Column: column, Seconds: k.Seconds, Reasons: k.Reasons,
		Value: detect.Units(s.Max.Value), Low: detect.Units(s.Max.Low), High: detect.Units(s.Max.High),
		Sum: detect.Units(s.Sum), Refused: 100 * detect.Ratio(float64(s.Throttled), float64(s.Sum)),
	}
}

// put adds a key's cell to its line. The cells of a column come one after another.
func put(lines map[identity]*line, k *rollup.Key, c Cell) {
	id := identity{key: k.Key}
	base, shard := baseOf(k.Key.Text)
	shard = shard && !k.Cut
	switch {
	case shard:
		id = identity{sample.Key{Type: k.Key.Type, Text: base}, shardOf}
	case k.Hash != 0: // its text may be cut in some columns
		id = identity{hash: k.Hash}
	}
	l := lines[id]
	if l == nil {
		l = &line{Row: Row{Key: sample.Text(cmp.Or(id.key.Text, k.Key.Text)), KeyType: k.Key.Type, Cut: k.Cut}}
		lines[id] = l
	}
	if l.Cut && !k.Cut {
		l.Key, l.Cut = sample.Text(k.Key.Text), false
	}
	if shard {
		if l.shards == nil {
			l.shards = make(map[string]bool)
		}
		l.shards[k.Key.Text] = true
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

func (l *line) finish(limit float64) Row {
	r := l.Row
	if r.Shards = len(l.shards); r.Shards == 1 { // it stands for itself
		for name := range l.shards {
			r.Key, r.Shards = sample.Text(name), 0
		}
	}
	for i, c := range r.Cells {
		if c.Value > r.Cells[r.highest].Value {
			r.highest = i
		}
		if c.Value > limit {
			r.Over++
		}
	}
	r.Sum = tenth(r.Sum)
	return r
}

// shardOf is the hash of a row of key shards, which differs from the hash of a key of the
// same text.
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

// Names returns the keys of rows that a finding of a key is about.
func Names(key sample.Text) []sample.Text {
	names, ref := []sample.Text{key}, detect.KeyRef{Key: key}
	if base, is := baseOf(ref.PartitionKey().Text); is {
		names = append(names, sample.Text(base))
	}
	return names
}
