package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/internal/incident/silence"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// term is the judge's memory while it holds one lease. It loads the data of a pass, lets
// the state judge them, and writes the results.
type term struct {
	judge *Judge
	lease store.Lease
	state *verdict.State
	// fingerprint identifies the installation's hash seed; deltas of another seed
	// are not read.
	fingerprint uint64
	// unreadable are the writers with a delta that could not be read, and why.
	// Nothing after that delta is read of them either: the cursor could not
	// express that one was left out.
	unreadable map[string]error
	// tried is when deltas that could not be read were tried last.
	tried time.Time
	// newest is the newest delta that this term has folded of each writer.
	newest map[string]int64
	// factsAt is the database's time when tables' facts were loaded last.
	factsAt time.Time
	// partitions are the maps of tables' partitions.
	partitions partitions
	// silences are the ones that are active, and unreadableSilences names the ones among
	// them that cannot be read.
	silences           silence.Cache
	unreadableSilences error
	// witness is CloudWatch's side.
	witness witness
	// lookedAt is the database's time of the newest look at the collectors.
	lookedAt time.Time
	// samples are the stored samples of tables.
	samples samples
	// evicted is how many of the evicted keys the metric counts, saidEvicted when the newest
	// of them were logged.
	evicted     int64
	saidEvicted time.Time
	// full reports that the log tells of more tables than memory.
	full bool
	// behind reports that there was more to read.
	behind bool
}

// begin loads the previous judge's stored state.
func (j *Judge) begin(ctx context.Context, lease store.Lease) (*term, error) {
	seed, err := j.store.HashSeed(ctx)
	if err != nil {
		return nil, err
	}
	cursors, err := j.store.Cursors(ctx)
	if err != nil {
		return nil, err
	}
	views, err := j.store.TableViews(ctx)
	if err != nil {
		return nil, err
	}
	findings, err := loadUnresolved(ctx, j.store)
	if err != nil {
		return nil, err
	}
	now, err := j.store.Now(ctx)
	if err != nil {
		return nil, err
	}
	checkpoints, err := j.store.Checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	s := verdict.NewState(j.config.state(), seed, cursors)
	s.Remember(checkpoints)
	s.RestoreViews(views)
	if err := loadHeat(ctx, j.store, s); err != nil {
		return nil, err
	}
	if err := loadOpenIncidents(ctx, j.store, s); err != nil {
		return nil, err
	}
	t := &term{
		judge: j, lease: lease, state: s,
		fingerprint: sketch.Fingerprint(seed), unreadable: make(map[string]error), newest: make(map[string]int64), witness: newWitness(), partitions: partitions{}, samples: samples{pauses: make(map[sample.Target]pause)},
	}
	if err := t.loadFacts(ctx, now); err != nil {
		return nil, err
	}
	if err := t.loadPartitions(ctx, now); err != nil { // what a finding proves follows from the map
		return nil, err
	}
	j.renewed.Store(new(time.Now()))
	return t, replay(ctx, j.store, s, s.Restore(findings), now)
}

// pass loads new deltas, judges them and writes the judgement.
func (t *term) pass(ctx context.Context) error {
	started := time.Now()
	if err := t.renew(ctx); err != nil {
		return err
	}
	snap, err := t.load(ctx)
	if err != nil {
		return err
	}
	h := fold.NewHorizon(snap, t.judge.config.Stall, t.judge.config.Forget, func(w string) bool { return t.unreadable[w] != nil })
	closing := t.state.Closing(h, snap.Now)
	if err := loadTens(ctx, t.judge.store, t.state, closing); err != nil {
		return err
	}
	if err := t.decide(ctx, closing, h, snap.Now); err != nil {
		return err
	}
	if err = t.write(ctx, closing, h, snap.Now); err == nil {
		t.samples.count(h, snap.Now)
	}
	t.judge.measures.pass(t.state.Windows, len(snap.Deltas), time.Since(started), err)
	t.sayFull()
	t.sayEvicted(t.state.Evictions(), snap.Now)
	t.sayAhead(snap.Now)
	return err
}

