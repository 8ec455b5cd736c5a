// Package push takes batches of samples and OpenTelemetry spans that producers send over HTTP:
//
//	POST /v1/samples
//	Content-Type: application/x-ndjson    Keyheat JSON, as application/json; or application/x-protobuf
//	Content-Encoding: zstd                or gzip, or none
//	Keyheat-Producer: orders-7c9f         one run of a producer
//	Keyheat-Sequence: 42                  the batch's number, from 1
//	Keyheat-Dropped: 7 1764350000000 1764350002000   requests that the producer dropped, and their
//	                                      first and last time: a gap
//
// The response comes after the commit of the batch's samples. With both headers a batch is
// counted once: the producer's position moves in that commit, and a repeated batch is
// recognised by every collector of the store. Without them a repeated batch counts again.
//
// # Sequences
//
// A producer has one batch on the way at a time, and sends it again until a response with
// status 200 arrives. The position is the number of the next batch, with a hash of the
// newest one. The newest batch again is a duplicate. Every other number is a conflict (409):
// an older one, a jump, and the newest number with other content, as after a restart that
// lost count. The producer then takes a new name and begins at 1.
//
// Collectors claim no producer. If two get one batch at once, the compare-and-swap of the
// second commit fails. That collector drops all its pending samples, and their producers
// send them again. It refuses the one producer for a while then: processes that share a name
// must not do so to all others again and again.
//
// A function's environments come and go. Their producers say Keyheat-Producer-Life: short, have
// five times the room, and are forgotten once they were idle for 15 minutes and the room is used
// up.
//
// # Spans
//
// POST /v1/traces takes requests of OTLP exporters, and answers as OTLP/HTTP says. Exporters
// send again without a number, so spans count at least once. A collector recognises a repeated
// span by its id among the newest ones: see [sample.Recent].
//
// # Firehose
//
// POST /v1/firehose takes Amazon Data Firehose's HTTP deliveries, whose records package format
// explains. Firehose sends a request again under its id, so an id is a short-lived producer of one
// batch: it counts once at all collectors. Records that Firehose reads twice are recognised by
// their ids, at one collector.
//
// # Watermarks
//
// A log knows what waits to be read, and a push does not. So a collector promises that
// samples older than Config.Late have arrived. Later ones count in seconds that are closed
// already. Each collector has a watermark for each format; the ones of a collector that is
// gone are not waited for. Spans and Firehose's records arrive later (Config.SpansLate). Their
// watermark falls behind only while some with keys arrive.
package push

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample/format"
	"github.com/keyheat/keyheat/store"
)

// Store is the part of the store that a Source reads; *store.Store implements it.
type Store interface {
	Producer(ctx context.Context, names ...string) (store.Position, error)
	ProducerRoom(ctx context.Context, prefix string, most int64, idle time.Duration) (room int64, err error)
}

// Config is how a Source takes batches. A zero field takes its default.
type Config struct {
	// Instance names this collector among the others, also after a restart.
	Instance string
	// MemoryBytes bounds the batches that are read and not yet counted.
	MemoryBytes int64
	// MaxBatch bounds a batch, in bytes: compressed, and decompressed.
	MaxBatch int64
	// MaxWaiting bounds the batches that wait for their commit.
	MaxWaiting int
	// ReadWithin is how long a body may take to arrive, and PieceWithin how long 64 KiB of it, or
	// its rest. A body that takes longer than PieceWithin ends when others wait for its memory.
	ReadWithin, PieceWithin time.Duration
	// RespondWithin is how long a request waits for the commit of its batch.
	RespondWithin  time.Duration
	ReleaseTimeout time.Duration
	// NameRest is how long batches of a producer are refused, at first, after two collectors had
	// batches of it at once. It doubles each time, up to a minute.
	NameRest time.Duration
	// MaxNames bounds the names of each user's lasting producers in the store. A user may have
	// five times as many short-lived ones.
	MaxNames int64
	// Sources are the streams of Firehose that may deliver, as ARNs that may end with *; empty
	// for all of users who may send.
	Sources []string
	// User returns who makes a request, by its context; nil where nobody is known.
	User func(context.Context) string
	// Late is how old samples may be when they arrive, and SpansLate how old spans and what
	// Firehose delivers.
	Late, SpansLate time.Duration
}

// Default returns the defaults of Config.
func Default() Config {
	return Config{
		MemoryBytes: 32 << 20, MaxBatch: 4 << 20, MaxWaiting: 4096,
		ReadWithin: 10 * time.Second, PieceWithin: 2 * time.Second, RespondWithin: 25 * time.Second, ReleaseTimeout: 3 * time.Second, NameRest: 2 * time.Second, MaxNames: 20_000, Late: 5 * time.Second, SpansLate: 12 * time.Second,
	}
}

