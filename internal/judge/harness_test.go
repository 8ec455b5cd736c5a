package judge_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	wait "github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// The shared zstd decoder keeps its workers.
		goleak.IgnoreAnyFunction("github.com/klauspost/compress/zstd.(*blockDec).startDecoder"),
		// A connection whose query was canceled is closed behind the caller's back.
		goleak.IgnoreAnyFunction("github.com/jackc/pgx/v5/pgconn.(*PgConn).asyncClose.func1"),
		// The shared Postgres ends with the process.
		goleak.IgnoreAnyFunction("github.com/keyheat/keyheat/internal/testsupport/pgtest.(*watchdog).awaitEnd"))
}

const (
	route = "webhook"
	table = "orders"
)

// begin is the event time of second 0: recent enough to page, in whole
// minutes.
func begin() time.Time { return time.Now().Add(-10 * time.Minute).Truncate(time.Minute) }

// engines are what every test that depends on the store runs on.
var engines = map[string]func(t *testing.T) string{
	"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "keyheat.db") },
	"postgres": func(t *testing.T) string { return pgtest.Database(t) },
}

// anyEngine is the engine of tests that need only one: Postgres under the race detector.
func anyEngine() string {
	if pgtest.UnderRace {
		return "postgres"
	}
	return "sqlite"
}

// database returns the URL of a fresh database of anyEngine.
func database(t *testing.T) string { return engines[anyEngine()](t) }

// enginesFor returns the engines that a test runs on: both; with -short anyEngine, and the
// other one in every fourth test. The contract of store holds both to one behaviour.
func enginesFor(t *testing.T) map[string]func(t *testing.T) string {
	if !testing.Short() || crc32.ChecksumIEEE([]byte(t.Name()))%4 == 0 {
		return engines
	}
	return map[string]func(t *testing.T) string{anyEngine(): engines[anyEngine()]}
}

func open(t *testing.T, url string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), url, store.Options{Migrate: true})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// to sends all incidents to some receivers.
func to(receivers ...string) func(*detect.Incident) []string {
	return func(*detect.Incident) []string { return receivers }
}

// load is a key's write units in one second of the table.
type load struct {
	second int
	key    string
	wcu    int
}

// collector writes deltas as a collector would.
type collector struct {
	t      *testing.T
	store  *store.Store
	name   string
	start  time.Time
	shard  *sketch.Shard
	config sketch.Config
	claim  store.Position
	seq    int64
	// first is the earliest second of the delta that is written next.
	first int64
	// of is the account and Region of its records.
	of sample.Target
	// tells, if set, adds to each record the fields that its producer knows.
	tells func(r *sample.Record)
}

func collect(t *testing.T, s *store.Store, name string, partition int, start time.Time) *collector {
	t.Helper()
	seed, err := s.HashSeed(t.Context())
	must(t, err)
	c := &collector{t: t, store: s, name: name, start: start, config: sketch.Config{Seed: seed}}
	c.shard = sketch.NewShard(c.config)
	c.claim, err = s.Claim(t.Context(), name, store.Claim{PartitionID: store.PartitionID{Source: "test", Name: fmt.Sprint(partition)}, First: "0"})
	must(t, err)
	return c
}

// commit adds loads and commits them, with the watermark at a second; below 0
// for a commit that leaves the watermark alone.
func (c *collector) commit(watermark int, loads ...load) {
	c.t.Helper()
	for _, l := range loads {
		r := sample.Record{
			Time: c.start.Add(time.Duration(l.second) * time.Second).UnixMilli(), Table: table,
			PK: sample.KeyString(l.key), Op: sample.UpdateItem, WCU: sample.Milli(l.wcu) * 1000, Rate: 1, N: 1,
			Account: c.of.Account, Region: c.of.Region,
		}
		if c.tells != nil {
			c.tells(&r)
		}
		must(c.t, c.shard.Add(&r))
	}
	d := sketch.NewDelta(c.config)
	c.shard.Seal(d)
	var body []byte
	if !d.Empty() {
		var err error
		body, err = d.MarshalBinary()
		must(c.t, err)
	}
	c.first = d.First()
	c.write(watermark, sketch.Version, body)
}

func (c *collector) write(watermark, version int, body []byte) {
	c.t.Helper()
	c.seq++
	commit := store.Commit{Writer: c.name, Seq: c.seq, Version: version, Body: body, First: c.first}
	if watermark >= 0 {
		commit.Watermarks = []store.Watermark{{
			PartitionID: c.claim.PartitionID, Epoch: c.claim.Epoch,
			Time: c.start.Add(time.Duration(watermark) * time.Second),
		}}
	}
	must(c.t, c.store.Commit(c.t.Context(), commit))
}

// lose commits gaps of the collector's partition.
func (c *collector) lose(gaps ...store.Gap) {
	c.t.Helper()
	c.seq++
	for i := range gaps {
		gaps[i].Source, gaps[i].Partition = c.claim.Source, c.claim.Name
	}
	must(c.t, c.store.Commit(c.t.Context(), store.Commit{Writer: c.name, Seq: c.seq, Gaps: gaps}))
}

// probe stands between a judge and its store: it counts the calls, kills the
// judge at one of them, and sees when there is nothing left to read.
type probe struct {
	*store.Store
	calls  atomic.Int64
	judged atomic.Int64
	killAt int64
	late   bool // the killed call is carried out first
	// fault, when set, returns what goes wrong with the n-th call to Judge, and
	// whether it is carried out all the same.
	fault func(n int64) (err error, carried bool)
	dead  atomic.Bool
	// acquired is how often the lease was asked for and had.
	acquired atomic.Int64
	// hold, while locked, keeps the judge from reading.
	hold sync.Mutex
	idle atomic.Int64
	// ahead is by how much the database's clock is ahead of the test's, or of the time at
	// which it stands, where that is set: a slow machine is then not late.
	ahead  atomic.Int64
	stands time.Time
	// windowsAway is how many more looks for stored seconds fail, after deltas were read.
	windowsAway atomic.Int64
	// away is how many more looks for a finding fail as when the store is away.
	away atomic.Int64
	// slow is for how long each look for silences takes, and with it a pass.
	slow time.Duration
	// behind has each reading leave something unread.
	behind bool
}

