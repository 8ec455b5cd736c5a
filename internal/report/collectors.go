package report

import (
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/retry"
	"github.com/keyheat/keyheat/store"
)

// partCollectors is the part of the health that is about the collectors.
const partCollectors = "collectors"

// watchEvery is the pause between two looks at who collects.
const watchEvery = 5 * time.Second

// collectorStore is where collectors report themselves.
type collectorStore interface {
	Now(ctx context.Context) (time.Time, error)
	Writers(ctx context.Context) ([]store.Writer, error)
}

// watchCollectors keeps the judge from being ready while no collector runs: no
// finding is no health then. Whether this process holds the lease does not matter.
func (j *Judge) watchCollectors(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := j.lookForCollectors(ctx); err != nil && ctx.Err() == nil {
			j.logger.Debug("look for collectors", "error", err) // the judge reports an unavailable store
		}
		retry.Pause(ctx, watchEvery)
	}
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
