package sketch

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/front"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// second is the summary of one live event-time second.
type second struct {
	at      int64 // Unix seconds
	live    bool
	front   candidateTable
	counts  front.CountMin
	sums    []sums   // by table number
	touched []uint16 // tables with load
	// gathers holds the evidence of the first `gathered` keys that earned it.
	gathers  []*evidenceSums
	gathered int
	refused  int // keys that earned evidence by a throttled request
	lost     int // keys that earned evidence by a lost attempt
	// contended are the keys that lost attempts shortly before, of all seconds of the shard.
	contended gather.ContendedKeys
	growing   gather.Turns     // grants evidence to keys that grow before they are warm
	calls     gather.CallPool  // for keys whose sampled records name their call
	resends   gather.RetryPool // for keys whose records count attempts
	cells     cellPool         // of tables that isPlaced chose
	isPlaced  func(table uint16) bool
	times     gather.Times
	// over lists the keys that exceeded limit since the last OverLimit.
	limit Load
	over  []uint64
	// reserves is the number of tables with a reserve. inherited has, for each place of their
	// sets, the weight of the key before.
	reserves  uint16
	inherited [][Ways]uint64
	idle      int // number of Seals since its last use
}

// sums are the sums over all keys of a table or index in a second.
type sums struct {
	Total
	callers gather.Texts
	scans   gather.Texts // the callers of requests without a key
	caller  gather.TextHasher
	reserve uint16 // number of the table's reserve, 0 for none
	// cells are nil before the table needs some; unplaced reports that it gets none.
	cells    *cellCounts
	unplaced bool
	// distinct counts the distinct keys of the second's minute; nil before the first key.
	distinct *front.Minute
}

func newSecond(c Config, contended gather.ContendedKeys) *second {
	return &second{contended: contended, front: newCandidateTable(c.Sets, c.Tables), counts: front.NewCountMin(c.CounterBytes), limit: c.Limit}
}

func (s *second) tableSums(table uint16) *sums {
	if int(table) >= len(s.sums) || s.sums[table].Requests == 0 {
		s.touch(table)
	}
	return &s.sums[table]
}

// touch adds sums for a table.
func (s *second) touch(table uint16) {
	for int(table) >= len(s.sums) {
		s.sums = append(s.sums, sums{callers: gather.Texts{Most: tableCallersKept}, scans: gather.Texts{Most: tableCallersKept}})
	}
	s.touched = append(s.touched, table)
}

// isPlain reports whether a record has only units, a key, a time and a caller. Each of its
// requests was then a call of its own: not sampled, estimated, throttled, retried or lost.
func isPlain(r *sample.Record) bool {
	return r.Rate == 1 && len(r.Throttle)|len(r.Call) == 0 && r.Attempts|r.Conflicts|r.ConditionsFailed == 0 && r.Calls == 0 &&
		!r.Change && !r.Estimated && len(r.PK.Type) > 0 && !r.Op.TakesMany()
}

// add counts one record's load under its key's hash, and returns the sums of its table. A
// record without a key (a Scan) counts only for the table. known is true if the key already had
// a place in the front.
func (s *second) add(table uint16, hash, seed uint64, r *sample.Record, l Load) (t *sums, known bool) {
	weight := l.weight()
	t = s.tableSums(table)
	t.Requests += r.N
	t.Read += l.Read
	t.Write += l.Write
	var when gather.Moment
	plain := isPlain(r)
	if plain {
		when = gather.MomentAt(r.Time-1000*s.at, r.N)
	} else {
		when = gather.MomentOf(r)
		t.note(r, l)
	}
	caller := uint64(0)
	if r.Caller != "" {
		caller = t.caller.Hash(r.Caller, seed)
		t.callers.Add(caller, r.Caller, weight)
	}
	s.times.Add(table, caller, r.N, when)
	if r.PK.Type == "" {
		if r.Caller != "" {
			t.scans.Add(caller, r.Caller, weight)
		}
		return t, true
	}
	in := s.front.set(hash)
	c := s.front.find(in, hash)
	if known = c != nil; !known {
		if c = s.admit(in, t, table, hash, r, weight); c == nil {
			if s.isPlaced != nil && s.hasCells(t, table) {
				s.cells.Add(t.cells, r.PK, r.Place, l.Read, l.Write)
			}
			return t, false
		}
	}
	c.requests += r.N
	c.load.Read += l.Read
	c.load.Write += l.Write
	if plain {
		c.whole = true
	} else {
		s.note(c, t, r, l)
	}
	if r.Place > 0 {
		s.front.ownDetail(c).place = r.Place
	}
	if r.Attempts != 0 || c.resends >= 0 {
		c.resends = s.resends.Add(c.resends, r, c.load.weight(), seed)
	}
	if c.gather >= 0 || c.load.weight() >= WarmWeight || r.Edit != nil || !plain && (r.Throttle != "" || r.Lost() != 0) || !known && len(s.contended) > 0 && s.contended[hash] != nil {
		s.look(c, hash, seed, caller, r, l, when)
	}
	return t, known
}

// note adds a record that is not plain to the table's sums.
func (t *sums) note(r *sample.Record, l Load) {
	if r.Throttle != "" {
		t.ThrottledRequests += r.N
		t.Throttled = t.Throttled.Plus(l)
		t.Refused[sample.ParseThrottleReason(r.Throttle, r.Index)] += r.N
	}
	if r.Change {
		t.Changes += r.N
	}
	if r.Rate < 1 {
		largest := gather.CallSize(r) / 1000 / r.Rate
		t.ReadLargest = max(t.ReadLargest, float64(r.RCU)*largest)
		t.WriteLargest = max(t.WriteLargest, float64(r.WCU)*largest)
	}
	if r.PK.Type == "" {
		t.Keyless = t.Keyless.Plus(l)
	}
}