// sayAhead makes the judge not ready while seconds lie ahead of the store's clock.
func (t *term) sayAhead(now time.Time) {
	const part = "clock"
	newest, ahead := t.state.Windows.NewestAfter(now.Add(store.MaxAhead).Unix())
	if !ahead {
		t.judge.health.Heal(part)
		return
	}
	reason := fmt.Sprintf("samples of %s are up to %s ahead of the database's clock: correct the clock of their producer, or the database's; they are judged when their time has come",
		newest.Name(), time.Unix(newest.Second, 0).Sub(now).Round(time.Minute))
	if t.judge.health.Fail(part, reason) {
		t.judge.logger.Warn("a clock is ahead", "reason", reason)
	}
}

// sayFull counts and logs that there are more tables than the judge's memory is for. All
// are judged, so the judge stays ready.
func (t *term) sayFull() {
	full := t.state.Views.Full()
	if full && !t.full {
		t.judge.logger.Warn("there are more tables than memory: the key design of some stays unknown; give more judge.memory",
			"memory", t.judge.config.Memory, "tables", LimitsOf(t.judge.config.Memory).Tables)
	}
	t.full = full
	t.judge.measures.full.Set(0)
	if full {
		t.judge.measures.full.Set(1)
	}
}

// evictedEvery is the time between two logs about evicted keys.
const evictedEvery = time.Hour

// sayEvicted counts the keys near a limit that were evicted, and logs it once an hour: the
// hottest are judged all the same.
func (t *term) sayEvicted(evicted int64, now time.Time) {
	if evicted == t.evicted {
		return
	}
	t.judge.measures.evictedKeys.Add(float64(evicted - t.evicted))
	t.evicted = evicted
	if now.Sub(t.saidEvicted) < evictedEvery {
		return
	}
	t.saidEvicted = now
	t.judge.logger.Warn("there are more keys near a limit than memory: the least hot are not judged; give more judge.memory",
		"memory", t.judge.config.Memory, "evicted", evicted)
}

// renew prolongs the lease when a third of it has gone, or when it names a session that
// is not this process's.
func (t *term) renew(ctx context.Context) error {
	if time.Since(*t.judge.renewed.Load()) < t.judge.config.Lease/3 && t.lease.Session == t.judge.store.Session() {
		return nil
	}
	now := time.Now()
	lease, err := t.judge.store.RenewLease(ctx, t.lease, t.judge.config.Lease)
	if err == nil {
		t.lease = lease
		t.judge.renewed.Store(&now)
	}
	return err
}

// load reads the collectors' deltas since the last pass and folds them in: all readable
// ones, or none when the store fails.
func (t *term) load(ctx context.Context) (store.Snapshot, error) {
	st := t.judge.store
	again := time.Since(t.tried) >= t.judge.config.LookEvery
	snap, err := st.Read(ctx, t.cursors(again), t.limit())
	if err != nil {
		return snap, err
	}
	if err := t.checkChain(snap.Deltas); err != nil {
		return snap, err
	}
	deltas := t.decode(snap.Deltas, again)
	if err := loadOpen(ctx, st, t.state, deltas); err != nil {
		return snap, err
	}
	t.state.Fold(deltas, snap.Now)
	for _, d := range snap.Deltas {
		if t.unreadable[d.Writer] == nil || d.Seq <= t.state.Windows.Read[d.Writer] {
			t.newest[d.Writer] = d.Seq
		}
	}
	if err := t.loadBeside(ctx, &snap); err != nil {
		return snap, err
	}
	t.behind = snap.Behind
	if err := t.loadCloudWatch(ctx, snap.Now); err != nil {
		return snap, err
	}
	if err := t.loadFacts(ctx, snap.Now); err != nil {
		return snap, err
	}
	return snap, t.loadPartitions(ctx, snap.Now)
}

// limit returns how much is read at once. While the open seconds take much memory, it is
// the one delta that keeps the earliest of them open: memory costs time then, and no second
// closes as incomplete.
func (t *term) limit() store.ReadLimit {
	limit := t.judge.config.Read
	if t.state.IsCrowded() {
		limit.Deltas = 1
	}
	return limit
}

