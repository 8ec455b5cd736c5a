// Package judge judges the collectors' counts. A Judge reads their deltas from the store,
// folds them into whole seconds, lets the board of package detect decide, and writes
// seconds, findings, changes of findings and the resulting notifications.
//
// # One at a time
//
// Any number of processes may run a Judge; the holder of a lease judges and the others
// wait. All results of one reading are one transaction, which the lease guards: a judge
// that was frozen past its lease writes nothing.
//
// # The death of a process
//
// A second is folded in memory and written when it is over, once, and again when late
// samples come. The memory's content is also in deltas beyond the stored cursors, so the
// next judge continues by reading them again: a stored second carries the vector of its
// deltas, and none of these is added twice. What the judge remembers beside its seconds is
// in checkpoints, written with the judgement. After a restart everything is the same as
// without it, but for the view of a table's keys, which begins anew. Without a checkpoint of its
// version a judge replays the last 15 minutes.
//
// # The end of a second
//
// A second is complete when the watermark of every known partition has passed its end. A
// partition whose watermark stands still is waited for only so long: its seconds are then
// closed as incomplete. Their loads still count, and they prove no silence: a finding
// never resolves on them.
package judge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Store is the judge's part of the store; *store.Store has it.
type Store interface {
	// The judges take turns.
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error)
	RenewLease(ctx context.Context, l store.Lease, ttl time.Duration) (store.Lease, error)
	ReleaseLease(ctx context.Context, l store.Lease) error
	Session() int64

	// The collectors' rows, and their health.
	HashSeed(ctx context.Context) (uint64, error)
	Listen(ctx context.Context) <-chan struct{}
	Read(ctx context.Context, after map[string]int64, l store.ReadLimit) (store.Snapshot, error)
	Now(ctx context.Context) (time.Time, error)
	Writers(ctx context.Context) ([]store.Writer, error)
	sampleStore
	Gaps(ctx context.Context, q store.GapQuery) ([]store.Gap, error)
	RecordWentBack(ctx context.Context, noticedBy string, since time.Time) error

	// Facts about tables, and active silences.
	Silences(ctx context.Context, q store.SilenceQuery) ([]store.Silence, error)
	TableViews(ctx context.Context) ([]store.TargetDocument, error)
	TableFacts(ctx context.Context) ([]store.TargetDocument, error)
	PartitionMaps(ctx context.Context) ([]store.TargetDocument, error)
	StreamShards(ctx context.Context, since time.Time) ([]store.StreamShard, error)
	CountIncidents(ctx context.Context) ([]store.IncidentCount, error)
	// Closed seconds and roll-ups.
	LastWindows(ctx context.Context, of []sample.Target) ([]time.Time, error)
	EachWindows(ctx context.Context, all []store.WindowQuery) ([][]store.Window, error)
	EachRollups(ctx context.Context, all []store.RollupQuery) ([][]store.Rollup, error)
	RollupSpans(ctx context.Context, of *sample.Target, levels []int64) ([]store.RollupSpan, error)
	LastSeenMinute(ctx context.Context) (store.SeenMinute, bool, error)
	// Earlier findings, and their incidents.
	Findings(ctx context.Context, q store.FindingQuery) ([]store.Finding, error)
	FindingsByFingerprint(ctx context.Context, fingerprints []string) ([]store.Finding, error)
	IncidentsByID(ctx context.Context, ids []string) ([]store.Incident, error)
	Incidents(ctx context.Context, q store.IncidentQuery) ([]store.Incident, error)
	Checkpoints(ctx context.Context) ([]store.Checkpoint, error)
	// CloudWatch's minutes, and the samples' minutes.
	CloudWatchReads(ctx context.Context) ([]store.CloudWatchRead, error)
	EachCloudWatchMinutes(ctx context.Context, all []store.MinuteQuery) ([][]store.CloudWatchMinute, error)
	EachMinuteTotals(ctx context.Context, all []store.MinuteQuery) ([][]store.MinuteTotal, error)

	// Where judgements go.
	Cursors(ctx context.Context) (map[string]int64, error)
	Judge(ctx context.Context, l store.Lease, j store.Judgement) error
	Prune(ctx context.Context, r store.Retention) (store.Pruned, error)
}

