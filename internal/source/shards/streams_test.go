package shards_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
)

func TestEveryRecordIsCountedOnce(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 1}, func(w *scenario) {
		w.write(100, 10*time.Millisecond)
		c := w.start("a")
		defer c.stop()
		w.write(500, 20*time.Millisecond)
		w.table.Split(w.table.OpenShards()[0])
		w.write(500, 20*time.Millisecond)
		w.ready(c, 30*time.Second)
		w.allCounted(30 * time.Second)
		w.verify()
	})
}
