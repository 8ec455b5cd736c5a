package sketch

import (
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
)

// Shard summarises one stream of records. It is not safe for concurrent use:
// there is one a core, and no lock on the way of a record.
type Shard struct {
	config Config
	tables tables
	ring   [SecondsInRing]*second
	last   *second // of the latest record: most records share its second
	sealed []Window
	list   list // reused by seal
	minute minutes
	bytes  int
}

// NewShard makes an empty shard. Its live seconds take up to about SecondsInRing ×
// (CounterBytes + 1 KiB a set), 8 MiB with the defaults, and half as much again where
// requests are sampled. They take it as keys come, and give it back when they are idle.
//
// A configuration that does not Validate is a programming error and panics.
func NewShard(c Config) *Shard {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	c = c.withDefaults()
	s := &Shard{config: c, tables: newTables(c), minute: newMinutes()}
	for i := range s.ring {
		s.ring[i] = newSecond(c)
	}
	return s
}

// Add counts a record. It copies what it keeps. The only error is
// ErrTooManyTables; the record is then not counted.
func (s *Shard) Add(r *sample.Record) error {
	table, seed, err := s.tables.number(r)
	if err != nil {
		return err
	}
	var l Load
	l.Read, l.Write = r.Load()
	sec := s.last
	if sec == nil || uint64(r.Time-1000*sec.at) >= 1000 {
		sec = s.second(floorDiv(r.Time, 1000))
		s.last = sec
	}
	hash := keyHash(r.PK, seed)
	if t, known := sec.add(table, hash, seed, r, l); !known {
		if t.distinct == nil {
			t.distinct = s.minute.of(table, sec.at)
		}
		t.distinct.insert(hash)
	}
	return nil
}

// keyHash returns the key's one hash, used by the front, the count-min sketch and
// the HyperLogLog. seed stands for the table and index. Never zero.
func keyHash(k sample.Key, seed uint64) uint64 {
	if k.Type != "S" { // the type is part of the identity; strings pay nothing
		seed = xxh3.HashStringSeed(k.Type, seed)
	}
	return max(xxh3.HashStringSeed(k.Text, seed), 1)
}

// second returns the live summary of an event-time second. A second that is
// neither live nor free takes the place of the oldest, which is sealed.
func (s *Shard) second(at int64) *second {
	oldest := s.ring[0]
	for _, sec := range s.ring {
		if sec.live && sec.at == at {
			return sec
		}
		if !sec.live || (oldest.live && sec.at < oldest.at) {
			oldest = sec
		}
	}
	s.seal(oldest)
	oldest.begin(at)
	return oldest
}

// seal moves one live second to the sealed windows.
func (s *Shard) seal(sec *second) {
	if !sec.live {
		return
	}
	before := len(s.sealed)
	s.sealed = sec.windows(s.sealed, &s.tables, &s.list)
	for i := range s.sealed[before:] {
		s.bytes += s.sealed[before+i].size()
	}
	sec.clear()
}

// Seal appends everything that was added since the last Seal to d, and begins
// anew. What it hands over is not counted again.
func (s *Shard) Seal(d *Delta) {
	for _, sec := range s.ring {
		s.seal(sec)
		sec.rest()
	}
	s.last = nil
	d.Windows = append(d.Windows, s.sealed...)
	clear(s.sealed)
	s.sealed, s.bytes = s.sealed[:0], 0
	d.Cardinality = s.minute.risen(d.Cardinality, &s.tables)
	s.minute.drop(s.tables.evict())
}

// Over is a key that is over [Config.Limit] for certain in a second.
type Over struct {
	// Hash identifies the key: see [Hash].
	Hash uint64
	// Second is in Unix seconds.
	Second int64
}

// Over returns the keys that came over Config.Limit since the last call, each once a
// second. Only what was added since the last Seal counts, and only of keys that
// evidence is gathered of.
func (s *Shard) Over() []Over {
	var all []Over
	for _, sec := range s.ring {
		for _, hash := range sec.over {
			all = append(all, Over{hash, sec.at})
		}
		sec.over = sec.over[:0]
	}
	return all
}

// Discard forgets everything since the last Seal, and makes the next one send
// all registers of the HyperLogLogs again: what was sealed before may have been
// lost with its delta.
func (s *Shard) Discard() {
	for _, sec := range s.ring {
		sec.clear()
	}
	s.last = nil
	clear(s.sealed)
	s.sealed, s.bytes = s.sealed[:0], 0
	s.minute.forget()
}

// Pending returns about how many bytes the next Seal frees: what seconds that have
// left the ring hold, and the HyperLogLogs of minutes long past. A caller that
// seals when it passes a bound keeps the shard's memory bounded.
func (s *Shard) Pending() int { return s.bytes + s.minute.spare(len(s.tables.names)) }