// maxBehind is how long stored deltas may wait before the judge is not ready: an alert is
// late by then.
const maxBehind = 30 * time.Second

// Judge is the reporter's judge.
type Judge struct {
	measures
	config Config
	store  Store
	holder string
	logger *slog.Logger
	health daemon.Health
	// judged is the time at which this process last judged all deltas and stored the
	// results; nil while another one judges.
	judged atomic.Pointer[time.Time]
	// current is when the newest pass began that left nothing to read, or this process
	// began to judge; nil while another one judges.
	current atomic.Pointer[time.Time]
	// renewed is when this process last prolonged the lease that it uses.
	renewed atomic.Pointer[time.Time]

	// last is the newest lease that this judge used; lacks is the time since which the
	// database lacks written rows, if no gap records it yet, or zero.
	last  store.Lease
	lacks time.Time
}

// New returns a judge that is ready to Run. The holder names this process for
// the lease: another name at every start.
func New(c Config, st Store, holder string, logger *slog.Logger) (*Judge, error) {
	c = c.withDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	j := &Judge{measures: newMeasures(), config: c, store: st, holder: holder, logger: logger}
	j.GaugeFunc("behind_seconds", "Age of the newest pass that left nothing to judge, in seconds; 0 while another process judges.", func() float64 { return j.lag().Seconds() })
	return j, nil
}

// Run judges, and prunes rows older than their retention, until ctx ends. It waits for a
// store that is unavailable.
func (j *Judge) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return j.judge(ctx) })
	group.Go(func() error { return j.pruneAtIntervals(ctx) })
	return group.Wait()
}

// judge judges whenever it holds the lease. The memory lives as long as the lease, and
// through an outage of the store.
func (j *Judge) judge(ctx context.Context) error {
	wake := j.store.Listen(ctx)
	wait := daemon.NewBackOff(j.config.Poll/4, 10*j.config.Poll)
	var term *term
	defer func() { j.release(ctx, term) }()
	for ctx.Err() == nil {
		next, err := j.turn(ctx, term)
		term = next
		switch {
		case err == nil:
			j.health.Heal(daemon.Whole)
			wait.Reset()
			j.sleep(ctx, wake, term)
		case ctx.Err() == nil:
			j.recordFailure(err)
			daemon.Pause(ctx, wait.NextBackOff())
		}
	}
	return nil
}

// turn takes the lease if it must, and makes one pass. It returns the term to
// go on with, nil when there is none.
func (j *Judge) turn(ctx context.Context, t *term) (*term, error) {
	if t != nil {
		defer j.keepLease(ctx, t.lease)()
	} else {
		lease, leads, err := j.store.AcquireLease(ctx, store.JudgeLease, j.holder, j.config.Lease)
		if err != nil {
			return nil, err
		}
		if !leads {
			j.current.Store(nil)
			return nil, nil
		}
		taken := time.Now() // nobody else judges from now on
		j.current.CompareAndSwap(nil, &taken)
		defer j.keepLease(ctx, lease)()
		if err := j.compare(ctx, lease); err != nil {
			return nil, err
		}
		if t, err = j.begin(ctx, lease); err != nil {
			return nil, fmt.Errorf("begin to judge: %w", err)
		}
		j.logger.Info("judging", "holder", j.holder, "token", lease.Token)
		j.measures.leader.Set(1)
	}
	began := time.Now()
	err := t.pass(ctx)
	j.last = t.lease
	if err == nil {
		j.judged.Store(new(time.Now()))
		if !t.behind {
			j.current.Store(&began)
		}
	}
	if errors.Is(err, store.ErrWentBack) {
		j.last.Writes = math.MaxInt64 // whatever the lease's row says
	}
	if errors.Is(err, store.ErrLeaseLost) || errors.Is(err, store.ErrAmbiguous) || errors.Is(err, store.ErrWentBack) {
		j.measures.rest()
		j.current.Store(nil)
		j.logger.Warn("restarting from what is stored", "cause", err)
		return nil, nil
	}
	return t, err
}

// maxLeases is for how many times its length a lease is kept during one turn. A turn that
// hangs may not hang in another process.
const maxLeases = 20

