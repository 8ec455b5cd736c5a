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
	// read and write are the requested load; throttled is the part of it that DynamoDB
	// throttled.
	read, write sampling.Amounts
	throttled   sketch.Load
	// requests counts the requests seen, keyRange the key's requests throttled because of
	// their partition, noReason the ones throttled without a reason, and others the ones
	// throttled for other reasons, as far as the evidence shows.
	requests, keyRange, noReason, others int64
	// tableRequests counts the requests seen of the whole table or index; tableChanges
	// counts the ones from a stream.
	tableRequests, tableChanges int64
	// pressure is the throttling of a table or index as a whole; nil for a key.
	pressure *throttling.Pressure
	// draws describes the sampling of the key's requests. whole is the variance of reads
	// and of writes if sampling drew whole callers, zero if that is excluded.
	draws       sketch.Draws
	whole       [2]float64
	independent [2]sampling.Amounts // if requests were drawn independently
	// batch is the part of the load whose requests have the time of a flush.
	batch sampling.Batch
	// ahead counts the following seconds with such a part at the same times, up to
	// aheadSeconds.
	ahead int
	// grown is the growth of the key's items by writes in bytes, if images show it.
	grown      float64
	grownKnown bool
	// marking is the part of the load whose callers mark refusals.
	marking float64
	// table is the requested load of the whole table or index in that second.
	table sketch.Load
	// replicated is the part of write, and of table, that other Regions of a global table
	// wrote. regions holds each Region's part of the second; nil for other tables.
	replicated sample.Milli
	regions    *regions
}

