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

// flaky is a store behind a bad line: calls fail before and after they were
// done, with and without a doubt, the store is away for a while, and a thief
// claims partitions. It keeps the promises of the store's errors.
type flaky struct {
	collect.Store
	mu  sync.Mutex
	rng *rand.Rand
	// trouble is how many of a hundred calls go wrong.
	trouble int
	away    int  // calls that will find the store away
	dead    bool // the process was killed: nothing goes through any more
	seen    map[string]int
}

func newFlaky(st collect.Store, rng *rand.Rand, trouble int) *flaky {
	return &flaky{Store: st, rng: rng, trouble: trouble, seen: make(map[string]int)}
}

// kill is the end of the process: of a call under way only the answer is lost.
func (f *flaky) kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dead = true
}

// heal ends the trouble.
func (f *flaky) heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.trouble, f.away = 0, 0
}

// mishap draws what happens to a call.
func (f *flaky) mishap(kinds ...string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := ""
	switch {
	case f.dead:
		kind = "before"
	case f.away > 0:
		f.away--
		kind = "before"
	case f.trouble > 0 && f.rng.IntN(100) < f.trouble:
		kind = kinds[f.rng.IntN(len(kinds))]
	}
	if kind == "away" {
		f.away, kind = f.rng.IntN(6), "before"
	}
	f.seen[kind]++
	return kind
}

var errLine = errors.New("the line was cut")

func (f *flaky) Claim(ctx context.Context, writer string, id store.PartitionID, first string) (store.Position, error) {
	switch f.mishap("before", "after", "away", "odd") {
	case "before":
		return store.Position{}, fmt.Errorf("%w: %w", store.ErrUnavailable, errLine)
	case "odd":
		return store.Position{}, errors.New("an error that nobody has thought of")
	case "after":
		_, err := f.Store.Claim(ctx, writer, id, first)
		return store.Position{}, fmt.Errorf("%w: %w: %w", store.ErrUnavailable, errLine, err)
	}
	return f.Store.Claim(ctx, writer, id, first)
}

func (f *flaky) Commit(ctx context.Context, c store.Commit) error {
	switch f.mishap("before", "after", "unsaid", "lost", "away", "steal", "odd") {
	case "before":
		return fmt.Errorf("%w: %w", store.ErrUnavailable, errLine)
	case "odd":
		return errors.New("an error that nobody has thought of")
	case "lost":
		return fmt.Errorf("%w: %w: %w", store.ErrUnavailable, store.ErrAmbiguous, errLine)
	case "after":
		if err := f.Store.Commit(ctx, c); err != nil {
			return err
		}
		return fmt.Errorf("%w: %w: %w", store.ErrUnavailable, store.ErrAmbiguous, errLine)
	case "unsaid": // stored, and not even the doubt is told
		if err := f.Store.Commit(ctx, c); err != nil {
			return err
		}
		return fmt.Errorf("%w: %w", store.ErrUnavailable, errLine)
	case "steal":
		if len(c.Moves) > 0 {
			if _, err := f.Store.Claim(ctx, "thief", c.Moves[0].PartitionID, "0"); err != nil {
				return err
			}
		}
	}
	return f.Store.Commit(ctx, c)
}

func (f *flaky) Committed(ctx context.Context, writer string, seq int64) (bool, error) {
	if f.mishap("before", "away") == "before" {
		return false, fmt.Errorf("%w: %w", store.ErrUnavailable, errLine)
	}
	return f.Store.Committed(ctx, writer, seq)
}

func (f *flaky) StartWriter(ctx context.Context, w store.Writer) error {
	if f.mishap("before", "away") == "before" {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, errLine)
	}
	return f.Store.StartWriter(ctx, w)
}

// setAway takes the store away for that many calls.
func (f *flaky) setAway(calls int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.away = calls
}
