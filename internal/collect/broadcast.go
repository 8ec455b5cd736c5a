package collect

import "sync"

// broadcast wakes everyone who waits for something to change. Call listen first
// and check the condition then: a change after the check closes the channel.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

func (b *broadcast) listen() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) notify() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
