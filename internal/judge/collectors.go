package judge

import (
	"context"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/store"
)

// loadPipeline shows the state, now and then, how the collectors are: collection that
// stops is an incident, and no matter of readiness, because the judge can still serve
// and judge. The metrics of what was found are set as often.
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
	return t.measureFound(ctx, snap.Now)
}

// pipelineStatus returns the stored state of the collectors and of their sources.
func pipelineStatus(writers []store.Writer, snap *store.Snapshot) pipeline.Status {
	s := pipeline.Status{Now: snap.Now}
	if since, silent := store.SilentSince(writers, snap.Now); silent {
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