// loadBeside loads the rows that a pass needs beside the deltas, all at once, because a
// database may be far away. Gaps are read after the deltas that they may explain. How the
// collectors are is looked at now and then: collection that stops is an incident, and no
// matter of readiness, because the judge can still serve and judge.
func (t *term) loadBeside(ctx context.Context, snap *store.Snapshot) error {
	st, looks := t.judge.store, snap.Now.Sub(t.lookedAt) >= t.judge.config.LookEvery
	var (
		gaps     []store.Gap
		silences []store.Silence
		writers  []store.Writer
		tables   []pipeline.Table
		open     []store.IncidentCount
	)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		gaps, err = st.Gaps(ctx, store.GapQuery{Limit: verdict.MaxGaps})
		return err
	})
	group.Go(func() (err error) {
		silences, err = st.Silences(ctx, store.SilenceQuery{State: store.SilenceActive})
		return err
	})
	if looks {
		group.Go(func() (err error) { writers, err = st.Writers(ctx); return err })
		group.Go(func() (err error) { open, err = st.CountIncidents(ctx); return err })
		group.Go(func() (err error) {
			tables, err = t.samples.load(ctx, st, t.judge.config.Pipeline.NoSamples, t.state.QuietUntil)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	t.state.Gaps = gaps
	t.setSilences(silences)
	if looks {
		status := pipelineStatus(writers, snap)
		status.Counted, status.Tables = t.samples.counted, tables
		t.state.LookAtPipeline(status)
		t.judge.measures.age(t.samples.newest, t.samples.counted)
		t.judge.found.count(open)
		t.judge.found.forget(snap.Now)
		t.lookedAt = snap.Now
	}
	return nil
}

// setSilences gives the state the active silences. An unreadable silence silences
// nothing.
func (t *term) setSilences(active []store.Silence) {
	set, wrong := t.silences.Set(active)
	t.state.Silences = set
	t.judge.measures.unreadable.Set(float64(len(active) - len(set)))
	if was := t.unreadableSilences; wrong != nil && (was == nil || was.Error() != wrong.Error()) {
		t.judge.logger.Error("a silence cannot be read, so it silences nothing: expire it, and add another one", "error", wrong)
	}
	t.unreadableSilences = wrong
}

// decide lets the state observe the closing seconds, loads the stored state of the
// findings, and lets the state compare both. It begins with the observations of a pass
// whose loading failed.
func (t *term) decide(ctx context.Context, closing []fold.Instant, h fold.Horizon, now time.Time) error {
	for left, done := closing, false; ; left, done = t.state.Observe(left, h, now) {
		if err := loadEarlier(ctx, t.judge.store, t.state); err != nil {
			return err
		}
		if err := t.state.Compare(now); err != nil || done {
			return err
		}
	}
}

// write stores everything due, if there is anything, and then releases it.
func (t *term) write(ctx context.Context, closing []fold.Instant, h fold.Horizon, now time.Time) error {
	tables := t.state.Tables(now)
	if err := loadRollups(ctx, t.judge.store, t.state, h); err != nil {
		return err
	}
	p, err := t.state.Pending(closing, tables, h, now)
	if err != nil {
		return err
	}
	if p.Judgement.Maps, err = t.partitions.pending(now); err != nil {
		return err
	}
	if !p.Empty() || len(p.Judgement.Maps) > 0 {
		if err := t.writeJudgement(ctx, &p.Judgement); err != nil {
			return err
		}
		t.lease.Writes++
		if notified := t.judge.config.Notified; notified != nil && len(p.Notifications) > 0 {
			notified()
		}
	}
	t.state.MarkWritten(p)
	t.partitions.markWritten(p.Judgement.Maps)
	t.judge.measures.wrote(p.Judgement)
	t.judge.found.cover(tables)
	return t.judge.found.measure(p.Rollups)
}

// writeJudgement stores a judgement. It leaves out notifications that the outbox refuses
// because it holds others with their IDs: the rest must not wait for them.
func (t *term) writeJudgement(ctx context.Context, j *store.Judgement) error {
	err := t.judge.store.Judge(ctx, t.lease, *j)
	var conflict *store.ConflictError
	if !errors.As(err, &conflict) {
		return err
	}
	t.judge.measures.conflicts.Add(float64(len(conflict.IDs)))
	t.judge.logger.Error("notifications are lost, report this as a bug: the outbox holds others with their IDs", "ids", conflict.IDs)
	j.Notifications = slices.DeleteFunc(slices.Clone(j.Notifications), func(n store.Notification) bool { return slices.Contains(conflict.IDs, n.ID) })
	return t.judge.store.Judge(ctx, t.lease, *j)
}
