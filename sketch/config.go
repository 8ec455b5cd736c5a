package sketch

import (
	"cmp"
	"errors"
	"math"

	"github.com/keyheat/keyheat/sketch/internal/front"
)

// The geometry and its defaults. This package's accuracy tests repeat the measurements behind
// them on a real trace.
const (
	// SecondsInRing is the number of event-time seconds that a shard keeps open at once.
	SecondsInRing = 4
	// DefaultSets times Ways is the number of candidates in a second's front. On the trace at
	// 200,000 requests a second it proves all 326 hot key-seconds; a quarter of it proves 309.
	// At 20,000 requests a second a quarter proves all.
	DefaultSets = 1024
	// Ways is the number of candidates in a set of the front.
	Ways = front.Ways
	// DefaultCounterBytes is the size of a second's count-min sketch. On every test stream,
	// four times as much and a quarter as much give the same bounds within a few units. It is
	// small enough for a second to fit in a core's second-level cache.
	DefaultCounterBytes = 1 << 18
	// DefaultTables is the number of tables and indexes that a shard keeps apart.
	DefaultTables = 1000
)

// ErrTooManyTables is returned for a record of a new table or index when the shard is full. The
// next Seal may make room.
var ErrTooManyTables = errors.New("too many tables and indexes")

// Config is the geometry of a shard. Zero fields take the defaults. Deltas merge if their
// geometry differs, but not if their seeds differ.
type Config struct {
	// Sets is the number of sets of the front, a power of two: 1,024 by default. With light
	// traffic, fewer sets save memory and bytes in the store.
	Sets int
	// CounterBytes is the size of the count-min sketch of one second in bytes, a power of two
	// of at least 4 KiB.
	CounterBytes int
	// Tables bounds the tables and indexes between two Seals. A shard forgets the names of
	// tables without load.
	Tables int
	// Limit is the load of a key in one second, for reads and writes apart, above which
	// [Shard.OverLimit] returns the key. Zero means no limit.
	Limit Load
	// Seed keys the hash. Summaries merge only if their seeds are equal. Keep it secret, so
	// that outsiders cannot choose keys that collide.
	Seed uint64
}

func (c Config) withDefaults() Config {
	if c.Sets == 0 {
		c.Sets = DefaultSets
	}
	if c.CounterBytes == 0 {
		c.CounterBytes = DefaultCounterBytes
	}
	if c.Tables == 0 {
		c.Tables = DefaultTables
	}
	c.Limit.Read, c.Limit.Write = cmp.Or(c.Limit.Read, math.MaxInt64), cmp.Or(c.Limit.Write, math.MaxInt64)
	return c
}

// Validate returns the first error of a configuration, or nil.
func (c Config) Validate() error {
	c = c.withDefaults()
	switch {
	case c.Sets < 1 || c.Sets&(c.Sets-1) != 0 || c.Sets > 1<<16:
		return errors.New("sketch: sets must be a power of two up to 65,536")
	case c.CounterBytes < 4096 || c.CounterBytes&(c.CounterBytes-1) != 0 || c.CounterBytes > 1<<28:
		return errors.New("sketch: counter bytes must be a power of two from 4 KiB to 256 MiB")
	case c.Tables < 1 || c.Tables > 65535:
		return errors.New("sketch: tables must be between 1 and 65,535")
	}
	return front.CheckDense()
}
