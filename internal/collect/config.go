package collect

import (
	"runtime"
	"time"

	"github.com/keyheat/keyheat/internal/keypolicy"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/keyheatjson"
	"github.com/keyheat/keyheat/sketch"
)

// MaxPendingBytes is the upper bound of Config.PendingBytes. It keeps one delta below
// sketch's limit for a delta.
const MaxPendingBytes = 512 << 20

const (
	// commitTimeout bounds one attempt to write; another attempt follows.
	commitTimeout = 15 * time.Second
	// tooOld is how much older than its own message a record may be.
	tooOld = 10 * time.Minute
	// tooFarAhead is how much younger than its own message, and than the store's clock, a
	// record may be. Synchronised hosts are within milliseconds of each other, and paused
	// guests within seconds, so that a minute refuses no honest record.
	tooFarAhead = time.Minute
	// farthestAhead is how far, in the log's own time, a partition may run ahead of the
	// slowest one, and patience how long the others wait for a silent partition.
	farthestAhead = 30 * time.Second
	patience      = 10 * time.Second
	// unreadAfter is how long a partition may be silent before it counts as unread. A fetch
	// that nobody answers takes as long.
	unreadAfter = 10 * time.Second
	// abandonedAfter is how long nobody may report a subscribed partition before it counts as
	// unread: a consumer group waits ten seconds for a lost member.
	abandonedAfter = 20 * time.Second
	// mostBad is the share of bad samples in the last minute above which the collector is
	// not ready, if it had at least leastSamples samples.
	mostBad      = 0.5
	leastSamples = 100
)

// Decoder decodes the messages of one partition, as keyheatjson.Decoder does. It is used by
// one goroutine at a time.
type Decoder interface {
	// Decode passes every sample of a message to h, good or bad. at is the
	// message's own time in Unix milliseconds, 0 or less for none.
	Decode(message []byte, at int64, h sample.Handler)
}

// Config is how a collector gathers. A zero field takes its default.
type Config struct {
	// Source names the store's entry for the partitions, such as "kafka:keyheat". It is
	// part of every position's key, so that another name begins from the first record
	// again. If a claim has a cluster, the cluster replaces it.
	Source string
	// Host and Version name the collector's host and build, for a person.
	Host, Version string
	// Sketch is the geometry of every shard. New receives its Seed; its Limit is the load
	// that one partition serves.
	Sketch sketch.Config
	// Decoder makes the decoder of a partition, by its name; nil is Keyheat
	// JSON for all.
	Decoder func(partition string) Decoder
	// Hider returns a hider for a shard's keys; nil hides nothing.
	Hider func() *keypolicy.Hider
	// Tables are the tables and indexes in the settings, which keep their places in the sketches.
	Tables []sample.Target
	// Shards is the number of sketches that are filled side by side: one a core.
	Shards int

	// CommitInterval is how often gathered samples are written.
	CommitInterval time.Duration
	// EarlyCommit is the shortest time between two commits that come before their time
	// because a key came over a partition's limit, or a producer waits for its batch. It is longer
	// while commits are slow.
	EarlyCommit time.Duration
	// StopTimeout bounds Run after its context has ended. By then the source has released
	// its partitions, which commits nearly everything and may take as long again. Both have
	// to fit into the 10 seconds of a container's stop.
	StopTimeout time.Duration
	// PendingBytes bounds unwritten samples, in bytes. At half of it a commit begins early;
	// above it Fold blocks.
	PendingBytes int64
}

// Default returns the defaults of Config.
func Default() Config {
	return Config{
		CommitInterval: 2 * time.Second, EarlyCommit: 500 * time.Millisecond, StopTimeout: 3 * time.Second,
		PendingBytes: 256 << 20, Shards: runtime.GOMAXPROCS(0),
		Decoder: func(string) Decoder { return keyheatjson.NewDecoder() },
	}
}

func (c Config) withDefaults() Config { return options.OrDefault(c, Default()) }
