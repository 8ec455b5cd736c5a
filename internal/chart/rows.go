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
)

type identity struct {
	key  sample.Key
	hash uint64
}

func (m *Map) layRows(columns map[int64]*rollup.Rollup, what string) {
	m.What, m.Unlisted, m.Unit = what, 0, side(what, "WCU", "RCU")
	m.Limit = detect.Units(side(what, detect.PartitionWrite, detect.PartitionRead))
	rows := make(map[identity]*Row)
	for _, begins := range slices.Sorted(maps.Keys(columns)) {
		r := columns[begins]
		column := int((begins - m.From.Unix()) / m.Step)
		m.Unlisted = max(m.Unlisted, m.ofSide(r.Unlisted))
		for i := range r.Keys {
			k := &r.Keys[i]
			if c := m.cell(column, k); c.Value > 0 || c.High > 0 {
				put(rows, k, c)
			}
		}
	}
	m.Rows = make([]Row, 0, len(rows))
	for _, r := range rows {
		r.finish(m.Limit)
		m.Rows = append(m.Rows, *r)
	}
	slices.SortFunc(m.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Hottest().Value, a.Hottest().Value), cmp.Compare(b.Sum, a.Sum), cmp.Compare(a.Key, b.Key))
	})
}

func (m *Map) cell(column int, k *rollup.Key) Cell {
	s := side(m.What, k.Write, k.Read)
	return Cell{
		Column: column, Seconds: k.Seconds, Reasons: k.Reasons,
		Value: detect.Units(s.Max.Value), Low: detect.Units(s.Max.Low), High: detect.Units(s.Max.High),
		Sum: detect.Units(s.Sum), Refused: 100 * detect.Ratio(float64(s.Throttled), float64(s.Sum)),
	}
}

// put adds a key's cell to its row. The cells of a column come one after another.
func put(rows map[identity]*Row, k *rollup.Key, c Cell) {
	id := identity{key: k.Key}
	base, shard := baseOf(k.Key.Text)
	shard = shard && !k.Cut
	switch {
	case shard:
		id = identity{sample.Key{Type: k.Key.Type, Text: base}, shardOf}
	case k.Hash != 0: // its text may be cut in some columns
		id = identity{hash: k.Hash}
	}
	r := rows[id]
	if r == nil {
		r = &Row{Key: sample.Text(cmp.Or(id.key.Text, k.Key.Text)), KeyType: k.Key.Type, Cut: k.Cut, shards: make(map[string]bool)}
		rows[id] = r
	}
	if r.Cut && !k.Cut {
		r.Key, r.Cut = sample.Text(k.Key.Text), false
	}
	if shard {
		r.shards[k.Key.Text] = true
	}
	r.Sum += c.Sum
	if n := len(r.Cells); n > 0 && r.Cells[n-1].Column == c.Column {
		r.Cells[n-1].join(c)
		return
	}
	r.Cells = append(r.Cells, c)
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

// finish sums the row up. A single shard stands for itself.
func (r *Row) finish(limit float64) {
	if r.Shards = len(r.shards); r.Shards == 1 {
		for name := range r.shards {
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
