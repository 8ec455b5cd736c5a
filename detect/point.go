package detect

import (
	"math"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// point is one second of one key.
type point struct {
	second int64
	// read and write are the demand; throttled is the refused part of it.
	read, write amounts
	throttled   sketch.Load
	// requests is how many were seen, keyRange how many of the key's were
	// refused because of their partition, as far as evidence tells.
	requests, keyRange int64
	// asked is how many requests of the whole table or index were seen, changes
	// those of them that a stream told.
	asked, changes int64
	// strain is what a table as a whole suffered; nil for a key.
	strain *strain
	// table is the demand of the whole table or index in that second.
	table sketch.Load
}

// newPoint is what a window says of one of its keys.
func newPoint(w *sketch.Window, k *sketch.KeyLoad) point {
	p := point{
		second: w.Second, requests: k.Requests, asked: w.Total.Requests, changes: w.Total.Changes,
		read:      amountsOf(k.Low.Read, k.Err.Read, k.ReadSpread),
		write:     amountsOf(k.Low.Write, k.Err.Write, k.WriteSpread),
		throttled: k.Throttled, table: w.Total.Load,
	}
	if k.Evidence != nil {
		p.keyRange = k.Evidence.Refused[sample.KeyRange]
	}
	return p
}

// of is the part of the second that a kind is about.
func (p *point) of(k Kind) *amounts {
	if k == HotKeyRead {
		return &p.read
	}
	return &p.write
}

// consumed is what got through.
func (p *point) consumed() sketch.Load {
	return sketch.Load{Read: p.read.value - p.throttled.Read, Write: p.write.value - p.throttled.Write}
}

// strainPoint is a second of a table as a whole.
func strainPoint(w *sketch.Window, s *strain) point {
	l := w.Total.Load
	return point{
		second: w.Second, strain: s, throttled: w.Total.Throttled, requests: w.Total.Requests, table: l,
		read: amounts{value: l.Read, low: l.Read, proven: l.Read}, write: amounts{value: l.Write, low: l.Write, proven: l.Write},
	}
}

// load is the demand.
func (p *point) load() sketch.Load {
	return sketch.Load{Read: p.read.value, Write: p.write.value}
}

// both says whether reads and writes together are over a partition's budget, if
// they share one, while each is below its limit. It is told with the writes.
func (p *point) both(r rules) bool {
	return r.kind != HotKeyRead && p.combined() > 1 && p.write.proven <= PartitionWrite && p.read.proven <= PartitionRead
}

// combined is the proven sum of both utilisations.
func (p *point) combined() float64 {
	return units(p.write.proven)/units(PartitionWrite) + units(p.read.proven)/units(PartitionRead)
}

// refusedByPartition says that DynamoDB refused requests of the key, of what the
// kind is about, because their partition had enough.
func (p *point) refusedByPartition(k Kind) bool {
	return p.keyRange > 0 && amount(k, p.throttled) > 0
}

// flatTop says whether the second lies just at the limit with what it consumed,
// as far as sampling lets it be seen.
func flatTop(p *point, k Kind) bool {
	if math.Sqrt(p.of(k).spread.Variance) > flatSpread*units(limit(k)) {
		return false
	}
	used := amount(k, p.consumed())
	return used >= share(limit(k), SaturatedFrom) && used <= share(limit(k), SaturatedTo)
}
