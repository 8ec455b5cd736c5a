package sketch

import (
	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/distinct"
	"github.com/keyheat/keyheat/sketch/internal/front"
)

// Shard summarises one stream of records. It is not safe for concurrent use:
// there is one a core, and no lock on the way of a record.
type Shard struct {
	config  Config
	tables  front.Tables
	ring    [SecondsInRing]*second
	last    *second // of the latest record: most records share its second
	sealed  []Window
	list    list // reused by seal
	minutes distinct.Minutes
	bytes   int
}

// NewShard makes an empty shard. Its live seconds take up to about SecondsInRing ×
// (CounterBytes + 1 KiB a set), 5 MiB with the defaults, and half as much again where
// requests are sampled. A flood of heavy keys adds 2 KiB a second for each of at most 256
// tables. They take it as keys come, and give it back when they are idle.
//
// A configuration that does not Validate is a programming error and panics.
func NewShard(c Config) *Shard {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	c = c.withDefaults()
	s := &Shard{config: c, tables: front.NewTables(c.Tables, c.Seed), minutes: distinct.NewMinutes()}
	for i := range s.ring {
		s.ring[i] = newSecond(c)
	}
	return s
}

// Add counts a record. It copies what it keeps. The only error is
// ErrTooManyTables; the record is then not counted.
func (s *Shard) Add(r *sample.Record) error {
	table, seed, ok := s.tables.Number(r)
	if !ok {
		return ErrTooManyTables
	}
	l := Load{r.RCU, r.WCU} // what one request stands for, without a call
	if r.N != 1 || r.Rate != 1 || uint64(r.RCU|r.WCU) > uint64(sample.MaxLoad) {
		l.Read, l.Write = r.Load()
	}
	sec := s.last
	if sec == nil || uint64(r.Time-1000*sec.at) >= 1000 {
		sec = s.second(floorDiv(r.Time, 1000))
		s.last = sec
	}
	hash := textHash(r.PK.Text, typeSeed(r.PK.Type, seed)) // as keyHash, without a call
	if t, known := sec.add(table, hash, seed, r, l); !known {
		if t.distinct == nil {
			t.distinct = s.minutes.Open(table, sec.at, &s.tables, s.isLive)
		}
		t.distinct.Insert(hash)
	}
	return nil
}

// isLive reports whether a second of that minute is.
func (s *Shard) isLive(minute int64) bool {
	for _, sec := range s.ring {
		if sec.live && distinct.MinuteStart(sec.at) == minute {
			return true
		}
	}
	return false
}

// keyHash returns the key's one hash, used by the front, the count-min sketch and
// the HyperLogLog. seed stands for the table and index. Never zero.
func keyHash(k sample.Key, seed uint64) uint64 { return textHash(k.Text, typeSeed(k.Type, seed)) }

// typeSeed makes a key's type part of its identity; strings pay nothing.
func typeSeed(keyType string, seed uint64) uint64 {
	if keyType == sample.TypeString {
		return seed
	}
	return xxh3.HashStringSeed(keyType, seed)
}

func textHash(text string, seed uint64) uint64 { return max(xxh3.HashStringSeed(text, seed), 1) }

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
	before := len(s.sealed)
	s.seal(oldest)
	for i := range s.sealed[before:] {
		s.bytes += s.sealed[before+i].size()
	}
	oldest.begin(at)
	return oldest
}

// seal moves one live second to the sealed windows.
func (s *Shard) seal(sec *second) {
	if !sec.live {
		return
	}
	s.sealed = sec.windows(s.sealed, &s.tables, &s.list)
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
	d.Cardinality = s.minutes.Risen(d.Cardinality, &s.tables)
	s.minutes.Drop(s.tables.Evict())
}

// OverLimit is a key that is over [Config.Limit] for certain in a second.
type Over struct {
	// Hash identifies the key: see [Hash].
	Hash uint64
	// Second is in Unix seconds.
	Second int64
}

// OverLimit returns the keys that came over Config.Limit since the last call, each once a
// second. Only what was added since the last Seal counts, and only of keys that
// evidence is gathered of.
func (s *Shard) OverLimit() []Over {
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
	s.minutes.Forget()
}

// Pending returns about how many bytes the next Seal frees: what seconds that have
// left the ring hold, and the HyperLogLogs of minutes long past. A caller that
// seals when it passes a bound keeps the shard's memory bounded.
func (s *Shard) Pending() int { return s.bytes + s.minutes.Spare(s.tables.Len()) }

// floorDiv rounds towards the past, also before 1970.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Hash returns what identifies a key of a target in windows that were made with
// this seed.
func Hash(of sample.Target, key sample.Key, seed uint64) uint64 {
	return keyHash(key, front.TargetSeed(of, seed))
}
