package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
)

// The demo's only partition. Its positions are event times in Unix
// milliseconds, and its mark is the plan, so that a kept database is read on from where
// it ended.
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
	// told is the time up to which the calls were folded.
	told time.Time
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
	start := began.Add(-t.backlog).Truncate(time.Second)
	for ctx.Err() == nil {
		p, err := sink.Claim(ctx, source.Claim{Partition: partitionName, First: strconv.FormatInt(start.UnixMilli(), 10)})
		if err != nil {
			if ctx.Err() != nil && errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
		at, err := strconv.ParseInt(p.Position(), 10, 64)
		if err != nil {
			return fmt.Errorf("the database was not written by this demo: position %q: %w", p.Position(), err)
		}
		if stored := time.UnixMilli(at); stored.After(start) {
			start = stored
		}
		if err := t.begin(start, began, p.Mark()); err != nil {
			return err
		}
		err = t.feed(ctx, p, start)
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
	return nil
}

// begin makes the application anew, with the plan that is stored with its position, and
// skips the calls that were counted.
func (t *traffic) begin(at, now time.Time, mark string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.plan = plan{Campaign: now.Add(t.calm).Truncate(time.Second)}
	if t.backlog >= importAfter+healing {
		t.plan.Import = at.Add(importAfter)
	}
	if mark != "" {
		if err := json.Unmarshal([]byte(mark), &t.plan); err != nil {
			return fmt.Errorf("the database was not written by this demo: its plan: %w", err)
		}
	}
	t.sim, t.told = newSimulation(seed, at, merchantKey, productKey), at
	t.sim.Advance(at, &t.plan)
	return nil
}

// feed folds each second when it is over.
func (t *traffic) feed(ctx context.Context, p source.Partition, at time.Time) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		for over := t.now(); over.Sub(at) >= step; {
			at = at.Add(step).Truncate(step)
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
func (t *traffic) batch(to time.Time) (source.Batch, error) {
	t.mu.Lock()
	records := t.sim.Advance(to, &t.plan)
	t.told = to
	mark, err := json.Marshal(t.plan)
	t.mu.Unlock()
	b := source.Batch{Next: strconv.FormatInt(to.UnixMilli(), 10), Mark: string(mark), Messages: messages(records, to.UnixMilli()-1)}
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

// decide changes the plan, from a second on that no call was made in yet.
func (t *traffic) decide(change func(p *plan, next time.Time)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change(&t.plan, t.told.Truncate(time.Second).Add(time.Second))
}

// currentPlan returns the plan; false before the traffic has begun.
func (t *traffic) currentPlan() (plan, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.plan, t.sim != nil
}

// seconds returns the last seconds of a key; nil before the traffic has begun.
func (t *traffic) seconds(key string) []keySecond {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sim == nil {
		return nil
	}
	return t.sim.Seconds(key, t.told)
}

// refusedAt returns when the first attempt for a key was refused; zero before.
func (t *traffic) refusedAt(key string) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sim == nil {
		return time.Time{}
	}
	return t.sim.RefusedAt(key)
}
