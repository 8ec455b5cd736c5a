package collect

import "sync"

// bell wakes everyone who waits for something to change. Listen first and look
// then: what changes after the look rings.
type bell struct {
	mu sync.Mutex
	ch chan struct{}
}

func (b *bell) listen() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
