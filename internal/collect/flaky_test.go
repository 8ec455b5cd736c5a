package collect_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/store"
)

// flaky is a store behind a bad connection. Calls fail before and after they were done,
// with a certain or an ambiguous result. The store is away for a while, and a thief claims
// partitions.
type flaky struct {
	collect.Store
	mu  sync.Mutex
	rng *rand.Rand
	// failures is how many of a hundred calls fail.
	failures int
	away     int  // calls that will find the store away
	dead     bool // the process was killed: nothing goes through any more
	seen     map[string]int
}

func newFlaky(st collect.Store, rng *rand.Rand, failures int) *flaky {
	return &flaky{Store: st, rng: rng, failures: failures, seen: make(map[string]int)}
}

// kill is the end of the process: of a call under way only the answer is lost.
func (f *flaky) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
}

// heal ends the failures.
func (f *flaky) heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures, f.away = 0, 0
}

// fault draws the fault of a call.
func (f *flaky) fault(kinds ...string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := ""
	switch {
	case f.dead:
		kind = "before"
	case f.away > 0:
		f.away--
		kind = "before"
	case f.failures > 0 && f.rng.IntN(100) < f.failures:
		kind = kinds[f.rng.IntN(len(kinds))]
	}
	if kind == "away" {
		f.away, kind = f.rng.IntN(6), "before"
	}
	f.seen[kind]++
	return kind
}

var errConnection = errors.New("the connection was cut")

func (f *flaky) Claim(ctx context.Context, writer string, c store.Claim) (store.Position, error) {
	switch f.fault("before", "after", "away", "odd") {
	case "before":
		return store.Position{}, fmt.Errorf("%w: %w", store.ErrUnavailable, errConnection)
	case "odd":
		return store.Position{}, errors.New("an error that nobody has thought of")
	case "after":
		_, err := f.Store.Claim(ctx, writer, c)
		return store.Position{}, fmt.Errorf("%w: %w: %w", store.ErrUnavailable, errConnection, err)
	}
	return f.Store.Claim(ctx, writer, c)
}

func (f *flaky) Commit(ctx context.Context, c store.Commit) error {
	switch f.fault("before", "after", "unreported", "lost", "away", "steal", "odd") {
	case "before":
		return fmt.Errorf("%w: %w", store.ErrUnavailable, errConnection)
	case "odd":
		return errors.New("an error that nobody has thought of")
	case "lost":
		return fmt.Errorf("%w: %w: %w", store.ErrUnavailable, store.ErrAmbiguous, errConnection)
	case "after":
		if err := f.Store.Commit(ctx, c); err != nil {
			return err
		}
		return fmt.Errorf("%w: %w: %w", store.ErrUnavailable, store.ErrAmbiguous, errConnection)
	case "unreported": // stored, with an error that does not reveal the ambiguity
		if err := f.Store.Commit(ctx, c); err != nil {
			return err
		}
		return fmt.Errorf("%w: %w", store.ErrUnavailable, errConnection)
	case "steal":
		if len(c.Moves) > 0 {
			if _, err := f.Store.Claim(ctx, "thief", store.Claim{PartitionID: c.Moves[0].PartitionID, First: "0"}); err != nil {
				return err
			}
		}
	}
	return f.Store.Commit(ctx, c)
}

func (f *flaky) IsCommitted(ctx context.Context, writer string, seq int64) (bool, error) {
	if f.fault("before", "away") == "before" {
		return false, fmt.Errorf("%w: %w", store.ErrUnavailable, errConnection)
	}
	return f.Store.IsCommitted(ctx, writer, seq)
}

func (f *flaky) StartWriter(ctx context.Context, w store.Writer) error {
	if f.fault("before", "away") == "before" {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, errConnection)
	}
	return f.Store.StartWriter(ctx, w)
}

// setAway takes the store away for that many calls.
func (f *flaky) setAway(calls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = calls
}
