package sketch

import (
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
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

// windows appends what the second holds, one window a table or index.
func (s *second) windows(to []Window, t *tables) []Window {
	first := len(to)
	place := make(map[uint16]int, len(s.touched))
	for _, table := range s.touched {
		place[table] = len(to)
		total := s.totals[table]
		total.Flushed, total.FlushedAt = s.times.Flushed(table)
		to = append(to, Window{Target: t.names[table], Second: s.at, Total: total, Callers: topOf(&s.callers[table])})
	}
	s.list(to, place)
	worst := s.front.worst()
	for i := range to[first:] {
		to[first+i].bound(worst)
	}
	return to
}

// list appends every candidate to its table's window, Err still a weight in
// Err.Read.
func (s *second) list(to []Window, place map[uint16]int) {
	for i := range s.front.candidates {
		hash := s.front.sets[i/Ways].hash[i%Ways]
		if hash == 0 {
			continue
		}
		c := &s.front.candidates[i]
		w := &to[place[c.table]]
		k := c.keyLoad(hash)
		if c.gather >= 0 {
			k.Evidence = s.gathers[c.gather].sealed()
		}
		k.Retries = s.resends.Sealed(c.resends)
		w.Keys = append(w.Keys, k)
	}
}

func (c *candidate) keyLoad(hash uint64) KeyLoad {
	k := KeyLoad{
		Hash: hash, Requests: c.requests, Low: c.load, Throttled: c.throttled,
		ReadSpread: c.read, WriteSpread: c.write, Draws: c.draws.sealed(),
		Err: Load{Read: sample.Milli(min(c.err, math.MaxInt64))},
	}
	text := c.key
	if len(text) > longKey && c.high() < WarmWeight {
		text, k.Cut = text[:shortKey], true
	}
	k.Key = sample.Key{Type: c.keyType, Text: string(text)}
	return k
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
	slices.SortFunc(w.Keys, byHash)
}

// loadOf returns the most reads, and the most writes, that a weight can stand for;
// writes rounded up.
func loadOf(weight uint64) Load {
	weight = min(weight, math.MaxInt64-2)
	return Load{Read: sample.Milli(weight), Write: sample.Milli((weight + 2) / 3)}
}
