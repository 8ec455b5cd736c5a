package shards

import (
	"time"

	"github.com/keyheat/keyheat/store"
)

// These exports let tests reach arithmetic that no server can be made to exercise in every
// form.

// Share is share.
func Share(readable []store.Shard, me string, members []string) (keep, take []string) {
	p := share(readable, me, members)
	return p.keep, p.take
}

// Readable is readable, for all tables of a log.
func Readable(open []store.Shard, log Log) []store.Shard {
	return readable(open, log.Parts, func(string) bool { return true })
}

// CompareSequence is compareSequence.
func CompareSequence(a, b string) int { return compareSequence(a, b) }

// Idle adds pages that were requested at these times. They are empty, except for the pages
// in full. It returns whether the end is reached, and as of when.
func Idle(asked []time.Time, full map[int]bool) (bool, time.Time) {
	var i idleness
	for n, at := range asked {
		records := 0
		if full[n] {
			records = 1
		}
		i.Add(at, records)
	}
	return i.End()
}
