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

// maxPause is the longest time between two looks. The pauses grow from a millisecond by a
// quarter each, so that they add little to a short wait, and a long one leaves the
// processor to what it waits for.
const maxPause = 100 * time.Millisecond

// Until looks again and again until something holds. It fails the test after the Limit.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	pause := time.Millisecond
	for deadline := time.Now().Add(Limit); !holds(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", Limit, what)
		}
		pause = min(pause+pause/4, maxPause)
	}
}
