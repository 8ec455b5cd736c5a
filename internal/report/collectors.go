package report

import (
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/internal/retry"
	"github.com/keyheat/keyheat/store"
)

// partCollectors is the part of the health that is about the collectors.
const partCollectors = "collectors"

// watchCollectors keeps the judge from being ready while no collector runs: no
// finding is no health then. Whether this process holds the lease does not matter.
func (j *Judge) watchCollectors(ctx context.Context) error {
	retry.Every(ctx, j.config.LookEvery, func(ctx context.Context) {
		if err := j.lookForCollectors(ctx); err != nil && ctx.Err() == nil {
			j.logger.Debug("look for collectors", "error", err) // the judge reports an unavailable store
		}
	})
	return nil
}

func (j *Judge) lookForCollectors(ctx context.Context) error {
	now, err := j.store.Now(ctx)
	if err != nil {
		return err
	}
	writers, err := j.store.Writers(ctx)
	if err != nil {
		return err
	}
	since, silent := store.Silence(writers, now)
	if !silent {
		j.health.Heal(partCollectors)
		return nil
	}
	reason := fmt.Sprintf("none has written since %s: start one, or look why they cannot reach the database; what is shown is of then",
		since.UTC().Format(time.RFC3339))
	if j.health.Fail(partCollectors, reason) {
		j.logger.Error("collection has stopped", "since", since)
	}
	return nil
}

// loadPipeline shows the state, now and then, how the collectors are. In contrast to
// readiness this makes findings, which page: only by who judges.
func (t *term) loadPipeline(ctx context.Context, snap *store.Snapshot) error {
	if snap.Now.Sub(t.lookedAt) < t.judge.config.LookEvery {
		return nil
	}
	writers, err := t.judge.store.Writers(ctx)
	if err != nil {
		return err
	}
	t.state.LookAtPipeline(pipelineStatus(writers, snap))
	t.lookedAt = snap.Now
	return nil
}

// pipelineStatus returns what the store tells of the collectors and of what they read.
func pipelineStatus(writers []store.Writer, snap *store.Snapshot) pipeline.Status {
	s := pipeline.Status{Now: snap.Now}
	if since, silent := store.Silence(writers, snap.Now); silent {
		s.Silent = since
	}
	for _, w := range writers {
		if !w.Runs(snap.Now) {
			continue
		}
		c := detect.Collector{ID: w.ID, Host: w.Host, Seen: w.Seen, State: detect.CollectorState(w.State), Reason: w.Reason, Lag: w.Lag, BadShare: w.BadShare}
		if w.RefusedTables != nil {
			c.RefusedTables = new(int64(len(w.RefusedTables)))
			s.Refused = append(s.Refused, w.RefusedTables...)
		}
		s.Collectors = append(s.Collectors, c)
	}
	for _, m := range snap.Watermarks {
		p := pipeline.Partition{Through: m.Time, Moved: m.Moved, Seen: m.Seen, Lag: m.Lag}
		if m.Time.Equal(store.Beginning) {
			p.Through = time.Time{}
		}
		s.Partitions = append(s.Partitions, p)
	}
	return s
}