// Source takes batches: see Handlers. It is a prometheus.Collector.
type Source struct {
	config Config
	store  Store
	log    *slog.Logger
	doors  map[format.Format]*door
	// arriving is the memory of bodies on their way, and memory that of whole ones: a whole one
	// never waits for one on its way.
	arriving, memory *source.Budget
	slots            chan struct{}
	decode           *decompressor
	*meters

	mu sync.Mutex
	// ctx is Run's; nil while nothing is taken. deliveries are under way.
	ctx        context.Context
	deliveries sync.WaitGroup
	// numbered are the batches on the way, by their producer.
	numbered map[string]*delivery
	// resting are producers whose batches are refused for a while.
	resting map[string]rest
	names   names
	// lookups are the turns of users to look a producer up in the store.
	lookups *daemon.Turns
}

// lookupsAtOnce is how many producers are looked up at once, half of them of one user: another
// user's do not wait behind the thousand new names of one.
const lookupsAtOnce = 32

// New returns a source. It asks producers to send again until Run is called. st may be nil
// until [Source.SetStore].
func New(c Config, st Store, logger *slog.Logger) *Source {
	c = options.OrDefault(c, Default())
	s := &Source{
		config: c, store: st, log: logger, arriving: source.NewBudget(c.MemoryBytes / 2), memory: source.NewBudget(c.MemoryBytes / 2), slots: make(chan struct{}, c.MaxWaiting),
		decode: newDecompressor(c.MaxBatch), numbered: make(map[string]*delivery), resting: make(map[string]rest), doors: make(map[format.Format]*door),
	}
	for _, f := range []format.Format{format.Keyheat, format.Protobuf, format.OTLP, format.Firehose} {
		s.doors[f] = &door{source: s, name: doorPrefix + c.Instance + "/" + string(f)}
	}
	s.lookups = daemon.NewTurns(lookupsAtOnce)
	s.names = names{most: c.MaxNames, of: make(map[string]*nameRoom)}
	s.meters = newMeters(s)
	return s
}

// SetStore sets the store of a source that does not run yet.
func (s *Source) SetStore(st Store) { s.store = st }

// Run counts the batches until ctx ends.
func (s *Source) Run(ctx context.Context, sink source.Sink) error {
	g, ctx := errgroup.WithContext(ctx)
	s.open(ctx)
	for _, d := range s.doors {
		g.Go(func() error { return d.run(ctx, sink) })
	}
	err := g.Wait()
	s.close()
	s.deliveries.Wait()
	return err
}

func (s *Source) open(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = ctx
}

func (s *Source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ctx = nil
}

// Ready returns why batches are refused; empty when they are taken.
func (s *Source) Ready() []string {
	for _, d := range s.doors {
		if !d.isOpen() {
			return []string{"batches are refused: the store does not answer yet"}
		}
	}
	return nil
}

// Unread returns nothing: producers send, and nobody knows what they have not sent.
func (s *Source) Unread() []daemon.Fault { return nil }

// Subscription returns nothing: each collector has doors of its own.
func (s *Source) Subscription() []string { return nil }

// Handlers returns the handlers of requests, by their patterns.
func (s *Source) Handlers() map[string]http.Handler {
	return map[string]http.Handler{"POST /v1/samples": s.samples(), "POST /v1/traces": s.traces(), "POST /v1/firehose": s.firehose()}
}

// samples returns the handler of batches of samples.
func (s *Source) samples() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := s.take(w, r, (*delivery).readHeaders)
		s.responses.WithLabelValues(strconv.Itoa(response.status)).Inc()
		response.write(w)
	})
}

// traces returns the handler of spans.
func (s *Source) traces() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		response := s.take(w, r, (*delivery).readSpanHeaders)
		if response.body.isBroken() {
			response = *refuse(http.StatusBadRequest, noSpans)
		}
		if response.status == http.StatusRequestTimeout {
			response.status = http.StatusServiceUnavailable // exporters would drop the spans
		}
		s.responses.WithLabelValues(strconv.Itoa(response.status)).Inc()
		s.countSpans(&response.body)
		response.writeOTLP(w, isJSON(r))
	})
}

// take reads a request's batch, counts it, and waits for its commit.
func (s *Source) take(w http.ResponseWriter, r *http.Request, headers headerReader) response {
	d, refused := s.read(w, r, headers)
	if refused != nil {
		return *refused
	}
	d, refused = s.begin(d)
	if refused != nil {
		return *refused
	}
	timeout := time.NewTimer(s.config.RespondWithin)
	defer timeout.Stop()
	select {
	case <-d.done:
		return d.response
	case <-timeout.C:
	case <-r.Context().Done():
	}
	return unavailable("the batch is not stored yet")
}
