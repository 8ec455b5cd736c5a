//go:build e2e

package e2e_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// TestFloodOfHotKeys: in one table, 100,000 keys are hot in each second, each once. The key
// that is hot in another table is found.
func TestFloodOfHotKeys(t *testing.T) {
	const (
		topic     = "flood"
		perSecond = 100_000
		seconds   = 5
		message   = 500
		units     = sample.Milli(1100)
	)
	w := newHostile(t, topic)
	wrong := w.traffic(t, topic, 23)
	w.heat(t, w.traffic(t, topic, 17), 0, func() {
		began := time.Now()
		for n := 0; n < perSecond*seconds; n += message {
			wrong.next = began.Add(time.Duration(n) * time.Second / perSecond)
			time.Sleep(time.Until(wrong.next))
			wrong.body = wrong.body[:0]
			for i := range message {
				wrong.add("flooded", fmt.Sprint("key#", n+i), units)
			}
			wrong.produce(t, wrong.random.Int32N(partitions))
		}
	})
}

// TestFloodOfTables: a topic names 5,000 new tables in each second. The key that is hot in a table
// that the topic named before is found.
func TestFloodOfTables(t *testing.T) {
	const (
		topic     = "tables"
		perSecond = 5_000
		seconds   = 20
		message   = 500
	)
	w := newHostile(t, topic)
	wrong := w.traffic(t, topic, 23)
	w.heat(t, w.traffic(t, topic, 17), 0, func() {
		began := time.Now()
		for n := 0; n < perSecond*seconds; n += message {
			wrong.next = began.Add(time.Duration(n) * time.Second / perSecond)
			time.Sleep(time.Until(wrong.next))
			wrong.body = wrong.body[:0]
			for i := range message {
				wrong.add(fmt.Sprint("made-up-", n+i), "key", sample.Milli(1))
			}
			wrong.produce(t, wrong.random.Int32N(partitions))
		}
	})
}
