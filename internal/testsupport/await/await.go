// Package await is how a test waits for another goroutine, process or server. It waits for
// a state, and never for a time: how long a step takes depends on what else the machine
// does. Where everything runs in one process, testing/synctest is better.
package await

import (
	"testing"
	"time"
)

// Limit ends a test that hangs. No test depends on its length: it only has to be longer
// than any step takes on a machine with much else to do.
const Limit = 5 * time.Minute

// pause is the time between two looks.
const pause = 10 * time.Millisecond

// Until looks again and again until something holds. It fails the test after the Limit.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Limit); !holds(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", Limit, what)
		}
	}
}
