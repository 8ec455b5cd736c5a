package push

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// headerDropped tells what a producer dropped before this batch: the number of its requests, and
// their first and last time in Unix milliseconds.
const headerDropped = "Keyheat-Dropped"

const (
	// gapEvery is the shortest time between two gaps of a door: many producers that drop
	// samples make few gaps.
	gapEvery = 10 * time.Second
	// oldestLoss is how long ago samples may have been dropped. A gap makes each of its seconds
	// incomplete, for all tables.
	oldestLoss = time.Hour
)

// loss counts requests that producers dropped, and bounds their times.
type loss struct {
	n            int64
	since, until time.Time
}

func (l *loss) add(o loss) {
	if o.n == 0 {
		return
	}
	if l.n == 0 || o.since.Before(l.since) {
		l.since = o.since
	}
	if o.until.After(l.until) {
		l.until = o.until
	}
	l.n += o.n
}

// readLoss returns what a request's header tells, or why it is refused.
func readLoss(r *http.Request, now time.Time) (l loss, refused *response) {
	text := r.Header.Get(headerDropped)
	if text == "" {
		return l, nil
	}
	var n, since, until int64
	if _, err := fmt.Sscanf(text, "%d %d %d", &n, &since, &until); err != nil || n < 1 || n > sample.MaxN || since > until {
		return l, refuse(http.StatusBadRequest, headerDropped+": send a number of requests, and their first and last time in Unix milliseconds")
	}
	l = loss{n, time.UnixMilli(since), time.UnixMilli(until)}
	if oldest := now.Add(-oldestLoss); l.since.Before(oldest) {
		l.since = oldest
	}
	if l.until.After(now) {
		l.until = now
	}
	if l.until.Before(l.since) {
		return loss{}, nil // too long ago
	}
	return l, nil
}

// recordLoss records a gap of what producers dropped, if one is due. The caller holds mu.
func (d *door) recordLoss(ctx context.Context, now time.Time) error {
	if d.lost.n == 0 || now.Sub(d.lastGap) < gapEvery {
		return nil
	}
	g := sample.Gap{
		Since: d.lost.since, Until: d.lost.until,
		Reason: fmt.Sprintf("producers dropped %d samples before they could send them", d.lost.n),
	}
	if err := d.partition.Gap(ctx, g); err != nil {
		return err
	}
	d.lost, d.lastGap = loss{}, now
	return nil
}
