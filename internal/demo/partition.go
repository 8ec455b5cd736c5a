package demo

import (
	"hash/fnv"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// slotsPerSecond is how many times a second a partition's units come anew.
const slotsPerSecond = 2

// partition serves like one partition of DynamoDB, with separate limits for writes and
// reads. DynamoDB's burst capacity of 300 seconds belongs to a table, and does not lift a
// partition's limit. It knows the newest slots of time: a call's attempts may be in two.
type partition [4]usage

// usage is the units served in a slot of time.
type usage struct {
	slot        int64
	read, write sample.Milli
}

// serve reports whether a request at a time, in Unix milliseconds, is served. It is refused as
// a whole otherwise, and takes nothing.
func (p *partition) serve(at int64, read, write sample.Milli) bool {
	slot := at * slotsPerSecond / 1000
	u := &p[slot%int64(len(p))]
	if u.slot != slot {
		*u = usage{slot: slot}
	}
	if read > 0 && u.read >= detect.PartitionRead/slotsPerSecond || write > 0 && u.write >= detect.PartitionWrite/slotsPerSecond {
		return false
	}
	u.read += read
	u.write += write
	return true
}

// partitions is how many a table of the application has: it has grown.
const partitions = 64

type table [partitions]partition

// locate returns the partition of a partition key, which its hash chooses.
func (t *table) locate(key string) *partition {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // never fails
	sum := h.Sum64()
	return &t[(sum^sum>>32)%partitions]
}
