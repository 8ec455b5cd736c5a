package sketch

import (
	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/arrival"
	"github.com/keyheat/keyheat/sketch/internal/calls"
	"github.com/keyheat/keyheat/sketch/internal/countmin"
	"github.com/keyheat/keyheat/sketch/internal/draw"
	"github.com/keyheat/keyheat/sketch/internal/resend"
)

// second is the summary of one live event-time second.
type second struct {
	at      int64 // Unix seconds
	live    bool
	front   front
	counts  countmin.Sketch
	totals  []Total // by table number
	callers []texts // by table number
	touched []uint16
	strings map[string]string // key types in use: a handful
	// gathers is the evidence of the first `gathered` keys that earned one.
	gathers  []*gather
	gathered int
	growing  draw.Keys   // that are not warm, and of which evidence is gathered
	calls    calls.Pool  // of the keys whose sampled records name their call
	resends  resend.Pool // of the keys that tell of retries
	times    arrival.Times
	// over are the keys that came over the limit since they were asked for.
	limit Load
	over  []uint64
}

func newSecond(c Config) *second {
	return &second{
		front:   newFront(c.Sets),
		counts:  countmin.New(c.CounterBytes),
		strings: map[string]string{},
		limit:   c.Limit,
	}
}

// total returns the running total of a table, new ones growing the slice.
func (s *second) total(table uint16) *Total {
	for int(table) >= len(s.totals) {
		s.totals = append(s.totals, Total{})
		s.callers = append(s.callers, texts{Most: tableCallersKept})
	}
	t := &s.totals[table]
	if t.Requests == 0 {
		s.touched = append(s.touched, table)
	}
	return t
}

// add counts one record's load under its key's hash. A record without a key (a
// Scan) counts to the table alone.
func (s *second) add(table uint16, hash, seed uint64, r *sample.Record, l Load) {
	throttled := r.Throttle != ""
	t := s.total(table)
	t.Requests += r.N
	t.Load = t.Plus(l)
	if throttled {
		t.ThrottledRequests += r.N
		t.Throttled = t.Throttled.Plus(l)
		t.Refused[sample.ThrottleCause(r.Throttle, r.Index)] += r.N
	}
	if r.Change {
		t.Changes += r.N
	}
	when := arrival.Of(r)
	s.times.Add(table, r, when)
	sampled := r.Rate < 1
	if sampled {
		largest := calls.Together(r) / 1000 / r.Rate
		t.ReadLargest = max(t.ReadLargest, float64(r.RCU)*largest)
		t.WriteLargest = max(t.WriteLargest, float64(r.WCU)*largest)
	}
	if r.Caller != "" {
		s.callers[table].Add(xxh3.HashStringSeed(r.Caller, seed), r.Caller, l.weight())
	}
	if r.PK.Type == "" {
		t.Keyless = t.Keyless.Plus(l)
		return
	}
	if c := s.place(table, hash, r, l.weight()); c != nil {
		c.requests += r.N
		c.load = c.load.Plus(l)
		if throttled {
			c.throttled = c.throttled.Plus(l)
		}
		c.draws.note(r)
		if sampled {
			s.note(c, t, r)
		}
		if r.Attempts != 0 || c.resends >= 0 {
			c.resends = s.resends.Add(c.resends, r, c.load.weight(), seed)
		}
		if g := s.evidence(c, hash, r); g != nil {
			g.add(r, l, seed)
			g.times.Add(when, l.weight())
			if !g.over && c.exceeds(s.limit) {
				g.over = true
				s.over = append(s.over, hash)
			}
		}
	}
}

// note adds a sampled record to what sampling leaves open of its key.
func (s *second) note(c *candidate, t *Total, r *sample.Record) {
	read, write := float64(r.RCU)/1000, float64(r.WCU)/1000
	id, named := calls.ID(r)
	if !named {
		n := float64(r.N)
		c.read.note(n, calls.Together(r), read, r.Rate)
		c.write.note(n, calls.Together(r), write, r.Rate)
		return
	}
	call, at := s.calls.Find(c.calls, id)
	c.calls = at
	c.read.extend(&call.Read, float64(r.N)*read, r.Rate)
	c.write.extend(&call.Write, float64(r.N)*write, r.Rate)
	t.ReadLargest, t.WriteLargest = max(t.ReadLargest, c.read.Largest), max(t.WriteLargest, c.write.Largest)
}

// place returns the candidate that counts this key, admitting the key when it
// has earned a place; nil when it stays outside, its weight then counted.
func (s *second) place(table uint16, hash uint64, r *sample.Record, weight uint64) *candidate {
	at := s.front.setOf(hash)
	place, empty := s.front.find(at, hash)
	switch {
	case place >= 0:
		return &s.front.candidates[place]
	case empty >= 0:
		return s.admit(empty, table, hash, r, 0)
	}
	full := &s.front.sets[at]
	before := min(s.counts.Estimate(hash), full.turned)
	high := before + weight
	smallest, bound := s.front.smallest(at)
	if high <= bound {
		s.counts.Raise(hash, high)
		full.turned = max(full.turned, high)
		return nil
	}
	s.counts.Raise(full.hash[smallest%Ways], bound)
	full.turned = max(full.turned, bound)
	return s.admit(smallest, table, hash, r, before)
}

// admit gives a key a place in the front; err is the most it had before.
func (s *second) admit(place int, table uint16, hash uint64, r *sample.Record, err uint64) *candidate {
	s.front.sets[place/Ways].hash[place%Ways] = hash
	c := &s.front.candidates[place]
	*c = candidate{table: table, gather: -1, resends: resend.Nowhere, calls: calls.Nowhere, err: err, keyType: s.keyType(r.PK.Type), key: append(c.key[:0], r.PK.Text...)}
	return c
}

// keyType returns the type's own copy: a record's strings live only as long as its
// message. There are at most 3+9+27+81 types.
func (s *second) keyType(t string) string {
	kept, ok := s.strings[t]
	if !ok {
		kept = string([]byte(t))
		s.strings[kept] = kept
	}
	return kept
}

// begin makes the summary one of a new second.
func (s *second) begin(at int64) {
	s.at, s.live = at, true
}

// clear forgets everything, keeping the memory.
func (s *second) clear() {
	if !s.live {
		return
	}
	s.live = false
	s.front.clear()
	s.counts.Clear()
	for _, t := range s.touched {
		s.totals[t] = Total{}
		s.callers[t] = s.callers[t].Emptied(tableCallersKept)
	}
	s.touched = s.touched[:0]
	s.gathered, s.growing = 0, draw.Keys{}
	s.calls.Clear()
	s.resends.Clear()
	s.times.Clear()
	s.over = s.over[:0]
}
