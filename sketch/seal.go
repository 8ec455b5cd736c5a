package sketch

import (
	"cmp"
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/keytext"
	"github.com/keyheat/keyheat/sketch/internal/tables"
)

const (
	// longKey is the length in bytes from which the key of a cold candidate
	// leaves as its beginning; shortKey is how much of it.
	longKey, shortKey = 64, 32
	// WarmWeight is the weight of a key in a second, in thousandths, from which its
	// evidence is gathered and its name kept whole: that of a key which the judge
	// follows, a tenth of what one partition serves.
	WarmWeight = 300_000
)

// list is memory that sealing uses again.
type list struct {
	// order are the places of candidates, by hash.
	order []ordered
	// window is where in the windows that of a table is, keys how many keys it has.
	window, keys []int
}

// ordered is where a candidate is.
type ordered struct {
	hash uint64
	at   uint32
}

// windows appends what the second holds, one window a table or index.
func (s *second) windows(to []Window, t *tables.Tables, l *list) []Window {
	first := len(to)
	s.order(l)
	for _, table := range s.touched {
		l.window[table] = len(to)
		sum := &s.sums[table]
		w := Window{Target: t.Name(table), Second: s.at, Total: sum.Total, Callers: topOf(&sum.callers)}
		w.Total.Flushed, w.Total.FlushedAt = s.times.Flushed(table)
		if n := l.keys[table]; n > 0 {
			w.Keys = make([]KeyLoad, 0, n)
		}
		to = append(to, w)
	}
	s.list(to, l)
	worst := s.front.worst()
	for i := range to[first:] {
		to[first+i].bound(worst)
	}
	return to
}

// order lists the candidates by hash, and counts those of each table.
func (s *second) order(l *list) {
	l.order, l.keys = l.order[:0], append(l.keys[:0], make([]int, len(s.sums))...)
	l.window = append(l.window[:0], l.keys...)
	for _, at := range s.front.used {
		in := &s.front.sets[at]
		for at := in.First; at < in.First+in.Keys; at++ {
			c := &s.front.candidates[at]
			l.order = append(l.order, ordered{c.hash, at})
			l.keys[c.table]++
		}
	}
	slices.SortFunc(l.order, func(a, b ordered) int { return cmp.Compare(a.hash, b.hash) })
}

// list appends every candidate to its table's window, Err still a weight in
// Err.Read.
func (s *second) list(to []Window, l *list) {
	var texts keytext.Block
	for _, o := range l.order {
		c := &s.front.candidates[o.at]
		w := &to[l.window[c.table]]
		w.Keys = w.Keys[:len(w.Keys)+1]
		k := &w.Keys[len(w.Keys)-1]
		k.Hash, k.Requests, k.Low = o.hash, c.requests, c.load
		k.Err.Read = sample.Milli(min(c.err, math.MaxInt64))
		d := s.front.detailOf(c)
		k.Throttled, k.ReadSpread, k.WriteSpread, k.Draws = d.throttled, d.read, d.write, d.draws.sealed(c.whole)
		k.Retries = s.resends.Sealed(c.resends)
		if c.gather >= 0 {
			k.Evidence = s.gathers[c.gather].sealed()
		}
		text := s.front.texts.Of(int(o.at), c.text)
		k.Key.Type = s.front.texts.Type(c.text)
		switch warm := c.high() >= WarmWeight; {
		case warm:
			k.Key.Text = string(text)
		case len(text) > longKey:
			k.Key.Text, k.Cut = texts.String(text[:shortKey]), true
		default:
			k.Key.Text = texts.String(text)
		}
	}
}

// bound turns the weights of admission errors into loads, and sets what an
// unlisted key can have had, given the largest weight that any key outside the
// front can have had: see the package comment.
func (w *Window) bound(worst uint64) {
	rest := Load{w.Total.Read - w.Total.Keyless.Read, w.Total.Write - w.Total.Keyless.Write}
	for i := range w.Keys {
		rest.Read -= w.Keys[i].Low.Read
		rest.Write -= w.Keys[i].Low.Write
	}
	for i := range w.Keys {
		w.Keys[i].Err = loadOf(uint64(w.Keys[i].Err.Read)).min(rest)
	}
	w.Unseen = loadOf(worst).min(rest)
}

// loadOf returns the most reads, and the most writes, that a weight can stand for;
// writes rounded up.
func loadOf(weight uint64) Load {
	weight = min(weight, math.MaxInt64-2)
	return Load{Read: sample.Milli(weight), Write: sample.Milli((weight + 2) / 3)}
}