// note adds a record that is not plain to its key.
func (s *second) note(c *candidate, t *sums, r *sample.Record, l Load) {
	if r.Rate == 1 && !r.Estimated {
		c.whole = true
	} else {
		s.front.ownDetail(c).draws.Note(r)
	}
	if r.Throttle != "" {
		d := s.front.ownDetail(c)
		d.throttled = d.throttled.Plus(l)
	}
	if r.Rate < 1 {
		s.addSampled(c, &t.Total, r)
	}
}

// look adds a record to the evidence of its key, if the key has earned evidence.
func (s *second) look(c *candidate, hash, seed, caller uint64, r *sample.Record, l Load, when gather.Moment) {
	if c.gather < 0 && !s.earn(c, hash, r) {
		return
	}
	g := s.gathers[c.gather]
	if lost := r.Lost() != 0; lost || c.requests == r.N && len(s.contended) > 0 {
		g.contention.Resume(s.contended.Recall(hash, s.at), c.requests-r.N, lost)
	}
	if r.Lost() != 0 {
		item := uint64(0)
		if r.SK.Type != "" {
			item = keyHash(r.SK, seed)
		}
		s.contended.Remember(hash, item, r.SK.Text, s.at)
	}
	g.add(r, l, seed, caller)
	g.times.Add(when, l.weight())
	if !g.over && c.exceeds(s.limit, s.front.detailOf(c)) {
		g.over = true
		s.over = append(s.over, hash)
	}
}

// addSampled adds the uncertainty of a sampled record to its key.
func (s *second) addSampled(c *candidate, t *Total, r *sample.Record) {
	d := s.front.ownDetail(c)
	read, write := float64(r.RCU)/1000, float64(r.WCU)/1000
	id, named := gather.CallID(r)
	if !named {
		n := float64(r.N)
		d.read.Note(n, gather.CallSize(r), read, r.Rate)
		d.write.Note(n, gather.CallSize(r), write, r.Rate)
		return
	}
	call, at := s.calls.Find(d.calls, id)
	d.calls = at
	d.read.Extend(&call.Read, float64(r.N)*read, r.Rate)
	d.write.Extend(&call.Write, float64(r.N)*write, r.Rate)
	t.ReadLargest, t.WriteLargest = max(t.ReadLargest, d.read.Largest), max(t.WriteLargest, d.write.Largest)
}

// hasCells reports whether a table has cells. It gets them with its first load that no candidate
// counts, if isPlaced chooses the table and there is room.
func (s *second) hasCells(t *sums, table uint16) bool {
	if t.cells == nil && !t.unplaced && t.weight() >= reserveFrom {
		if s.isPlaced(table) {
			t.cells = s.cells.Take()
		}
		t.unplaced = t.cells == nil
	}
	return t.cells != nil
}

// admit makes a key a candidate if it has earned a place. Otherwise it counts the key's weight
// and returns nil.
func (s *second) admit(in *front.Set, t *sums, table uint16, hash uint64, r *sample.Record, weight uint64) *candidate {
	if in.Keys < Ways {
		if in.Keys == 0 {
			s.front.used = append(s.front.used, uint32(hash>>32&s.front.mask))
		}
		return s.front.put(in, int(in.Keys), table, hash, r.PK, 0)
	}
	if in.Least >= crowdedWeight {
		if c := s.findReserved(t, hash); c != nil {
			return c
		}
	}
	counters := s.counts.Line(hash)
	before := min(counters.Estimate(hash), in.Turned)
	high := before + weight
	if high > in.Least {
		smallest, least, next := s.front.smallest(in)
		if high > least {
			at := int(in.First) + smallest
			out := &s.front.candidates[at]
			in.Least = min(next, high)
			if in.Least < crowdedWeight || out.table == table || !s.moveToReserve(at) {
				s.putOut(in, at, least)
			}
			return s.front.put(in, smallest, table, hash, r.PK, before)
		}
		in.Least = least
	}
	if in.Least >= crowdedWeight {
		if c := s.admitReserved(t, table, hash, r.PK, before); c != nil {
			return c
		}
	}
	counters.Raise(hash, high)
	in.Turned = max(in.Turned, high)
	return nil
}

func (s *second) begin(at int64) {
	s.at, s.live = at, true
	s.front.begin()
}

func (s *second) clear() {
	if !s.live {
		return
	}
	s.live = false
	s.idle = 0
	s.front.clear()
	s.counts.Clear()
	for _, t := range s.touched {
		s.sums[t] = sums{callers: s.sums[t].callers.Emptying(tableCallersKept), scans: s.sums[t].scans.Emptying(tableCallersKept), caller: s.sums[t].caller}
	}
	s.touched, s.reserves = s.touched[:0], 0
	s.gathered, s.refused, s.lost, s.growing = 0, 0, 0, gather.Turns{}
	s.calls.Clear()
	s.resends.Clear()
	s.cells.Clear()
	s.times.Clear()
	s.over = s.over[:0]
}

// idleSeals is the number of Seals in a row after which an unused second frees its memory.
const idleSeals = 8

// rest frees the memory of a second that has been unused for long.
func (s *second) rest() {
	if s.idle++; s.idle > idleSeals {
		*s = second{front: s.front, counts: s.counts, limit: s.limit, isPlaced: s.isPlaced, contended: s.contended, idle: s.idle}
		s.front.release()
		s.counts.Release()
	}
}
