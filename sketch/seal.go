package sketch

import (
	"math"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/front"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

const (
	// The text of a cold key longer than longKey bytes is cut to shortKey bytes.
	longKey, shortKey = 64, 32
	// WarmWeight is the weight in thousandths from which a key gets evidence and keeps its
	// whole name. It is a tenth of a partition's limit in a second, the load from which the
	// judge follows a key.
	WarmWeight = 300_000
)

// list is memory that sealing reuses.
type list struct {
	candidates front.HashOrder
	tables     []listed
}

// listed counts a table's listed keys and their load. window is the index of the table's
// window, and rest the load of all unlisted keys.
type listed struct {
	keys, window int
	low, rest    Load
}

// windows appends the second's windows, one for each table and index.
func (s *second) windows(to []Window, t *front.Tables, l *list) []Window {
	s.order(l)
	worst := loadOf(s.front.worst())
	for _, table := range s.touched {
		in, sum := &l.tables[table], &s.sums[table]
		in.window = len(to)
		in.rest = Load{sum.Read - sum.Keyless.Read - in.low.Read, sum.Write - sum.Keyless.Write - in.low.Write}
		w := Window{Target: t.Name(table), Second: s.at, Total: sum.Total, Callers: gather.TopOf(&sum.callers), Scanners: gather.TopOf(&sum.scans), Arrivals: s.times.Arrivals(table), Unseen: worst.min(in.rest)}
		if sum.cells != nil {
			w.Cells = s.cells.List(sum.cells)
		}
		if in.keys > 0 {
			w.Keys = make([]KeyLoad, 0, in.keys)
		}
		to = append(to, w)
	}
	s.list(to, l)
	return to
}

// order sorts the candidates by hash, and adds up the candidates of each table.
func (s *second) order(l *list) {
	l.candidates.Clear()
	l.tables = append(l.tables[:0], make([]listed, len(s.sums))...)
	for at := range s.front.candidates {
		c := &s.front.candidates[at]
		if c.hash == 0 { // no key came to this place
			continue
		}
		l.candidates.Add(c.hash, uint32(at))
		in := &l.tables[c.table]
		in.keys++
		in.low = in.low.Plus(c.load)
	}
}

// list appends every candidate to its table's window. No key's count includes the load before
// its admission, so this load is at most the load of all unlisted keys: see the package
// comment.
func (s *second) list(to []Window, l *list) {
	var texts front.TextBlock
	for _, o := range l.candidates.SortedKeys() {
		c := &s.front.candidates[o.At]
		in := &l.tables[c.table]
		w := &to[in.window]
		w.Keys = w.Keys[:len(w.Keys)+1]
		k := &w.Keys[len(w.Keys)-1]
		k.Hash, k.Requests, k.Low, k.Err = o.Hash, c.requests, c.load, loadOf(c.err).min(in.rest)
		if c.detail > 0 {
			d := s.front.detailOf(c)
			k.Throttled, k.ReadSpread, k.WriteSpread, k.Draws = d.throttled, d.read, d.write, d.draws.Seal(c.whole)
			k.Place = d.place
		}
		if c.resends != gather.RetriesNowhere {
			k.Retries = s.resends.Seal(c.resends)
		}
		if c.gather >= 0 {
			k.Evidence = s.gathers[c.gather].seal()
		}
		text := s.front.texts.Bytes(int(o.At), c.text)
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

// loadOf returns the most reads and the most writes that a weight can stand for. It rounds
// writes up.
func loadOf(weight uint64) Load {
	weight = min(weight, math.MaxInt64-2)
	return Load{Read: sample.Milli(weight), Write: sample.Milli((weight + 2) / 3)}
}