var errKilled = errors.New("killed")

func (p *probe) call(f func() error) error {
	n := p.calls.Add(1)
	if p.dead.Load() {
		return errKilled
	}
	if p.killAt > 0 && n >= p.killAt {
		var err error
		if p.late {
			err = f()
		}
		p.dead.Store(true)
		return errors.Join(errKilled, err)
	}
	return f()
}

func (p *probe) Read(ctx context.Context, after map[string]int64, l store.ReadLimit) (snap store.Snapshot, err error) {
	p.hold.Lock()
	defer p.hold.Unlock()
	err = p.call(func() error { snap, err = p.Store.Read(ctx, after, l); return err })
	snap.Now, snap.Behind = p.clock(snap.Now), snap.Behind || p.behind
	if err == nil && len(snap.Deltas) == 0 {
		p.idle.Add(1)
	} else {
		p.idle.Store(0)
	}
	return snap, err
}

func (p *probe) Judge(ctx context.Context, l store.Lease, j store.Judgement) error {
	return p.call(func() error {
		if p.fault == nil {
			err := p.Store.Judge(ctx, l, j)
			if err != nil {
				p.idle.Store(0)
			}
			return err
		}
		err, carried := p.fault(p.judged.Add(1))
		if carried {
			err = errors.Join(err, p.Store.Judge(ctx, l, j))
		}
		if err != nil {
			p.idle.Store(0)
		}
		return err
	})
}

func (p *probe) AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (l store.Lease, ok bool, err error) {
	err = p.call(func() error { l, ok, err = p.Store.AcquireLease(ctx, name, holder, ttl); return err })
	if err == nil && ok && name == "judge" {
		p.acquired.Add(1)
	}
	return l, ok, err
}

func (p *probe) EachWindows(ctx context.Context, q []store.WindowQuery) (all [][]store.Window, err error) {
	if p.idle.Load() == 0 && p.windowsAway.Add(-1) >= 0 {
		return nil, store.ErrUnavailable
	}
	err = p.call(func() error { all, err = p.Store.EachWindows(ctx, q); return err })
	return all, err
}

func (p *probe) FindingsByFingerprint(ctx context.Context, fingerprints []string) (all []store.Finding, err error) {
	if p.away.Add(-1) >= 0 {
		return nil, store.ErrUnavailable
	}
	err = p.call(func() error { all, err = p.Store.FindingsByFingerprint(ctx, fingerprints); return err })
	return all, err
}

func (p *probe) Now(ctx context.Context) (now time.Time, err error) {
	now, err = p.Store.Now(ctx)
	return p.clock(now), err
}

// clock returns the judge's time when it is now.
func (p *probe) clock(now time.Time) time.Time {
	if !p.stands.IsZero() {
		now = p.stands
	}
	return now.Add(time.Duration(p.ahead.Load()))
}

func (p *probe) Silences(ctx context.Context, q store.SilenceQuery) (all []store.Silence, err error) {
	daemon.Pause(ctx, p.slow)
	err = p.call(func() error { all, err = p.Store.Silences(ctx, q); return err })
	return all, err
}

// ReleaseLease of a dead judge does nothing, as nothing a dead process does.
func (p *probe) ReleaseLease(ctx context.Context, l store.Lease) error {
	return p.call(func() error { return p.Store.ReleaseLease(ctx, l) })
}

// quick is a configuration whose waits a test can afford.
func quick() judge.Config {
	return judge.Config{
		Options: verdict.Options{
			Receivers:  to(route),
			ViewDelay:  time.Nanosecond, // so that cursors wait for nothing
			PageWithin: 24 * time.Hour,  // however long a test waits for its turn
		},
		Poll: 5 * time.Millisecond, Lease: 300 * time.Millisecond, Stall: time.Minute,
	}
}

// runner is a judge that runs, until stopped or killed.
type runner struct {
	*judge.Judge
	*probe
	stop func()
}

func run(t *testing.T, c judge.Config, p *probe) *runner {
	t.Helper()
	j, err := judge.New(c, p, fmt.Sprintf("judge-%d", rand.Uint64()), slog.New(slog.DiscardHandler))
	must(t, err)
	return &runner{Judge: j, probe: p, stop: goRun(t, j.Run)}
}

// goRun runs a part of a reporter until it is stopped, or the test ends.
func goRun(t *testing.T, run func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var group sync.WaitGroup
	group.Go(func() {
		if err := run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); group.Wait() })
	t.Cleanup(stop)
	return stop
}

// quiet waits until the judge has read and written everything, or is dead.
func (j *runner) quiet(t *testing.T) {
	t.Helper()
	j.idle.Store(0)
	await(t, func() bool { return j.idle.Load() >= 3 || j.dead.Load() })
}

// kills yields the calls of a judge at which it is killed: every one, and every
// fifteenth with -short.
func kills(yield func(at int64) bool) {
	step := int64(1)
	if testing.Short() {
		step = 15
	}
	for at := int64(1); at <= 60 && yield(at); at += step {
	}
}

// unlessShort is the usual number, or a tenth of it with -short.
func unlessShort(usual int) int {
	if testing.Short() {
		return usual / 10
	}
	return usual
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	wait.Until(t, "what the test waits for", done)
}

func must(t testing.TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}
