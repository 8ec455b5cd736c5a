package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// API are the operations of CloudWatch that this package uses; *cloudwatch.Client is one.
type API interface {
	PutMetricData(context.Context, *cloudwatch.PutMetricDataInput, ...func(*cloudwatch.Options)) (*cloudwatch.PutMetricDataOutput, error)
}

// Store holds the figures behind the metrics; *store.Store has it.
type Store interface {
	AcquireLease(ctx context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error)
	Now(ctx context.Context) (time.Time, error)
	SeenMinutes(ctx context.Context, from, to time.Time, most int) ([]store.SeenMinute, error)
	Heat(ctx context.Context, q store.HeatQuery) ([]store.Rollup, error)
	TableViews(ctx context.Context) ([]store.TargetDocument, error)
	OpenIncidents(ctx context.Context) ([]store.OpenIncidents, error)
}

// Publisher writes a minute after the other.
type Publisher struct {
	measures
	config Config
	// region returns the client of a Region, of the default one for "".
	region func(string) API
	store  Store
	holder string
	log    *slog.Logger
	health daemon.Health

	// next is the next minute of each Region; one that is missing begins with the newest.
	next map[string]time.Time
	// admitted are the tables with metrics. A table stays, because a metric is paid by
	// the hours in which it was written.
	admitted map[sample.Target]bool
}

// New returns a publisher that is ready to Run. The holder names this process among the
// processes that share the store.
func New(c Config, region func(string) API, st Store, holder string, log *slog.Logger) (*Publisher, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Publisher{
		measures: newMeasures(), config: options.OrDefault(c, Default()), region: region, store: st, holder: holder, log: log,
		next: make(map[string]time.Time), admitted: make(map[sample.Target]bool),
	}, nil
}

// Run writes until ctx ends. CloudWatch being away is no reason to end, nor for the
// reporter not to be ready: minutes are written later, up to a quarter of an hour.
func (p *Publisher) Run(ctx context.Context) error {
	daemon.Every(ctx, poll, func(ctx context.Context) {
		if err := p.pass(ctx); err == nil {
			p.health.Heal(daemon.Whole)
		} else if ctx.Err() == nil && p.health.Fail(daemon.Whole, err.Error()) {
			p.log.Warn("write metrics to CloudWatch", "error", err)
		}
	})
	return nil
}

// pass writes the minutes that are due, if it is this process that writes.
func (p *Publisher) pass(ctx context.Context) error {
	_, mine, err := p.store.AcquireLease(ctx, "cloudwatch-publish", p.holder, lease)
	if err != nil || !mine {
		return err
	}
	now, err := p.store.Now(ctx)
	if err != nil {
		return err
	}
	newest := now.Add(-delay).Truncate(time.Minute).Add(-time.Minute)
	first := newest
	for region, next := range p.next {
		next = slices.MaxFunc([]time.Time{next, newest.Add(-backlog)}, time.Time.Compare)
		p.next[region] = next
		if next.Before(first) {
			first = next
		}
	}
	var failed error
	for at := first; !at.After(newest); at = at.Add(time.Minute) {
		data, err := p.minute(ctx, at)
		if err != nil {
			return err
		}
		for region := range data {
			if _, began := p.next[region]; !began && at.Equal(newest) {
				p.next[region] = at
			}
		}
		for _, region := range slices.Sorted(maps.Keys(p.next)) {
			if !p.next[region].Equal(at) {
				continue // written, or one before it is not
			}
			if err := p.write(ctx, region, data[region]); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
			p.next[region] = at.Add(time.Minute)
		}
	}
	return failed
}

// minute returns the data of a minute, by Region. The figures of the whole go to the
// default Region.
func (p *Publisher) minute(ctx context.Context, at time.Time) (map[string][]types.MetricDatum, error) {
	seen, err := p.store.SeenMinutes(ctx, at, at.Add(time.Minute), 1)
	if err != nil {
		return nil, err
	}
	of, err := p.load(ctx, at)
	if err != nil {
		return nil, err
	}
	byRegion := map[string][]types.MetricDatum{"": nil}
	if len(seen) > 0 {
		byRegion[""] = append(byRegion[""], secondsCounted(seen[0], at))
	}
	for _, target := range p.admit(of) {
		byRegion[target.Region] = append(byRegion[target.Region], of[target].data(target, at, len(seen) > 0)...)
	}
	return byRegion, nil
}

// load returns the known figures of a minute for each table and index.
func (p *Publisher) load(ctx context.Context, at time.Time) (map[sample.Target]*minute, error) {
	all := make(map[sample.Target]*minute)
	of := func(target sample.Target) *minute {
		if all[target] == nil {
			all[target] = &minute{}
		}
		return all[target]
	}
	rollups, err := p.store.Heat(ctx, store.HeatQuery{Level: int64(rollup.Minute), From: at, To: at.Add(time.Minute)})
	if err != nil {
		return nil, err
	}
	for _, r := range rollups {
		if err := of(r.Target).add(r); err != nil {
			return nil, err
		}
	}
	open, err := p.store.OpenIncidents(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range open {
		if o.Table != "" { // what is about the pipeline has none
			of(o.Target).firing = o.Firing
		}
	}
	views, err := p.store.TableViews(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range views {
		var t detect.Table
		if err := json.Unmarshal(v.Document, &t); err != nil {
			return nil, fmt.Errorf("stored view of %s: %w", v.Name(), err)
		}
		of(v.Target).covered = t.CloudWatch
	}
	return all, nil
}

// admit returns the tables with metrics, in order: first the tables that had metrics,
// then the hottest, within the budget.
func (p *Publisher) admit(all map[sample.Target]*minute) []sample.Target {
	var others []sample.Target
	for target := range all {
		if !p.admitted[target] {
			others = append(others, target)
		}
	}
	slices.SortFunc(others, func(a, b sample.Target) int {
		return cmp.Or(cmp.Compare(all[b].firing, all[a].firing), cmp.Compare(all[b].utilization, all[a].utilization), a.Compare(b))
	})
	room := min(max(p.config.Tables()-len(p.admitted), 0), len(others))
	for _, target := range others[:room] {
		p.admitted[target] = true
	}
	const part = "cost"
	switch without := len(others) - room; {
	case without == 0:
		p.health.Heal(part)
	case p.health.Fail(part, "the monthly cost leaves tables without metrics"):
		p.log.Warn("some tables have no metrics in CloudWatch, for their cost: raise cloudwatch.publish.monthly_cost", "tables", without, "monthly_cost_usd", p.config.MonthlyCost)
	}
	var chosen []sample.Target
	for target := range p.admitted {
		if all[target] != nil {
			chosen = append(chosen, target)
		}
	}
	slices.SortFunc(chosen, sample.Target.Compare)
	return chosen
}

// write writes the data of a Region, in as many calls as they need.
func (p *Publisher) write(ctx context.Context, region string, data []types.MetricDatum) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for part := range slices.Chunk(data, maxData) {
		_, err := p.region(region).PutMetricData(ctx, &cloudwatch.PutMetricDataInput{Namespace: aws.String(p.config.Namespace), MetricData: part})
		if err != nil {
			p.failures.Inc()
			return fmt.Errorf("in the Region %s: %w", cmp.Or(region, "of the environment"), err)
		}
		p.written.Add(float64(len(part)))
	}
	return nil
}
