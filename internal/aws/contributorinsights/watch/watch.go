// Package watch reads Contributor Insights of the tables and indexes that have an open
// incident of a hot key, for the judge of the same process: what it counts of the key is
// said on the finding.
//
// One table or index costs at most two reports in five minutes, which are paid from the
// same month's budget as CloudWatch's metrics, over all reporters of a store. What was
// read is kept in memory only: a judge that takes over reads it again. Keys that a policy
// hides are hashed as they are read.
package watch

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/contributors"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/aws/contributorinsights"
	"github.com/keyheat/keyheat/internal/daemon/health"
	"github.com/keyheat/keyheat/internal/daemon/metrics"
	"github.com/keyheat/keyheat/internal/daemon/retry"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

const (
	// poll is how often it is looked for incidents.
	poll = 10 * time.Second
	// every is the pause between two readings of a table or index.
	every = 5 * time.Minute
	// Span is the time that one reading is of, up to five minutes ago: younger minutes
	// are not complete. What was read is kept for as long after the incident.
	Span = 30 * time.Minute
	// Most is how many tables and indexes are read at once, those of the newest
	// incidents.
	Most = 50
	// rules are those of partition keys that are read, a report each.
	rules = 2
	// callTimeout bounds the reading of one table or index.
	callTimeout = 30 * time.Second
)

// CostOpen is what reading one table or index costs in a day of an open incident, at
// most, in US dollars.
const CostOpen = float64(24*time.Hour/every) * rules * contributorinsights.Price

// Store is where incidents, what was spent and what the samples show come from;
// *store.Store is one.
type Store interface {
	Now(ctx context.Context) (time.Time, error)
	Incidents(ctx context.Context, q store.IncidentQuery) ([]store.Incident, error)
	CloudWatchReads(ctx context.Context) ([]store.CloudWatchRead, error)
	ChargeCloudWatch(ctx context.Context, at sample.Target, requested int64) error
	Rollups(ctx context.Context, q store.RollupQuery) ([]store.Rollup, error)
}

// Clients returns what is asked of a Region, of the default one for "".
type Clients func(region string) (contributorinsights.API, contributorinsights.Tables)

// Options are what a Watcher needs. None may be missing but Hashes.
type Options struct {
	Clients Clients
	Store   Store
	// Budget returns what all reporters of the store may have spent on CloudWatch in the
	// month by a time, in US dollars.
	Budget func(now time.Time) float64
	// Judges reports whether this process judges: the others read nothing.
	Judges func() bool
	// Hashes returns how a key of a table stands in samples; none or an error where that
	// cannot be told. Nil where no policy hides keys.
	Hashes func(sample.Target, sample.Key) ([]sample.Key, error)
	Log    *slog.Logger
}

// Watcher reads Contributor Insights beside open incidents.
type Watcher struct {
	Options
	measures
	health health.Status

	mu       sync.Mutex
	readings map[detect.Target]reading
}

// reading is one of a target, and when it was made, by the database's clock.
type reading struct {
	*contributors.Reading
	attempted time.Time
}

type measures struct {
	*metrics.Set
	reads   *prometheus.CounterVec
	reports prometheus.Counter
}

// New returns a watcher that is ready to Run.
func New(o Options) *Watcher {
	s := metrics.New("contributor_insights", nil)
	return &Watcher{Options: o, readings: map[detect.Target]reading{}, measures: measures{
		Set:     s,
		reads:   s.CounterVec("reads_total", "Readings of a table or index with an open incident, by whether anything was read.", "state", "read", "unread"),
		reports: s.Counter("reports_total", "Reports asked for with GetInsightRuleReport, which is what is paid."),
	}}
}

// Run reads until ctx ends. Contributor Insights being away is no reason to end, nor for
// the reporter not to be ready: findings say that it was not assessed.
func (w *Watcher) Run(ctx context.Context) error {
	retry.Every(ctx, poll, func(ctx context.Context) {
		if err := w.pass(ctx); err == nil {
			w.health.Heal(health.Whole)
		} else if ctx.Err() == nil && w.health.Fail(health.Whole, err.Error()) {
			w.Log.Warn("read Contributor Insights", "error", err)
		}
	})
	return nil
}

// Readings returns what was read, by table or index.
func (w *Watcher) Readings() map[detect.Target]*contributors.Reading {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[detect.Target]*contributors.Reading, len(w.readings))
	for target, r := range w.readings {
		all[target] = r.Reading
	}
	return all
}

