package episode

import (
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/detect/throttling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// point is one second of one subject.
type point struct {
	second int64
	// read and write are the demand; throttled is the part of it that DynamoDB
	// throttled.
	read, write sampling.Amounts
	throttled   sketch.Load
	// requests is how many were seen, keyRange how many of the key's were
	// throttled because of their partition, as far as the evidence shows.
	requests, keyRange int64
	// otherwise reports that all that were throttled were so for other reasons.
	otherwise bool
	// tableRequests is how many requests of the whole table or index were seen,
	// tableChanges those of them that come from a stream.
	tableRequests, tableChanges int64
	// pressure is that of a table or index as a whole; nil for a key.
	pressure *throttling.Pressure
	// draws is how the key's requests were sampled; whole is the variance of reads and
	// of writes if whole callers were drawn, zero where that is excluded.
	draws       sketch.Draws
	whole       [2]float64
	independent [2]sampling.Amounts // if requests were drawn independently
	// heaped reports that requests have the time of a flush.
	heaped bool
	// grown is by how many bytes writes made the key's items grow, where images tell.
	grown      float64
	grownKnown bool
	// table is the demand of the whole table or index in that second.
	table sketch.Load
	// replicated is the part of write, and of table, that other Regions of a global
	// table wrote; regions is what the second was made of, nil of other tables.
	replicated sample.Milli
	regions    *regions
}

// keyPoint returns what a window has of one of its keys.
func keyPoint(w *sketch.Window, k *sketch.KeyLoad) point {
	p := point{
		second: w.Second, requests: k.Requests, tableRequests: w.Total.Requests, tableChanges: w.Total.Changes,
		read:      sampling.NewAmounts(k.Low.Read, k.Err.Read, k.ReadSpread),
		write:     sampling.NewAmounts(k.Low.Write, k.Err.Write, k.WriteSpread),
		throttled: k.Throttled, table: w.Total.Load,
	}
	if k.Evidence != nil {
		p.keyRange = k.Evidence.Refused[sample.KeyRange]
		p.otherwise = p.keyRange+k.Evidence.Refused[sample.CauseUnknown] == 0 && k.Evidence.Refused != [sample.Causes]int64{}
		if base := float64(detect.Weight(k.Evidence.Load)); k.Evidence.Edited > 0 && base > 0 {
			p.grown, p.grownKnown = float64(k.Evidence.GrownBytes)*max(1, float64(detect.Weight(k.Low))/base), true
		}
	}
	p.draws = k.Draws
	p.heaped = float64(w.Total.Heaped) > detect.HeapedShare*float64(w.Total.Requests)
	p.independent = [2]sampling.Amounts{p.read, p.write}
	if whole := sampling.WholeCallers(k); whole.Variance > 0 {
		for i, a := range []*sampling.Amounts{&p.read, &p.write} {
			u := detect.Units(a.Value)
			p.whole[i] = whole.Variance * u * u
			*a = a.Widen(sketch.Spread{Variance: p.whole[i], Largest: whole.Largest * u})
		}
	}
	return p
}

// over returns the second as one of those for which its requests stand.
func (p point) over(seconds int64) point {
	p.read, p.write = p.read.Over(seconds), p.write.Over(seconds)
	for i := range p.independent {
		p.independent[i] = p.independent[i].Over(seconds)
		p.whole[i] /= float64(seconds * seconds)
	}
	n := sample.Milli(seconds)
	p.throttled = sketch.Load{Read: p.throttled.Read / n, Write: p.throttled.Write / n}
	p.table = sketch.Load{Read: p.table.Read / n, Write: p.table.Write / n}
	p.replicated /= n
	return p
}

// believed returns the part of the second that a kind is about, and the variance if
// whole callers were drawn.
func (p *point) believed(k detect.Kind) (a *sampling.Amounts, whole float64) {
	if k == detect.HotKeyRead {
		return &p.independent[0], p.whole[0]
	}
	return &p.independent[1], p.whole[1]
}

// drawn returns what is known of the part of the second that a kind is about if requests
// were drawn independently, and what whole callers would leave open.
func (p *point) drawn(k detect.Kind) sampling.Second {
	seen, whole := p.believed(k)
	return sampling.Second{
		Estimate: sampling.Estimate{Units: detect.Units(seen.Value), Spread: seen.Spread}, Whole: whole, Assumed: p.draws.Assumed > 0,
	}
}

// of returns the part of the second that a kind is about.
func (p *point) of(k detect.Kind) *sampling.Amounts {
	if k == detect.HotKeyRead {
		return &p.read
	}
	return &p.write
}

// consumed returns what was not throttled.
func (p *point) consumed() sketch.Load {
	return sketch.Load{Read: p.read.Value - p.throttled.Read, Write: p.write.Value - p.throttled.Write}
}

// tablePoint returns a second of a table or index as a whole.
func tablePoint(w *sketch.Window, s *throttling.Pressure) point {
	l := w.Total.Load
	read, write := sampling.Amounts{Value: l.Read, Low: l.Read, Proven: l.Read}, sampling.Amounts{Value: l.Write, Low: l.Write, Proven: l.Write}
	return point{
		second: w.Second, pressure: s, throttled: w.Total.Throttled, requests: w.Total.Requests, table: l,
		read: read, write: write, independent: [2]sampling.Amounts{read, write},
	}
}

// load returns the demand.
func (p *point) load() sketch.Load {
	return sketch.Load{Read: p.read.Value, Write: p.write.Value}
}

// overCombined reports whether reads and writes together are over a partition's
// budget, if they share one, while each is below its limit. It is part of the
// finding about writes.
func (p *point) overCombined(r Rules) bool {
	return r.Kind != detect.HotKeyRead && p.combined() > 1 && p.write.Proven <= detect.PartitionWrite && p.read.Proven <= detect.PartitionRead
}

// combined returns the proven sum of both utilisations.
func (p *point) combined() float64 {
	return detect.Units(p.write.Proven)/detect.Units(detect.PartitionWrite) + detect.Units(p.read.Proven)/detect.Units(detect.PartitionRead)
}

// throttledByPartition reports whether DynamoDB throttled requests of the key, of
// what the kind is about, because of their partition.
func (p *point) throttledByPartition(k detect.Kind) bool {
	return p.keyRange > 0 && detect.Amount(k, p.throttled) > 0
}

// isPlateau reports whether what the second consumed lies just at the limit, as far
// as sampling shows it.
func isPlateau(p *point, k detect.Kind) bool {
	if math.Sqrt(p.of(k).Spread.Variance) > detect.PlateauSpread*detect.Units(detect.Limit(k)) {
		return false
	}
	if p.tableChanges < p.tableRequests && (p.otherwise || detect.Amount(k, p.throttled) == 0) {
		return false // requests are visible, and the partition throttles none
	}
	used := detect.Amount(k, p.consumed())
	return used >= detect.ShareOf(detect.Limit(k), detect.SaturatedFrom) && used <= detect.ShareOf(detect.Limit(k), detect.SaturatedTo)
}
