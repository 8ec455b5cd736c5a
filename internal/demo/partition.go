package demo

import (
	"hash/fnv"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// bucket is a token bucket: a fixed number of units a second, of which few unused ones
// are kept. DynamoDB's burst capacity of 300 seconds belongs to a table, and does not
// lift a partition's limit.
type bucket struct {
	// rate is how much comes in a second, and depth how much is kept.
	rate, depth sample.Milli
	// level is the bucket's content, at a time in Unix milliseconds. A negative level is
	// the last request's excess.
	level sample.Milli
	at    int64
}

// newBucket returns a full bucket. In the first second it serves up to detect.SaturatedTo
// of the rate, as DynamoDB serves beyond its limit.
func newBucket(rate sample.Milli) bucket {
	depth := detect.ShareOf(rate, detect.SaturatedTo-1)
	return bucket{rate: rate, depth: depth, level: depth}
}

// has reports whether the bucket holds anything at a time. A larger request is served,
// and the requests after it pay.
func (b *bucket) has(at int64) bool {
	if at > b.at {
		b.level = min(b.depth, b.level+b.rate*sample.Milli(min(at-b.at, 1000*60))/1000)
		b.at = at
	}
	return b.level > 0
}

// partition serves like one partition of DynamoDB, with separate limits for writes and
// reads.
type partition struct{ write, read bucket }

func newPartition() partition {
	return partition{newBucket(detect.PartitionWrite), newBucket(detect.PartitionRead)}
}

// serve reports whether a request at a time, in Unix milliseconds that never decrease, is
// served; it is refused as a whole otherwise, and takes nothing.
func (p *partition) serve(at int64, read, write sample.Milli) bool {
	if read > 0 && !p.read.has(at) || write > 0 && !p.write.has(at) {
		return false
	}
	p.read.level -= read
	p.write.level -= write
	return true
}

// partitions is how many a table of the application has: it has grown.
const partitions = 64

// table is a table's partitions.
type table [partitions]partition

func newTable() *table {
	var t table
	for i := range t {
		t[i] = newPartition()
	}
	return &t
}

// locate returns the partition of a partition key, which its hash chooses.
func (t *table) locate(key string) *partition {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // never fails
	sum := h.Sum64()
	return &t[(sum^sum>>32)%partitions]
}
