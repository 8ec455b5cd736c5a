package cloudwatch

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Store holds the tables to read and the readings; *store.Store is one.
type Store interface {
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error)
	Now(ctx context.Context) (time.Time, error)
	ActiveTargets(ctx context.Context, since time.Time) ([]sample.Target, error)
	Incidents(ctx context.Context, q store.IncidentQuery) ([]store.Incident, error)
	CloudWatchReads(ctx context.Context) ([]store.CloudWatchRead, error)
	CloudWatchMinutes(ctx context.Context, at sample.Target, since time.Time) ([]store.CloudWatchMinute, error)
	PutCloudWatch(ctx context.Context, read store.CloudWatchRead, minutes []store.CloudWatchMinute) error
}

// Reader reads CloudWatch into the store.
type Reader struct {
	measures
	config Config
	// region returns the client of a Region, of the default one for "".
	region func(string) API
	store  Store
	log    *slog.Logger
	health daemon.Health
}

// New returns a reader that is ready to Run. The holder names this process among the
// processes that share the store.
func New(c Config, region func(string) API, st Store, holder string, log *slog.Logger) (*Reader, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	c.holder = holder
	return &Reader{measures: newMeasures(), config: c, region: region, store: st, log: log}, nil
}

// Run reads until ctx ends. CloudWatch being away is no reason to end, nor for the
// reporter not to be ready: findings say that they were not assessed.
func (r *Reader) Run(ctx context.Context) error {
	daemon.Every(ctx, poll, func(ctx context.Context) {
		if err := r.pass(ctx); err == nil {
			r.health.Heal(daemon.Whole)
		} else if ctx.Err() == nil && r.health.Fail(daemon.Whole, err.Error()) {
			r.log.Warn("read CloudWatch", "error", err)
		}
	})
	return nil
}

// pass reads the tables that are due, if it is this process that reads.
func (r *Reader) pass(ctx context.Context) error {
	_, mine, err := r.store.AcquireLease(ctx, "cloudwatch", r.config.holder, lease)
	if err != nil || !mine {
		return err
	}
	now, err := r.store.Now(ctx)
	if err != nil {
		return err
	}
	due, err := r.due(ctx, now)
	if err != nil {
		return err
	}
	byRegion := map[string][]turn{}
	for _, t := range due {
		byRegion[t.target.Region] = append(byRegion[t.target.Region], t)
	}
	for _, region := range slices.Sorted(maps.Keys(byRegion)) {
		if err := r.readRegion(ctx, region, byRegion[region], now); err != nil {
			return err
		}
	}
	return nil
}

type turn struct {
	target  sample.Target
	metrics []detect.Metric
	from    time.Time
}

// due returns the readings that are due now and within the month's budget.
func (r *Reader) due(ctx context.Context, now time.Time) ([]turn, error) {
	targets, err := r.targets(ctx, now)
	if err != nil {
		return nil, err
	}
	open, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	reads, err := r.store.CloudWatchReads(ctx)
	if err != nil {
		return nil, err
	}
	last := make(map[sample.Target]store.CloudWatchRead, len(reads))
	spent := 0.0
	for _, read := range reads {
		last[read.Target] = read
		spent += float64(read.Requested) * Price
	}
	r.measures.spent.Set(spent)
	budget := AllowedRequests(r.config.MonthlyCost, now) - spent
	var due []turn
	skipped := 0
	for _, target := range targets {
		t := turn{target: target, metrics: calmMetrics, from: firstMinute(last[target], now)}
		every := r.config.Every
		if open[baseOf(target)] {
			t.metrics, every = watched, everyOpen
		}
		if now.Sub(last[target].Attempted) < every {
			continue
		}
		if budget -= float64(len(t.metrics)) * Price; budget < 0 {
			skipped++
			continue
		}
		due = append(due, t)
	}
	r.sayBudget(skipped, spent)
	return due, nil
}

// sayBudget logs, once, that the budget holds readings back, and that it does no more.
func (r *Reader) sayBudget(skipped int, spent float64) {
	const part = "budget"
	switch {
	case skipped == 0:
		r.health.Heal(part)
	case r.health.Fail(part, "the month's budget holds readings back"):
		r.log.Warn("CloudWatch is read less: the month's budget is used up for now; raise cloudwatch.monthly_cost, or name fewer tables",
			"tables", skipped, "spent_usd", spent, "monthly_cost_usd", r.config.MonthlyCost)
	}
}

// AllowedRequests returns the budget up to now: the month's share so far, and one day in
// advance, so that an incident can be watched on the first day.
func AllowedRequests(monthly float64, now time.Time) float64 {
	now = now.UTC()
	begin := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	elapsed := now.Sub(begin) + 24*time.Hour
	return min(monthly, monthly*float64(elapsed)/float64(begin.AddDate(0, 1, 0).Sub(begin)))
}

