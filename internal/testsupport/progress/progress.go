// Package progress shows how far a long test has come.
package progress

import (
	"sync"
	"testing"
	"time"
)

// pause is the time between two lines.
const pause = 30 * time.Second

// Count returns a function that counts one finished step. It logs the count if the pause
// since the last line is over.
func Count(t *testing.T, steps int) (finish func()) {
	var mu sync.Mutex
	finished, logged := 0, time.Now()
	return func() {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		finished++
		if now := time.Now(); now.Sub(logged) >= pause {
			logged = now
			t.Logf("%s: %d of %d", t.Name(), finished, steps)
		}
	}
}
