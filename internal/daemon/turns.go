package daemon

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Turns bounds how many reads of the database run at once, for each client and for all
// together. So a client with slow or many reads leaves connections for the others.
type Turns struct {
	all  *semaphore.Weighted
	each int64
	mu   sync.Mutex
	of   map[string]*client
}

// client is one with reads that run or wait.
type client struct {
	*semaphore.Weighted
	reads int
}

// NewTurns returns turns for so many reads at once, half of them of one client.
func NewTurns(all int64) *Turns {
	return &Turns{all: semaphore.NewWeighted(all), each: max(1, all/2), of: make(map[string]*client)}
}

// Wait waits until a client may read, and returns how its turn ends.
func (t *Turns) Wait(ctx context.Context, name string) (end func(), err error) {
	own := t.enter(name)
	if err := own.Acquire(ctx, 1); err != nil {
		t.leave(name)
		return nil, err
	}
	if err := t.all.Acquire(ctx, 1); err != nil {
		own.Release(1)
		t.leave(name)
		return nil, err
	}
	return func() {
		t.all.Release(1)
		own.Release(1)
		t.leave(name)
	}, nil
}

func (t *Turns) enter(name string) *client {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := t.of[name]
	if own == nil {
		own = &client{Weighted: semaphore.NewWeighted(t.each)}
		t.of[name] = own
	}
	own.reads++
	return own
}

func (t *Turns) leave(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own := t.of[name]; own.reads > 1 {
		own.reads--
	} else {
		delete(t.of, name)
	}
}