// firstMinute returns where a reading begins: behind the last one, and the first as far back
// as coverage is estimated from.
func firstMinute(last store.CloudWatchRead, now time.Time) time.Time {
	span := corroboration.Span * time.Minute
	if last.Through.IsZero() || now.Sub(last.Through) > span {
		return now.Add(-span).Truncate(time.Minute)
	}
	return last.Through.Add(-overlap)
}

// targets returns the tables and indexes to read: the samples' and the operator's.
func (r *Reader) targets(ctx context.Context, now time.Time) ([]sample.Target, error) {
	all, err := r.store.ActiveTargets(ctx, now.Add(-active))
	if err != nil {
		return nil, err
	}
	for _, name := range r.config.Tables {
		if !slices.ContainsFunc(all, func(t sample.Target) bool { return t.Table == name && t.Index == "" }) {
			all = append(all, sample.Target{Table: name})
		}
	}
	slices.SortFunc(all, sample.Target.Compare)
	return all, nil
}

// open returns the tables with an incident that is not over.
func (r *Reader) open(ctx context.Context) (map[sample.Target]bool, error) {
	open := map[sample.Target]bool{}
	for _, state := range []detect.State{detect.Firing, detect.Pending} {
		incidents, err := r.store.Incidents(ctx, store.IncidentQuery{State: string(state)})
		if err != nil {
			return nil, err
		}
		for i := range incidents {
			open[baseOf(incidents[i].Target)] = true
		}
	}
	return open, nil
}

// baseOf returns an index's table.
func baseOf(t sample.Target) sample.Target {
	t.Index = ""
	return t
}

// readRegion reads tables of one Region and stores each reading by itself, so that a
// failure to store a later table keeps the earlier ones.
func (r *Reader) readRegion(ctx context.Context, region string, due []turn, now time.Time) error {
	begin := slices.MinFunc(due, func(a, b turn) int { return a.from.Compare(b.from) }).from
	var wanted []query
	for _, t := range due {
		for _, m := range t.metrics {
			wanted = append(wanted, query{t.target, m})
		}
	}
	through := now.UTC().Truncate(time.Minute)
	called, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	results := read(called, r.region(region), wanted, begin, through)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, t := range due {
		if err := r.put(ctx, t, results[t.target], through); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) put(ctx context.Context, t turn, result Result, through time.Time) error {
	read := store.CloudWatchRead{
		Target: t.target, State: string(result.State), Message: result.Message, Requested: int64(len(t.metrics)),
	}
	if result.State == corroboration.Read || result.State == corroboration.NoData {
		read.Through = through
	}
	minutes, err := r.merge(ctx, t, result.Minutes)
	if err != nil {
		return err
	}
	r.measures.reads.WithLabelValues(string(result.State)).Inc()
	r.measures.requested.Add(float64(len(t.metrics)))
	r.say(t.target, result)
	return r.store.PutCloudWatch(ctx, read, minutes)
}

// merge returns the minutes to store: with the metrics that an earlier reading of the
// same minutes asked for, and this one did not.
func (r *Reader) merge(ctx context.Context, t turn, minutes []corroboration.Minute) ([]store.CloudWatchMinute, error) {
	earlier, err := r.store.CloudWatchMinutes(ctx, t.target, t.from)
	if err != nil {
		return nil, err
	}
	before := make(map[time.Time]map[string]float64, len(earlier))
	for _, m := range earlier {
		before[m.Minute.UTC()] = m.Metrics
	}
	merged := make([]store.CloudWatchMinute, len(minutes))
	for i, m := range minutes {
		all := maps.Clone(before[m.At])
		if all == nil {
			all = make(map[string]float64, len(m.Metrics))
		}
		for name, v := range m.Metrics {
			all[string(name)] = v
		}
		merged[i] = store.CloudWatchMinute{Target: t.target, Minute: m.At, Metrics: all}
	}
	return merged, nil
}

// say logs, once, that a table cannot be read, and that it can be again.
func (r *Reader) say(target sample.Target, result Result) {
	part := target.Name()
	if result.State == corroboration.Read {
		if r.health.Heal(part) {
			r.log.Info("CloudWatch is read again", "table", part)
		}
		return
	}
	reason := cmp.Or(result.Message, fmt.Sprintf("CloudWatch has no data of %s: is its Region, its account and its name right?", part))
	if r.health.Fail(part, reason) {
		r.log.Warn("CloudWatch tells nothing of a table; its findings say so", "table", part, "state", result.State, "error", reason)
	}
}
