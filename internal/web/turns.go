package web

import (
	"context"
	"net/http"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/keyheat/keyheat/store"
)

// ofOneReader is how many pages and answers are loaded for one client at once. All clients have
// store.Readers together, so that one client's slow pages leave connections for another's.
const ofOneReader = store.Readers / 2

// turns bounds what is loaded at once.
type turns struct {
	all *semaphore.Weighted
	mu  sync.Mutex
	of  map[string]*reader
}

// reader is a client with loads that run or wait.
type reader struct {
	*semaphore.Weighted
	loads int
}

func newTurns() *turns {
	return &turns{all: semaphore.NewWeighted(store.Readers), of: make(map[string]*reader)}
}

// wait waits until a client may load, and returns how its turn ends.
func (t *turns) wait(ctx context.Context, client string) (end func(), err error) {
	own := t.enter(client)
	if err := own.Acquire(ctx, 1); err != nil {
		t.leave(client)
		return nil, err
	}
	if err := t.all.Acquire(ctx, 1); err != nil {
		own.Release(1)
		t.leave(client)
		return nil, err
	}
	return func() {
		t.all.Release(1)
		own.Release(1)
		t.leave(client)
	}, nil
}

func (t *turns) enter(client string) *reader {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.of[client]
	if own == nil {
		own = &reader{Weighted: semaphore.NewWeighted(ofOneReader)}
		t.of[client] = own
	}
	own.loads++
	return own
}

func (t *turns) leave(client string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own := t.of[client]; own.loads > 1 {
		own.loads--
	} else {
		delete(t.of, client)
	}
}

// inTurn lets a loader wait for its client's turn. One that had none in its time gets the answer
// of a database that is away.
func (s *Site) inTurn(load loader) loader {
	return func(ctx context.Context, r *http.Request) (any, error) {
		end, err := s.turns.wait(ctx, clientOf(r))
		if err != nil {
			return nil, store.ErrUnavailable
		}
		defer end()
		return load(ctx, r)
	}
}
