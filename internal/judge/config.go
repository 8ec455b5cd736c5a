package judge

import (
	"cmp"
	"time"

	"github.com/keyheat/keyheat/detect/board"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/store"
)

// defaults are Config's defaults.
var defaults = Config{
	Options: verdict.Options{PageWithin: 15 * time.Minute, ViewDelay: time.Minute},
	Lease:   15 * time.Second, Poll: time.Second, Stall: 10 * time.Second, Forget: time.Hour,
	Memory: 1 << 30, PruneEvery: 5 * time.Minute,
	CloudWatchEvery: 10 * time.Second, // short: only what was read anew is loaded
	LookEvery:       5 * time.Second,
}

// LeastMemory is the smallest Config.Memory.
const LeastMemory = 64 << 20

// Config is how a Judge judges. A zero field takes its default.
type Config struct {
	// Options are how findings become incidents. Their bounds of keys, bytes and tables
	// follow from Memory where they are 0.
	verdict.Options
	// Notified is called when notifications were written; nil for nobody.
	Notified func()
	// Lease is how long the others wait for a judge that does not renew its lease.
	Lease time.Duration
	// Poll is the longest pause between two readings of the store.
	Poll time.Duration
	// Stall is how long a partition's watermark may stand still before its
	// seconds are closed without it.
	Stall time.Duration
	// Forget is how long a partition may be missing from every commit before it
	// is not waited for at all: its topic was deleted, or its group renamed. A
	// collector reports a partition even while its broker is unreachable.
	Forget time.Duration
	// Memory is about the judge's memory in bytes: see [LimitsOf].
	Memory int64
	// Read bounds one reading of deltas.
	Read store.ReadLimit
	// CloudWatchEvery is the pause between two loads of CloudWatch's minutes.
	CloudWatchEvery time.Duration
	// LookEvery is the pause between two looks at Keyheat's own faults.
	LookEvery time.Duration
	// PruneEvery is the pause between prunings; Retention limits the age of rows, and of
	// roll-ups as package heat does where it does not say.
	PruneEvery time.Duration
	Retention  store.Retention
}

func (c Config) withDefaults() Config {
	c.Options = options.OrDefault(c.Options, defaults.Options)
	c = options.OrDefault(c, defaults)
	if c.Retention.Rollups == nil {
		c.Retention.Rollups = rollup.Retention()
	}
	c.Read.Bytes = cmp.Or(c.Read.Bytes, LimitsOf(c.Memory).ReadBytes)
	return c
}

// Limits are the numbers that a judge's memory is enough for.
type Limits struct {
	// Tables is the number of tables and indexes whose keys have a view: one for each 64
	// KiB, which is more than a table of some hundred keys takes by docs/PERFORMANCE.md.
	// Others are judged without a view.
	Tables int
	// Keys is the number of followed keys that are, or were, near a limit, some 28 KiB
	// each, and KeyBytes their memory. A sampled key or a hot one takes more. Beyond
	// either the least hot keys are evicted, which a metric counts and, for hot keys, a
	// finding too.
	Keys     int
	KeyBytes int64
	// OpenKeys is how many keys all open seconds may list, about 150 bytes each. Beyond it
	// the oldest seconds are closed early, as incomplete.
	OpenKeys int
	// ReadBytes is how much one reading of deltas has, as they are stored: in memory, and
	// added up, they take some 40 times as much.
	ReadBytes int
}

// LimitsOf returns the limits of so many bytes. Each limit by itself takes a good part of
// them: all at once take more, and then the garbage collector runs more often.
func LimitsOf(memory int64) Limits {
	return Limits{
		Tables: int(memory / (64 << 10)), Keys: int(memory * board.DefaultKeys >> 30), KeyBytes: memory / 4 * 3,
		OpenKeys: int(memory >> 9), ReadBytes: int(memory >> 8),
	}
}

// state returns the options with the bounds that follow from the memory.
func (c Config) state() verdict.Options {
	l := LimitsOf(c.Memory)
	return options.OrDefault(c.Options, verdict.Options{MaxKeys: l.OpenKeys, Keys: l.Keys, KeyBytes: l.KeyBytes, Tables: l.Tables})
}

// Validate returns everything that is wrong with a configuration.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults options.Faults
	faults.Check(min(c.Lease, c.Poll, c.Stall, c.Forget, c.PageWithin, c.ViewDelay, c.PruneEvery, c.CloudWatchEvery, c.LookEvery) < 0,
		"judge: give no negative duration")
	faults.Check(c.Lease < 3*c.Poll, "judge lease: give at least three times the poll interval, or it runs out between two polls")
	faults.Check(c.Memory < LeastMemory, "judge memory is %d bytes: give at least %d MiB", c.Memory, LeastMemory>>20)
	faults.Check(c.MaxKeys < 0, "judge max keys: give a number above 0")
	return faults.Err()
}