// floorDiv rounds towards the past, also before 1970.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// tables numbers the tables and indexes that a shard has seen of late.
type tables struct {
	numbers map[sample.Target]uint16
	names   []sample.Target
	seeds   []uint64
	// used is in which Seal's time each was counted last, and seal the present one.
	used []uint64
	seal uint64
	free []uint16 // numbers without a name
	most int
	seed uint64
	last uint16 // most records are of the table of the one before
	// recent has the numbers of tables that came of late.
	recent [256]uint16
}

func newTables(c Config) tables {
	return tables{numbers: map[sample.Target]uint16{}, most: c.Tables, seed: c.Seed}
}

// number returns the number of a record's table or index and the seed of its keys.
func (t *tables) number(r *sample.Record) (uint16, uint64, error) {
	if int(t.last) < len(t.names) {
		if isTarget(&t.names[t.last], r) {
			return t.last, t.seeds[t.last], nil
		}
	}
	recent := &t.recent[recentSlot(r)]
	number := *recent
	if int(number) >= len(t.names) || !isTarget(&t.names[number], r) {
		var ok bool
		if number, ok = t.numbers[r.Target()]; !ok {
			if len(t.numbers) >= t.most {
				return 0, 0, ErrTooManyTables
			}
			number = t.add(sample.Target{
				Account: strings.Clone(r.Account), Region: strings.Clone(r.Region),
				Table: strings.Clone(r.Table), Index: strings.Clone(r.Index),
			})
		}
		*recent = number
	}
	t.used[t.last] = t.seal // perhaps: records of the table of the one before do not say it
	t.last = number
	t.used[number] = t.seal
	return number, t.seeds[number], nil
}

// isTarget reports whether a record is of that table or index.
func isTarget(n *sample.Target, r *sample.Record) bool {
	return same(n.Table, r.Table) && same(n.Index, r.Index) && same(n.Region, r.Region) && same(n.Account, r.Account)
}

// recentSlot returns where in tables.recent the number of a record's table may be, by a
// few letters in which names differ.
func recentSlot(r *sample.Record) uint8 {
	h := uint8(len(r.Table)) + 3*uint8(len(r.Index))
	if n := len(r.Table); n > 2 {
		h += 5*r.Table[n-1] + 59*r.Table[n-2] + 131*r.Table[n/2]
	}
	if n := len(r.Index); n > 0 {
		h += 37 * r.Index[n-1]
	}
	return h
}

// same reports whether two names are equal; most that are not known are empty in both.
func same(a, b string) bool { return len(a) == len(b) && (len(a) == 0 || a == b) }

func (t *tables) add(n sample.Target) uint16 {
	number := uint16(len(t.names))
	if last := len(t.free) - 1; last >= 0 {
		number, t.free = t.free[last], t.free[:last]
	} else {
		t.names, t.seeds, t.used = append(t.names, n), append(t.seeds, 0), append(t.used, 0)
	}
	t.numbers[n] = number
	t.names[number], t.seeds[number] = n, keySeed(n, t.seed)
	return number
}

// evict forgets what was not counted since the last Seal, once names are scarce:
// a job that makes a table an hour would else fill them in time. It returns the
// numbers that are free now. No second may be live.
func (t *tables) evict() (evicted map[uint16]bool) {
	if int(t.last) < len(t.used) {
		t.used[t.last] = t.seal // it may have been the only one
	}
	if len(t.numbers) > t.most/2 {
		evicted = map[uint16]bool{}
		for name, number := range t.numbers {
			if t.used[number] < t.seal {
				evicted[number] = true
				delete(t.numbers, name)
				t.names[number] = sample.Target{}
				t.free = append(t.free, number)
			}
		}
	}
	t.seal++
	return evicted
}

// keySeed stands for a table or index in its keys' hashes. Two seeded hashes in
// a row keep ("ab","c") and ("a","bc") apart. Where neither the account nor the
// Region is known they have no part in it, so that what was stored before records
// had them keeps its hashes.
func keySeed(n sample.Target, seed uint64) uint64 {
	seed = xxh3.HashStringSeed(n.Index, xxh3.HashStringSeed(n.Table, seed))
	if n.Account == "" && n.Region == "" {
		return seed
	}
	return xxh3.HashStringSeed(n.Region, xxh3.HashStringSeed(n.Account, seed))
}

// Hash returns what identifies a key of a target in windows that were made with
// this seed.
func Hash(of sample.Target, key sample.Key, seed uint64) uint64 {
	return keyHash(key, keySeed(of, seed))
}
