package streams

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/keyheat/keyheat/internal/source/streams/api"
)

// What follows lets tests reach arithmetic that no server can be made to exercise
// for in every form.

// Share is share.
func Share(readable []Shard, me string, members []string) (keep, take []string) {
	p := share(readable, me, members)
	return p.keep, p.take
}

// Readable is readable, for all tables.
func Readable(open []Shard) []Shard { return readable(open, func(string) bool { return true }) }

// Idle notes pages that were asked for at these times, empty but for those in
// full, and returns whether the end is reached and of when.
func Idle(asked []time.Time, full map[int]bool) (bool, time.Time) {
	var i idleness
	for n, at := range asked {
		p := api.Page{Asked: at}
		if full[n] {
			p.Records = make([]types.Record, 1)
		}
		i.add(p)
	}
	return i.end()
}