// pass reads what is due, where this process judges.
func (w *Watcher) pass(ctx context.Context) error {
	if !w.Judges() {
		return nil
	}
	now, err := w.Store.Now(ctx)
	if err != nil {
		return err
	}
	w.forget(now)
	targets, err := w.open(ctx)
	if err != nil || len(targets) == 0 {
		return err
	}
	reads, err := w.Store.CloudWatchReads(ctx)
	if err != nil {
		return err
	}
	// A table that CloudWatch was not read of yet has nothing to be judged beside.
	known, spent := map[sample.Target]bool{}, 0.0
	for _, read := range reads {
		known[read.Target] = true
		spent += float64(read.Requested) * contributorinsights.Price // a metric and a report cost the same
	}
	budget := w.Budget(now) - spent
	for _, target := range targets {
		if !known[target] || now.Sub(w.lastAttempt(target)) < every {
			continue
		}
		if budget -= rules * contributorinsights.Price; budget < 0 {
			w.put(target, unread("the month's budget, cloudwatch.monthly_cost, is used up for now"), now)
			continue
		}
		r, err := w.read(ctx, target, now)
		if err != nil {
			return err
		}
		w.put(target, r, now)
	}
	return nil
}

// open returns the tables and indexes with an incident of a hot key that is not over,
// the newest first.
func (w *Watcher) open(ctx context.Context) ([]sample.Target, error) {
	var all []sample.Target
	for _, state := range []detect.State{detect.Firing, detect.Pending} {
		incidents, err := w.Store.Incidents(ctx, store.IncidentQuery{State: string(state), Cause: string(detect.CauseHotKey)})
		if err != nil {
			return nil, err
		}
		for i := range incidents {
			if !slices.Contains(all, incidents[i].Target) {
				all = append(all, incidents[i].Target)
			}
		}
	}
	return all[:min(len(all), Most)], nil
}

// lastAttempt is when a target was read last, or tried to be.
func (w *Watcher) lastAttempt(target sample.Target) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.readings[target].attempted
}

// forget drops readings that are old.
func (w *Watcher) forget(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.readings, func(_ detect.Target, r reading) bool { return now.Sub(r.attempted) > Span })
}

// put keeps a reading. One that failed leaves what was read before, as long as that is of
// some minute of the time that it would have been of.
func (w *Watcher) put(target sample.Target, r *contributors.Reading, now time.Time) {
	state := "read"
	if r.Unread == "" {
		w.health.Heal(target.Name())
	} else {
		state = "unread"
		if w.health.Fail(target.Name(), r.Unread) {
			w.Log.Warn("Contributor Insights tells nothing of a table; its findings say so", "table", target.Name(), "error", r.Unread)
		}
	}
	w.measures.reads.WithLabelValues(state).Inc()
	w.mu.Lock()
	defer w.mu.Unlock()
	if before := w.readings[target]; r.Unread != "" && before.Reading != nil && before.Unread == "" && now.Sub(before.To) < Span {
		r = before.Reading
	}
	w.readings[target] = reading{r, now}
}

// unread is a reading that tells nothing, and why.
func unread(why string) *contributors.Reading { return &contributors.Reading{Unread: why} }

// read reads one table or index. Its error is the store's: what is wrong with Contributor
// Insights is what the reading tells.
func (w *Watcher) read(ctx context.Context, target sample.Target, now time.Time) (*contributors.Reading, error) {
	called, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	api, tables := w.Clients(target.Region)
	setup, err := contributorinsights.Describe(called, tables, target)
	if err == nil {
		err = setup.ErrDisabled()
	}
	if err != nil {
		return unread(err.Error()), ctx.Err()
	}
	to := now.UTC().Truncate(time.Minute).Add(-corroboration.Delay)
	r := &contributors.Reading{From: to.Add(-Span), To: to, Names: map[string]string{}}
	reports := contributorinsights.Reader{API: api}
	for rule, counts := range map[contributorinsights.Rule]*contributors.Counts{
		contributorinsights.AccessedKeys: &r.Accessed, contributorinsights.ThrottledKeys: &r.Throttled,
	} {
		name, exists := setup.Rules[rule]
		if !exists {
			continue
		}
		// Before it is asked for, so that a process that fails again and again pays for it.
		if err := w.Store.ChargeCloudWatch(ctx, target, 1); err != nil {
			return nil, err
		}
		w.measures.reports.Inc()
		// One call: what is not listed then has a bound that is not searched for.
		report, err := reports.Read(called, name, r.From, r.To, math.Inf(1))
		if err != nil {
			return unread(err.Error()), ctx.Err()
		}
		*counts = contributors.Counts{Exists: true, Series: report.Series, Unlisted: report.Unlisted}
	}
	if len(r.Accessed.Series) == 0 {
		if rule := reports.ExplainDisabled(called, &setup, contributorinsights.AccessedKeys, contributorinsights.ThrottledKeys); rule != "" {
			return unread(rule), ctx.Err()
		}
	}
	w.name(target, r)
	return r, w.loadSampled(ctx, target, r)
}