// keyPoint returns a window's load of one of its keys, and the key's batch.
func keyPoint(w *sketch.Window, k *sketch.KeyLoad, batch sampling.Batch) point {
	p := point{
		second: w.Second, requests: k.Requests, tableRequests: w.Total.Requests, tableChanges: w.Total.Changes,
		read:      sampling.NewAmounts(k.Low.Read, k.Err.Read, k.ReadSpread),
		write:     sampling.NewAmounts(k.Low.Write, k.Err.Write, k.WriteSpread),
		throttled: k.Throttled, table: w.Total.Load,
	}
	if k.Evidence != nil {
		p.keyRange, p.noReason = k.Evidence.Refused[sample.KeyRange], k.Evidence.Refused[sample.ThrottleUnknown]
		for _, n := range k.Evidence.Refused {
			p.others += n
		}
		p.others -= p.keyRange + p.noReason
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

// spreadOver returns the second with its flushed load as the mean over this many seconds.
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

// certainPoint returns the certain load of the second, without the flushed load.
func (p point) certainPoint() point { return p.spreadOver(math.Inf(1)) }

// believedAmounts returns a watched subject's part of the second, and the variance
// if sampling drew whole callers.
func (p *point) believedAmounts(k detect.Subject) (a *sampling.Amounts, whole float64) {
	side := detect.Side(k, 1, 0)
	return &p.independent[side], p.whole[side]
}

// sampledSecond returns the subject's side of the second, bounded as if requests were drawn
// independently, and the variance if sampling drew whole callers.
func (p *point) sampledSecond(k detect.Subject) sampling.Second {
	seen, whole := p.believedAmounts(k)
	return sampling.Second{
		Estimate: sampling.Estimate{Units: detect.Units(seen.Value), Spread: seen.Spread}, Whole: whole, Assumed: p.draws.Assumed > 0,
	}
}

// amounts returns a watched subject's part of the second.
func (p *point) amounts(k detect.Subject) *sampling.Amounts {
	return detect.Side(k, &p.write, &p.read)
}

// consumedLoad returns the load that was not throttled.
func (p *point) consumedLoad() sketch.Load {
	return sketch.Load{Read: p.read.Value - p.throttled.Read, Write: p.write.Value - p.throttled.Write}
}

// tablePoint returns a second of a table or index as a whole; l is its likely load.
func tablePoint(w *sketch.Window, l sketch.Load, s *throttling.Pressure) point {
	rest := detect.Ratio(float64(detect.Weight(l)), float64(detect.Weight(w.Total.Load)))
	p := point{second: w.Second, pressure: s, throttled: detect.PartOf(w.Total.Throttled, rest), requests: w.Total.Requests, table: l}
	readSpread, writeSpread := p.observeDraws(w)
	readSpread.Variance, writeSpread.Variance = rest*rest*readSpread.Variance, rest*rest*writeSpread.Variance
	p.read, p.write = sampling.NewAmounts(l.Read, 0, readSpread), sampling.NewAmounts(l.Write, 0, writeSpread)
	p.independent = [2]sampling.Amounts{p.read, p.write}
	return p
}

// observeDraws records how the requests of all keys were sampled, and returns the uncertainty of
// their sums. Load that no key counts is as uncertain as the largest calls would make it.
func (p *point) observeDraws(w *sketch.Window) (read, write sketch.Spread) {
	if w.Total.ReadLargest == 0 && w.Total.WriteLargest == 0 {
		return read, write
	}
	all := w.Sampling()
	p.draws = all.Draws
	read, write, unlisted := all.ReadSpread, all.WriteSpread, detect.Sub(w.Total.Load, all.Low)
	return read.Plus(sketch.Spread{Variance: detect.Units(unlisted.Read) * w.Total.ReadLargest, Largest: w.Total.ReadLargest}),
		write.Plus(sketch.Spread{Variance: detect.Units(unlisted.Write) * w.Total.WriteLargest, Largest: w.Total.WriteLargest})
}

// load returns the requested load.
func (p *point) load() sketch.Load {
	return sketch.Load{Read: p.read.Value, Write: p.write.Value}
}

// overCombined reports whether reads and writes together are over a partition's
// budget, if they share one, while each is below its limit. It is part of the
// finding about writes.
func (p *point) overCombined(r Rules) bool {
	return r.Watched != detect.KeyReads && p.combinedShare() > 1 && p.write.Proven <= detect.PartitionWrite && p.read.Proven <= detect.PartitionRead
}

// combinedShare returns the proven sum of both utilisations.
func (p *point) combinedShare() float64 {
	return detect.Units(p.write.Proven)/detect.Units(detect.PartitionWrite) + detect.Units(p.read.Proven)/detect.Units(detect.PartitionRead)
}

// mayRefuse reports whether the partition may have refused attempts on the subject's side.
// Attempts without units, before a retry, count for the side with the larger part of its limit.
func (p *point) mayRefuse(k detect.Subject) bool {
	if p.throttled != (sketch.Load{}) {
		return detect.Amount(k, p.throttled) > 0 && (p.others == 0 || p.keyRange+p.noReason > 0)
	}
	writes := p.write.Value*detect.WritesInReads >= p.read.Value
	return p.keyRange+p.noReason > 0 && detect.Side(k, writes, !writes)
}

// refusedParts returns the refused parts of the requested units on the subject's side, and of the
// requests of both: attempts that a retry serves carry no units. They count the requests that
// the partition refused, drawn as independently as records state.
func (p *point) refusedParts(k detect.Subject) (units, requests sampling.Part) {
	seen := p.sampledSecond(k)
	units = sampling.Part{All: seen.Units, Variance: seen.Spread.Variance}
	requests = sampling.Part{All: float64(p.requests)}
	if p.draws.RateLow > 0 { // a call's attempts were drawn together
		calls := detect.Ratio(units.All*units.All, units.Variance)
		requests.Variance = max(requests.All, detect.Ratio(requests.All*requests.All, calls))
	}
	if p.keyRange > 0 && p.mayRefuse(k) {
		part := detect.Ratio(float64(p.keyRange), float64(p.keyRange+p.noReason+p.others))
		units.Of, requests.Of = part*detect.Units(detect.Amount(k, p.throttled)), float64(p.keyRange)
	}
	return units, requests
}

// isBlind reports whether the second's samples cannot show refused requests, as a stream's.
func (p *point) isBlind() bool { return p.tableChanges >= p.tableRequests }

// isPlateau reports whether the second's consumed load lies just at the limit, as far as
// sampling shows it.
func isPlateau(p *point, k detect.Subject) bool {
	if math.Sqrt(p.amounts(k).Spread.Variance) > detect.PlateauSpread*detect.Units(detect.Limit(k)) {
		return false
	}
	if !p.isBlind() && !p.mayRefuse(k) {
		return false // requests are visible, and the partition throttles none
	}
	used := detect.Amount(k, p.consumedLoad())
	return used >= detect.ShareOf(detect.Limit(k), detect.SaturatedFrom) && used <= detect.ShareOf(detect.Limit(k), detect.SaturatedTo)
}

// isCold reports whether a key's second needs no episode, unless it follows one: all of
// its load is known, and below the policy's share.
func (p *point) isCold(warning float64) bool {
	if p.batch.Part != 0 || p.whole != [2]float64{} || p.combinedShare() > 1 {
		return false
	}
	if p.mayRefuse(detect.KeyReads) || p.mayRefuse(detect.KeyWrites) {
		return false
	}
	for i, k := range []detect.Subject{detect.KeyReads, detect.KeyWrites} {
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
