package sketch

import (
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch/internal/front"
	"github.com/keyheat/keyheat/sketch/internal/gather"
)

// Shard summarises one stream of records. It is not safe for concurrent use: make one for each
// core, so that adding a record takes no lock.
type Shard struct {
	config  Config
	tables  front.Tables
	ring    [SecondsInRing]*second
	last    *second // second of the latest record; most records share it
	sealed  []Window
	list    list // reused by seal
	minutes front.Minutes
	callers gather.Callers // of requests without a key
	bytes   int
}

// NewShard returns an empty shard. It panics if the configuration does not Validate.
//
// Its live seconds take up to about SecondsInRing × (CounterBytes + 1 KiB a set): 5 MiB with
// the defaults, and half as much again if requests are sampled. A flood of heavy keys adds 2
// KiB a second for each table beside it, and [Shard.PlaceKeys] 128 KiB a second for each of at
// most 16 tables. Memory is allocated as keys come, and freed when seconds are idle.
func NewShard(c Config) *Shard {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	c = c.withDefaults()
	s := &Shard{config: c, tables: front.NewTables(c.Tables, c.Seed), minutes: front.NewMinutes(), callers: gather.Callers{}}
	lost := gather.ContendedKeys{}
	for i := range s.ring {
		s.ring[i] = newSecond(c, lost)
	}
	return s
}

// Add counts a record, and copies everything that it keeps. Its only error is ErrTooManyTables,
// for a record that was not counted.
func (s *Shard) Add(r *sample.Record) error {
	table, seed, ok := s.tables.Number(r)
	if !ok {
		return ErrTooManyTables
	}
	l := Load{r.RCU, r.WCU} // the load of one request, without a call
	if r.N != 1 || r.Rate != 1 || uint64(r.RCU|r.WCU) > uint64(sample.MaxLoad) {
		l.Read, l.Write = r.Load()
	}
	sec := s.last
	if sec == nil || uint64(r.Time-1000*sec.at) >= 1000 {
		sec = s.second(floorDiv(r.Time, 1000))
		s.last = sec
	}
	hash := textHash(r.PK.Text, typeSeed(r.PK.Type, seed)) // keyHash, without a call
	if t, known := sec.add(table, hash, seed, r, l); !known {
		if t.distinct == nil {
			t.distinct = s.minutes.Open(table, sec.at, &s.tables, s.isLive)
		}
		t.distinct.Insert(hash)
	}
	return nil
}

// AddCaller counts a record that only names its caller: see [sample.Record.IsCallerOnly]. Its
// only error is ErrTooManyTables.
func (s *Shard) AddCaller(r *sample.Record) error {
	table, seed, ok := s.tables.Number(r)
	if !ok {
		return ErrTooManyTables
	}
	s.callers.Add(table, seed, r, tableCallersKept)
	return nil
}

// isLive reports whether a live second belongs to the minute.
func (s *Shard) isLive(minute int64) bool {
	return slices.ContainsFunc(s.ring[:], func(sec *second) bool { return sec.live && front.MinuteStart(sec.at) == minute })
}

// keyHash returns the key's hash for the front, the count-min sketch and the HyperLogLog. seed
// identifies the table or index. The hash is never zero.
func keyHash(k sample.Key, seed uint64) uint64 { return textHash(k.Text, typeSeed(k.Type, seed)) }

// typeSeed makes a key's type part of its identity. Strings cost nothing.
func typeSeed(keyType string, seed uint64) uint64 {
	if keyType == sample.TypeString {
		return seed
	}
	return xxh3.HashStringSeed(keyType, seed)
}

func textHash(text string, seed uint64) uint64 { return max(xxh3.HashStringSeed(text, seed), 1) }

// second returns the live summary of an event-time second. If the second is not live and none
// is free, it seals the oldest one and takes its place.
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

// seal moves a live second to the sealed windows.
func (s *Shard) seal(sec *second) {
	if !sec.live {
		return
	}
	s.sealed = sec.windows(s.sealed, &s.tables, &s.list)
	sec.clear()
}

// Seal appends all summaries since the last Seal to d, and starts anew.
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
	d.Callers = sealCallers(d.Callers, s.callers, &s.tables)
	s.minutes.Drop(s.tables.Evict())
}

// PlaceKeys chooses the tables whose unlisted load is counted by the key's position:
// [Window.Cells]. It takes the MD5 of each request whose key has no candidate, so choose
// tables with known partitions. Indexes have none, and never have cells. A nil function
// chooses no table, as before the first call. It holds from a table's next second on.
func (s *Shard) PlaceKeys(isPlaced func(sample.Target) bool) {
	var byNumber func(uint16) bool
	if isPlaced != nil {
		byNumber = func(table uint16) bool {
			t := s.tables.Name(table)
			return t.Index == "" && isPlaced(t)
		}
	}
	for _, sec := range s.ring {
		sec.isPlaced = byNumber
	}
}

// Know chooses the tables that keep their place: new ones cannot take it from them. At least a
// quarter of the room stays for new tables, which share it by sender: see [Shard.SetSender]. The
// shard keeps the map, so do not change it.
func (s *Shard) Know(tables map[sample.Target]bool) { s.tables.Know(tables) }

// SetSender names the sender of the records from here on. Each sender has an equal part of the room
// for new tables, from the Seal after its first new table on. Parts that nobody needs go to the
// others.
func (s *Shard) SetSender(sender string) { s.tables.SetSender(sender) }

// Over is a key that certainly exceeds [Config.Limit] in a second.
type Over struct {
	// Hash identifies the key: see [Hash].
	Hash uint64
	// Second is in Unix seconds.
	Second int64
}

// OverLimit returns the keys that exceeded Config.Limit since the last call, each once a
// second. It covers only records since the last Seal, and only keys with evidence.
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

// Discard forgets everything since the last Seal. The next Seal sends all registers of the
// HyperLogLogs again, because an earlier delta may have been lost.
func (s *Shard) Discard() {
	for _, sec := range s.ring {
		sec.clear()
	}
	s.last = nil
	clear(s.sealed)
	s.sealed, s.bytes = s.sealed[:0], 0
	clear(s.callers)
	s.minutes.Forget()
}

// Pending returns the approximate number of bytes that the next Seal frees: sealed seconds,
// HyperLogLogs of past minutes, and cells. To bound a shard's memory, call Seal when Pending
// exceeds a limit.
func (s *Shard) Pending() int {
	cells := 0
	for _, sec := range s.ring {
		cells += sec.cells.Size()
	}
	return s.bytes + s.minutes.Spare(s.tables.Len()) + cells
}

// floorDiv rounds towards the past, also before 1970.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Hash returns the hash that identifies a key of a target in windows of this seed.
func Hash(target sample.Target, key sample.Key, seed uint64) uint64 {
	return keyHash(key, front.TargetSeed(target, seed))
}
