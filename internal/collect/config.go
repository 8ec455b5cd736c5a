package collect

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
	"github.com/keyheat/keyheat/sketch"
)

// Defaults of Config.
const (
	DefaultCommitInterval = 2 * time.Second
	defaultCommitTimeout  = 15 * time.Second
	DefaultStopTimeout    = 10 * time.Second
	DefaultPendingBytes   = 256 << 20
	DefaultTooOld         = 10 * time.Minute
	DefaultTooFarAhead    = time.Minute
	defaultMaxAhead       = 30 * time.Second
	DefaultPatience       = 10 * time.Second
	defaultStuckAfter     = time.Minute
	defaultBadShare       = 0.5
	DefaultBadSamples     = 100
)

// maxPendingBytes keeps one delta under the most that sketch writes into one.
const maxPendingBytes = 512 << 20

// Decoder reads what the messages of one partition hold; see keyheatjson.Decoder,
// which is one. It is used by one goroutine at a time.
type Decoder interface {
	// Decode passes every sample of a message to h, good or bad. at is the
	// message's own time in Unix milliseconds, 0 or less for none.
	Decode(message []byte, at int64, h sample.Handler)
}

// Config is how a collector gathers. A zero field takes its default.
type Config struct {
	// Source names where the partitions live in the store, such as
	// "kafka:keyheat". It is part of every position's key, so that another name
	// begins from the first record again, unless a claim tells of a cluster: then
	// that is, and what was kept under Source moves there.
	Source string
	// Host says where the collector runs and Version which build it is, for a
	// person.
	Host, Version string
	// Sketch is the geometry of every shard; its Seed is given to New.
	Sketch sketch.Config
	// Decoder makes the decoder of a partition, by its name; nil is Keyheat
	// JSON for all.
	Decoder func(partition string) Decoder
	// Shards is how many sketches are filled side by side: one a core.
	Shards int

	// CommitInterval is how often what was gathered is written.
	CommitInterval time.Duration
	// CommitTimeout bounds one attempt to write; the next follows.
	CommitTimeout time.Duration
	// StopTimeout bounds what Run does after its context has ended.
	StopTimeout time.Duration
	// PendingBytes bounds what waits to be written, in bytes. At half of it a
	// commit begins early; above it Fold blocks.
	PendingBytes int64

	// TooOld is how much older than its own message a record may be.
	TooOld time.Duration
	// TooFarAhead is how much younger than its own message a record may be, and
	// how much younger than the wall clock a message may make its partition.
	TooFarAhead time.Duration
	// MaxAhead is how far, in the log's own time, a partition may run ahead of
	// the slowest one.
	MaxAhead time.Duration
	// Patience is how long the others wait for a silent partition.
	Patience time.Duration

	// StuckAfter is how long a watermark may stand still before the collector is
	// not ready.
	StuckAfter time.Duration
	// BadShare is the share of bad samples in the last minute above which the
	// collector is not ready, once there were BadSamples samples in it.
	BadShare   float64
	BadSamples int64
}

func (c Config) withDefaults() Config {
	c.CommitInterval = cmp.Or(c.CommitInterval, DefaultCommitInterval)
	c.CommitTimeout = cmp.Or(c.CommitTimeout, defaultCommitTimeout)
	c.StopTimeout = cmp.Or(c.StopTimeout, DefaultStopTimeout)
	c.TooOld = cmp.Or(c.TooOld, DefaultTooOld)
	c.TooFarAhead = cmp.Or(c.TooFarAhead, DefaultTooFarAhead)
	c.MaxAhead = cmp.Or(c.MaxAhead, defaultMaxAhead)
	c.Patience = cmp.Or(c.Patience, DefaultPatience)
	c.StuckAfter = cmp.Or(c.StuckAfter, defaultStuckAfter)
	c.Shards = cmp.Or(c.Shards, runtime.GOMAXPROCS(0))
	c.PendingBytes = cmp.Or(c.PendingBytes, DefaultPendingBytes)
	c.BadShare = cmp.Or(c.BadShare, defaultBadShare)
	c.BadSamples = cmp.Or(c.BadSamples, DefaultBadSamples)
	if c.Decoder == nil {
		c.Decoder = func(string) Decoder { return keyheatjson.NewDecoder() }
	}
	return c
}

// Validate returns every fault of a configuration at once.
func (c Config) Validate() error {
	c = c.withDefaults()
	var faults []error
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(strings.TrimSpace(c.Source) == "", "no source: name what is read, such as kafka:<group>")
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"commit interval", c.CommitInterval}, {"commit timeout", c.CommitTimeout},
		{"stop timeout", c.StopTimeout}, {"too far ahead", c.TooFarAhead}, {"max ahead", c.MaxAhead},
		{"patience", c.Patience}, {"stuck after", c.StuckAfter},
	} {
		fault(d.value < time.Millisecond || d.value > time.Hour, "%s is %s: must be from 1ms to 1h", d.name, d.value)
	}
	fault(c.TooOld < time.Second || c.TooOld > 30*24*time.Hour, "too old is %s: must be from 1s to 30 days", c.TooOld)
	fault(c.Shards < 1 || c.Shards > 1024, "%d shards: must be from 1 to 1,024", c.Shards)
	fault(c.PendingBytes < 64<<10 || c.PendingBytes > maxPendingBytes, "pending bytes are %d: must be from 64 KiB to 512 MiB", c.PendingBytes)
	fault(!(c.BadShare > 0 && c.BadShare <= 1), "bad share is %v: must be above 0, up to 1", c.BadShare)
	fault(c.BadSamples < 1, "bad samples are %d: must be at least 1", c.BadSamples)
	return errors.Join(append(faults, c.Sketch.Validate())...)
}
