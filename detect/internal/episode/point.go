package episode

import (
	"math"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/detect/sampling"
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
	// batch is the part of the load whose requests have the time of a flush.
	batch sampling.Batch
	// ahead is how many seconds follow with such a part at the same times, as far as that
	// matters.
	ahead int
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

// keyPoint returns what a window has of one of its keys, and the batch in it.
func keyPoint(w *sketch.Window, k *sketch.KeyLoad, batch sampling.Batch) point {
	p := point{
		second: w.Second, requests: k.Requests, tableRequests: w.Total.Requests, tableChanges: w.Total.Changes,
		read:      sampling.NewAmounts(k.Low.Read, k.Err.Read, k.ReadSpread),
		write:     sampling.NewAmounts(k.Low.Write, k.Err.Write, k.WriteSpread),
		throttled: k.Throttled, table: w.Total.Load,
	}
	if k.Evidence != nil {
		p.keyRange = k.Evidence.Refused[sample.KeyRange]
		p.otherwise = p.keyRange+k.Evidence.Refused[sample.ThrottleUnknown] == 0 && k.Evidence.Refused != [sample.ThrottleReasons]int64{}
		if base := float64(detect.Weight(k.Evidence.Load)); k.Evidence.Edited > 0 && base > 0 {
			p.grown, p.grownKnown = float64(k.Evidence.GrownBytes)*max(1, float64(detect.Weight(k.Low))/base), true
		}
	}
	p.draws = k.Draws
	p.batch = batch
	p.independent = [2]sampling.Amounts{p.read, p.write}
	if whole := sampling.WholeCallers(w, k); whole.Deviation > 0 {
		for i, a := range []*sampling.Amounts{&p.read, &p.write} {
			s := whole.SpreadOf(a.Value)
			p.whole[i], *a = s.Variance, a.Widen(s)
		}
	}
	return p
}

// spreadOver returns the second with what was flushed as the mean over so many seconds.
func (p point) spreadOver(seconds float64) point {
	before := p.load()
	p.read, p.write = p.read.SpreadOver(p.batch.Part, seconds), p.write.SpreadOver(p.batch.Part, seconds)
	rest := sampling.RemainingPart(p.batch.Part, seconds)
	for i := range p.independent {
		p.independent[i] = p.independent[i].SpreadOver(p.batch.Part, seconds)
		p.whole[i] *= rest * rest // of the same callers
	}
	p.throttled = detect.PartOf(p.throttled, rest)
	p.replicated = detect.ShareOf(p.replicated, rest)
	p.table = detect.Sub(p.table, before).Plus(p.load())
	return p
}

// follows reports whether the second is the next one, with times like those of before.
func (p *point) follows(before *point) bool {
	return p.second == before.second+1 && p.batch.Follows(before.batch)
}

// withoutBatch returns the second without what was flushed: what is certain of it.
func (p point) withoutBatch() point { return p.spreadOver(math.Inf(1)) }

// believedAmounts returns the part of the second that a kind is about, and the variance if
// whole callers were drawn.
func (p *point) believedAmounts(k detect.Kind) (a *sampling.Amounts, whole float64) {
	if k == detect.HotKeyRead {
		return &p.independent[0], p.whole[0]
	}
	return &p.independent[1], p.whole[1]
}

// sampledSecond returns what is known of the part of the second that a kind is about if requests
// were drawn independently, and what whole callers would leave open.
func (p *point) sampledSecond(k detect.Kind) sampling.Second {
	seen, whole := p.believedAmounts(k)
	return sampling.Second{
		Estimate: sampling.Estimate{Units: detect.Units(seen.Value), Spread: seen.Spread}, Whole: whole, Assumed: p.draws.Assumed > 0,
	}
}

// amounts returns the part of the second that a kind is about.
func (p *point) amounts(k detect.Kind) *sampling.Amounts {
	if k == detect.HotKeyRead {
		return &p.read
	}
	return &p.write
}

// consumedLoad returns what was not throttled.
func (p *point) consumedLoad() sketch.Load {
	return sketch.Load{Read: p.read.Value - p.throttled.Read, Write: p.write.Value - p.throttled.Write}
}

// tablePoint returns a second of a table or index as a whole, of which l is the likely
// load.
func tablePoint(w *sketch.Window, l sketch.Load, s *throttling.Pressure) point {
	rest := detect.Ratio(float64(detect.Weight(l)), float64(detect.Weight(w.Total.Load)))
	read, write := sampling.Amounts{Value: l.Read, Low: l.Read, Proven: l.Read}, sampling.Amounts{Value: l.Write, Low: l.Write, Proven: l.Write}
	return point{
		second: w.Second, pressure: s, throttled: detect.PartOf(w.Total.Throttled, rest), requests: w.Total.Requests, table: l,
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
	return r.Kind != detect.HotKeyRead && p.combinedShare() > 1 && p.write.Proven <= detect.PartitionWrite && p.read.Proven <= detect.PartitionRead
}

// combinedShare returns the proven sum of both utilisations.
func (p *point) combinedShare() float64 {
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
	if math.Sqrt(p.amounts(k).Spread.Variance) > detect.PlateauSpread*detect.Units(detect.Limit(k)) {
		return false
	}
	if p.tableChanges < p.tableRequests && (p.otherwise || detect.Amount(k, p.throttled) == 0) {
		return false // requests are visible, and the partition throttles none
	}
	used := detect.Amount(k, p.consumedLoad())
	return used >= detect.ShareOf(detect.Limit(k), detect.SaturatedFrom) && used <= detect.ShareOf(detect.Limit(k), detect.SaturatedTo)
}

// isCold reports whether the second of a key neither begins an episode nor has a part in
// one that it does not follow: of it all is known, and that is below the policy's share.
func (p *point) isCold(warning float64) bool {
	if p.batch.Part != 0 || p.whole != [2]float64{} || p.combinedShare() > 1 {
		return false
	}
	for i, k := range []detect.Kind{detect.HotKeyRead, detect.HotKeyWrite} {
		most := detect.ShareOf(detect.Limit(k), min(warning, 1))
		for _, a := range []*sampling.Amounts{p.amounts(k), &p.independent[i]} {
			if a.Spread != (sketch.Spread{}) || a.Proven > most {
				return false
			}
		}
		if isPlateau(p, k) {
			return false
		}
	}
	return true
}
