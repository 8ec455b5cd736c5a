package demo

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
)

// The demo's only partition. Its positions are event times in Unix milliseconds.
const (
	sourceName    = "demo"
	partitionName = "0"
)

const (
	// tick is how often the traffic looks whether a second is over.
	tick = 100 * time.Millisecond
	// step is how much event time is folded at once.
	step = time.Second
	// releaseTimeout bounds the last commit.
	releaseTimeout = 5 * time.Second
	// seed is the seed of all traffic.
	seed = 1
	// importAfter is when the bulk import begins, after the backlog does, and healing how
	// long it takes from then until Keyheat calls it over, and a little more.
	importAfter = 30 * time.Second
	healing     = importLasts + detect.ResolveSeconds*time.Second + 10*time.Second
)

// traffic is a source of the simulated application's samples, in real time.
type traffic struct {
	backlog time.Duration
	calm    time.Duration
	// behind is how far the traffic's time is behind now; nil for not at all.
	behind func() time.Duration

	mu   sync.Mutex
	sim  *simulation
	plan plan
}

func (t *traffic) now() time.Time {
	if t.behind == nil {
		return time.Now()
	}
	return time.Now().Add(-t.behind())
}

// Run makes traffic until ctx ends.
func (t *traffic) Run(ctx context.Context, sink source.Sink) error {
	began := t.now()
	start := began.Add(-t.backlog).Truncate(step)
	t.plan.Campaign = began.Add(t.calm).Truncate(step)
	if t.backlog >= importAfter+healing {
		t.plan.Import = start.Add(importAfter)
	}
	for {
		p, err := sink.Claim(ctx, source.Claim{Partition: partitionName, First: strconv.FormatInt(start.UnixMilli(), 10)})
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil
		}
		if err != nil {
			return err
		}
		err = t.feed(ctx, p)
		if ctx.Err() != nil {
			// The collector still runs, and writes its pending samples.
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
			defer cancel()
			return p.Release(ending)
		}
		if !errors.Is(err, source.ErrReclaim) {
			return err
		}
	}
}

// feed folds each second when it is over, from the partition's position on: the application is
// made anew there.
func (t *traffic) feed(ctx context.Context, p source.Partition) error {
	position, err := strconv.ParseInt(p.Position(), 10, 64)
	if err != nil {
		return err
	}
	at := time.UnixMilli(position)
	t.mu.Lock()
	t.sim = newSimulation(seed, at, merchantKey, productKey)
	t.mu.Unlock()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		for over := t.now(); over.Sub(at) >= step; {
			at = at.Add(step)
			b, err := t.batch(at)
			if err != nil {
				return err
			}
			b.End = over.Sub(at) < step && t.behind == nil
			if err := p.Fold(ctx, b); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// batch returns the calls that were made before a time.
func (t *traffic) batch(to time.Time) (b source.Batch, err error) {
	t.mu.Lock()
	records, err := t.sim.Advance(to, &t.plan)
	t.mu.Unlock()
	b = source.Batch{Next: strconv.FormatInt(to.UnixMilli(), 10), Messages: messages(records, to.UnixMilli()-1)}
	b.Time, b.Read = to.UnixMilli()-1, to.UnixMilli()
	return b, err
}

// messages are records in Keyheat JSON, written to the log at a time.
func messages(records []sample.Record, at int64) func(yield func(source.Message) bool) {
	return func(yield func(source.Message) bool) {
		var text []byte
		for i := range records {
			text = records[i].AppendJSON(text[:0])
			if !yield(source.Message{Value: text, Time: at}) {
				return
			}
		}
	}
}

// inspect calls f with the application and its plan, once there is one. f may change the plan
// for the seconds from next on, in which no call was made yet.
func (t *traffic) inspect(f func(s *simulation, p *plan, next time.Time)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sim != nil {
		f(t.sim, &t.plan, time.Unix(t.sim.next, 0))
	}
}
