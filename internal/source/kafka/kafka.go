// Package kafka reads topics as one member of a consumer group, over kafka-go's
// connections. Offsets are kept by the Sink, and committed to the group for lag
// tools only.
package kafka

import (
	"crypto/tls"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go/sasl"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka/recordbatch"
)

// DefaultMaxBatchBytes is the bound of a batch where a Config gives none.
const DefaultMaxBatchBytes = recordbatch.DefaultLimit

// defaults are the defaults of Config.
var defaults = Config{
	ClientID: "keyheat-collector", SessionTimeout: 10 * time.Second, HeartbeatInterval: time.Second,
	RebalanceTimeout: 30 * time.Second, JoinBackoff: time.Second, PartitionWatch: 5 * time.Second,
	RequestTimeout: 10 * time.Second, MaxWait: 500 * time.Millisecond,
	FetchBytes: 1 << 20, MaxBatchBytes: DefaultMaxBatchBytes, MemoryBytes: 96 << 20,
	ReleaseTimeout: 4 * time.Second, CommitInterval: 5 * time.Second,
}

// Config has the brokers, the topics and the timeouts. A zero field takes its default.
type Config struct {
	// Brokers are host:port of some brokers of the cluster. The client discovers the
	// others.
	Brokers []string
	// Topics are the topics to read, each from its earliest record.
	Topics []string
	// Group is the consumer group whose members share the partitions.
	Group string
	// Instance, if set, names this member of the group across restarts of its process
	// (Kafka 2.3). The member then gets its partitions back at once. No other member may
	// have the name.
	Instance string
	// ClientID names the client in the brokers' logs and quotas.
	ClientID string
	// TLS, if set, returns the TLS configuration for each new connection.
	TLS func() *tls.Config
	// SASL, when set, authenticates every connection: kafka-go's plain or
	// scram.
	SASL sasl.Mechanism

	// SessionTimeout is how long the group waits for a silent member before it gives its
	// partitions away.
	SessionTimeout time.Duration
	// HeartbeatInterval is how often a member sends a heartbeat; at most a third of
	// SessionTimeout.
	HeartbeatInterval time.Duration
	// RebalanceTimeout is how long a rebalance waits for every member to release its
	// partitions.
	RebalanceTimeout time.Duration
	// JoinBackoff is the pause after a failed attempt to join the group.
	JoinBackoff time.Duration
	// PartitionWatch is how often the topics are checked for new partitions.
	PartitionWatch time.Duration

	// RequestTimeout bounds a request to a broker, beyond MaxWait for a fetch.
	RequestTimeout time.Duration
	// MaxWait is how long a broker holds a fetch at the end of the log, and how often an
	// idle partition moves its watermark. With a slow trickle of records, a broker's
	// partitions are fetched together, at most ten times within it.
	MaxWait time.Duration
	// FetchBytes is the size that one fetch of a partition requests. One larger
	// batch is still read.
	FetchBytes int
	// MaxBatchBytes bounds a fetched record batch, and a decompressed record. A larger
	// record is a gap.
	MaxBatchBytes int
	// MemoryBytes bounds the fetched bytes of all partitions that are not counted yet, both
	// compressed and decompressed. A single active partition may exceed it for a large
	// record.
	MemoryBytes int64

	// ReleaseTimeout bounds the last commit of a partition that is given up;
	// less than SessionTimeout, so that the group waits for it.
	ReleaseTimeout time.Duration
	// CommitInterval is how often durable positions are committed to the group, for
	// lag tools only.
	CommitInterval time.Duration
}

func (c Config) withDefaults() Config { return options.OrDefault(c, defaults) }

// Source reads topics as one member of a consumer group. Positions live in the
// Sink, never in Kafka: the group only assigns partitions.
type Source struct {
	config Config
	log    *slog.Logger
	health daemon.Health
	memory *source.Budget
	// coming is how many responses with records are arriving.
	coming atomic.Int64
	// subscribed are the partitions of the existing topics, as they were found last.
	subscribed atomic.Pointer[[]string]
	*meters
}

// New returns a source that has not connected yet.
func New(config Config, logger *slog.Logger) *Source {
	k := &Source{config: config.withDefaults(), log: logger, meters: newMeters()}
	k.memory = source.NewBudget(k.config.MemoryBytes)
	k.health.Fail(daemon.Whole, "not yet a member of the group "+config.Group)
	return k
}

// Ready returns why no samples are read, a sentence each; empty when all is well.
func (k *Source) Ready() []string { return k.health.Reasons() }

// Unread returns the topics and partitions that this member should read and cannot.
func (k *Source) Unread() []daemon.Fault { return k.health.Faults() }

// Subscription returns the partitions that the group should read.
func (k *Source) Subscription() []string {
	if all := k.subscribed.Load(); all != nil {
		return *all
	}
	return nil
}