// keepLease renews a lease until stop is called: a turn may take longer than the lease, and
// another judge would only begin the same work again. A lease that another process has
// taken stays lost; the turn learns it when it writes.
func (j *Judge) keepLease(ctx context.Context, lease store.Lease) (stop func()) {
	ctx, cancel := context.WithTimeout(ctx, maxLeases*j.config.Lease)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		for daemon.Pause(ctx, j.config.Lease/3); ctx.Err() == nil; daemon.Pause(ctx, j.config.Lease/3) {
			now := time.Now()
			if _, err := j.store.RenewLease(ctx, lease, j.config.Lease); err == nil {
				j.renewed.Store(&now)
			}
		}
	})
	return func() { cancel(); renewing.Wait() }
}

// compare looks whether the database went back since this judge used its lease last, and
// records it.
func (j *Judge) compare(ctx context.Context, lease store.Lease) error {
	if j.last.Token == 0 || !j.last.IsBehind(lease) {
		return nil
	}
	if j.lacks.IsZero() { // else the lease was taken since
		j.lacks = lease.Used
		j.logger.Error("the database went back to an earlier state; starting over from what is stored", "state_of", j.lacks)
	}
	if err := j.store.RecordWentBack(ctx, j.holder, j.lacks); err != nil {
		return err
	}
	j.last, j.lacks = lease, time.Time{}
	return nil
}

// sleep waits for new deltas: a wake-up, or the poll interval, or not at all while
// there is more to read. A process that waits for the lease asks four times as often, since
// the end of the judge's session wakes nobody.
func (j *Judge) sleep(ctx context.Context, wake <-chan struct{}, t *term) {
	switch {
	case t == nil:
		daemon.Wait(ctx, j.config.Poll/4, wake)
	case !t.behind:
		daemon.Wait(ctx, j.config.Poll, wake)
	}
}

// release lets another judge take over at once; it takes no longer than a poll.
func (j *Judge) release(ctx context.Context, t *term) {
	if t == nil {
		return
	}
	j.measures.rest()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.config.Poll)
	defer cancel()
	if err := j.store.ReleaseLease(ctx, t.lease); err != nil {
		j.logger.Warn("could not release the lease; it expires by itself", "cause", err)
	}
}

func (j *Judge) recordFailure(err error) {
	j.measures.errors.Inc()
	if j.health.Fail(daemon.Whole, fmt.Sprintf("judging fails: %v", err)) {
		j.logger.Error("judging fails; retrying", "error", err)
	}
}

// pruneAtIntervals prunes at intervals. Any process may, whether it judges or
// not.
func (j *Judge) pruneAtIntervals(ctx context.Context) error {
	for daemon.Pause(ctx, j.config.PruneEvery); ctx.Err() == nil; daemon.Pause(ctx, j.config.PruneEvery) {
		if err := j.prune(ctx); err != nil && ctx.Err() == nil {
			j.measures.errors.Inc()
			j.logger.Warn("pruning fails; retrying later", "error", err)
		}
	}
	return nil
}

// prune deletes old rows, unless another process does.
func (j *Judge) prune(ctx context.Context) error {
	lease, mine, err := j.store.AcquireLease(ctx, "prune", j.holder, j.config.PruneEvery)
	if err != nil || !mine {
		return err
	}
	pruned, err := j.store.Prune(ctx, j.config.Retention)
	j.logger.Debug("pruned", "rows", pruned)
	return errors.Join(err, j.store.ReleaseLease(ctx, lease))
}

// Judges reports whether this process has judged within some time, and stored the results
// with their notifications.
func (j *Judge) Judges(within time.Duration) bool {
	at := j.judged.Load()
	return at != nil && time.Since(*at) < within
}

// Ready returns why the judge is not ready; nothing when it is. A judge that
// waits for the lease is ready.
func (j *Judge) Ready() []string {
	reasons := j.health.Reasons()
	if lag := j.lag(); lag > maxBehind+j.config.Poll {
		reasons = append(reasons, fmt.Sprintf("what collectors have stored was judged up to %s ago: the judge is too slow for it, or its database too far away; look at keyheat_report_pass_seconds", lag.Round(time.Second)))
	}
	return reasons
}

// lag is how long ago the newest pass began that left nothing to read; 0 while another
// process judges.
func (j *Judge) lag() time.Duration {
	at := j.current.Load()
	if at == nil {
		return 0
	}
	return time.Since(*at)
}
