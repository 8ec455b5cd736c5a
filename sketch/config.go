package sketch

import (
	"cmp"
	"errors"
	"math"

	"github.com/keyheat/keyheat/sketch/internal/front"
)

// Geometry and its defaults. The measurements behind them are repeated by this
// package's accuracy tests on a real trace.
const (
	// SecondsInRing is how many event-time seconds are live at once in a shard.
	SecondsInRing = 4
	// DefaultSets times Ways is how many candidates a second's front holds. A
	// quarter of it proves every hot key at 20,000 requests a second of the
	// trace, but at 200,000 a second only 309 of 326 hot key-seconds; this
	// proves them all.
	DefaultSets = 1024
	// Ways is the associativity of the front.
	Ways = front.Ways
	// DefaultCounterBytes is the size of a second's count-min sketch. Four times
	// as much, and a quarter, give the same bounds on every stream of the tests to
	// a few units; what counts is that a second stays in a core's second-level cache.
	DefaultCounterBytes = 1 << 18
	// DefaultTables is how many tables and indexes a shard keeps apart at a time.
	DefaultTables = 1000
)

// ErrTooManyTables is returned for a record of a table or index that is new
// when the shard already keeps as many as it may; after the next Seal there may be
// room again.
var ErrTooManyTables = errors.New("too many tables and indexes")

// Config is the geometry of a shard. Zero fields take the defaults. Deltas of
// different geometry merge; those of different seeds do not.
type Config struct {
	// Sets is the number of sets of the front, a power of two: 1,024 by default.
	// Fewer save memory and bytes to the store where traffic is light.
	Sets int
	// CounterBytes is the size of the count-min sketch of one second, a power of
	// two of at least 4 KiB.
	CounterBytes int
	// Tables bounds the number of tables and indexes between two Seals. Of those
	// that are not counted any more the names are forgotten.
	Tables int
	// Limit is the load of a key in a second, reads and writes apart, above which
	// [Shard.Over] returns it; none is above zero.
	Limit Load
	// Seed keys the hash. Summaries merge only when made with the same seed. It
	// keeps outsiders from choosing keys that collide: keep it secret.
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

// Validate returns what is wrong with a configuration, nil when it is sound.
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
	return checkDense()
}
