package episode

import (
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/detect/throttling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// point is one second of one key.
type point struct {
	second int64
	// Read and write are the demand; throttled is the refused part of it.
	Read, Write sampling.Amounts
	throttled   sketch.Load
	// requests is how many were seen, keyRange how many of the key's were
	// refused because of their partition, as far as evidence tells.
	requests, keyRange int64
	// asked is how many requests of the whole table or index were seen, changes
	// those of them that a stream told.
	tableRequests, tableChanges int64
	// pressure is what a table as a whole suffered; nil for a key.
	pressure *throttling.Pressure
	// table is the demand of the whole table or index in that second.
	table sketch.Load
}

// NewPoint is what a window says of one of its keys.
func NewPoint(w *sketch.Window, k *sketch.KeyLoad) point {
	p := point{
		second: w.Second, requests: k.Requests, tableRequests: w.Total.Requests, tableChanges: w.Total.Changes,
		Read:      sampling.NewAmounts(k.Low.Read, k.Err.Read, k.ReadSpread),
		Write:     sampling.NewAmounts(k.Low.Write, k.Err.Write, k.WriteSpread),
		throttled: k.Throttled, table: w.Total.Load,
	}
	if k.Evidence != nil {
		p.keyRange = k.Evidence.Refused[sample.KeyRange]
	}
	return p
}

// of is the part of the second that a kind is about.
func (p *point) of(k detect.Kind) *sampling.Amounts {
	if k == detect.HotKeyRead {
		return &p.Read
	}
	return &p.Write
}

// consumed is what got through.
func (p *point) consumed() sketch.Load {
	return sketch.Load{Read: p.Read.Value - p.throttled.Read, Write: p.Write.Value - p.throttled.Write}
}

// NewTablePoint is a second of a table as a whole.
func NewTablePoint(w *sketch.Window, s *throttling.Pressure) point {
	l := w.Total.Load
	return point{
		second: w.Second, pressure: s, throttled: w.Total.Throttled, requests: w.Total.Requests, table: l,
		Read: sampling.Amounts{Value: l.Read, Low: l.Read, Proven: l.Read}, Write: sampling.Amounts{Value: l.Write, Low: l.Write, Proven: l.Write},
	}
}

// load is the demand.
func (p *point) load() sketch.Load {
	return sketch.Load{Read: p.Read.Value, Write: p.Write.Value}
}

// both says whether reads and writes together are over a partition's budget, if
// they share one, while each is below its limit. It is told with the writes.
func (p *point) overCombined(r Rules) bool {
	return r.Kind != detect.HotKeyRead && p.combined() > 1 && p.Write.Proven <= detect.PartitionWrite && p.Read.Proven <= detect.PartitionRead
}

// combined is the proven sum of both utilisations.
func (p *point) combined() float64 {
	return detect.Units(p.Write.Proven)/detect.Units(detect.PartitionWrite) + detect.Units(p.Read.Proven)/detect.Units(detect.PartitionRead)
}

// refusedByPartition says that DynamoDB refused requests of the key, of what the
// kind is about, because their partition had enough.
func (p *point) refusedByPartition(k detect.Kind) bool {
	return p.keyRange > 0 && detect.Amount(k, p.throttled) > 0
}

// flatTop says whether the second lies just at the limit with what it consumed,
// as far as sampling lets it be seen.
func isPlateau(p *point, k detect.Kind) bool {
	if math.Sqrt(p.of(k).Spread.Variance) > detect.PlateauSpread*detect.Units(detect.Limit(k)) {
		return false
	}
	used := detect.Amount(k, p.consumed())
	return used >= detect.ShareOf(detect.Limit(k), detect.SaturatedFrom) && used <= detect.ShareOf(detect.Limit(k), detect.SaturatedTo)
}
