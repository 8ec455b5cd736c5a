package episode

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Peak returns the highest second on the subject's side, reads or writes.
func (e *Episode) Peak(k detect.Subject) sampling.Interval { return detect.Side(k, e.write, e.read) }

// sustainedPeak returns the peak that a shard count, or a table's capacity, has to serve. For a
// fully seen load it is the highest second. For a sampled one it is the peak without sampling
// noise, and its least likely value.
func (e *Episode) sustainedPeak(k detect.Subject) sampling.PeakLoad {
	most, noisy := e.Peak(k), &e.peak
	switch {
	case e.sampled && e.whole != nil:
		noisy = &e.whole[detect.Side(k, 0, 1)].peak
	case !e.sampled || e.means == nil:
		return sampling.PeakLoad{Value: most.Value, Low: most.Low, Sure: most.Low}
	}
	peak := noisy.Load(e.seconds, e.draws.RateLow)
	mean := detect.Milli(e.total(k).Mean(0).Value) // chance raises the mean no more than it lowers it
	value := min(max(peak.Value, mean), most.Value)
	if e.believed {
		peak.Sure = 0 // whole calls and callers do not even out by chance
	}
	return sampling.PeakLoad{Value: value, Low: min(peak.Low, value), Sure: min(peak.Sure, value)}
}

// leastPeak returns the proven load of a sampled key's highest second, from the lower
// bound of its mean and the sure load of its highest seconds. The highest of many noisy
// seconds proves little by itself.
func (e *Episode) leastPeak(r Rules, mean float64, sure sample.Milli) float64 {
	least := max(detect.Units(detect.Milli(mean)), detect.Units(sure))
	if e.Over > 0 || e.sustained {
		return max(least, detect.Units(detect.Limit(r.Watched)))
	}
	return least
}

// total returns the load on the subject's side, reads or writes.
func (e *Episode) total(k detect.Subject) *sampling.Total {
	return detect.Side(k, &e.writeTotal, &e.readTotal)
}

// PeakLoad returns the highest seconds of reads and of writes, without sampling noise.
func (e *Episode) PeakLoad() sketch.Load {
	return sketch.Load{Read: e.sustainedPeak(detect.KeyReads).Value, Write: e.sustainedPeak(detect.KeyWrites).Value}
}

// WholeFinding returns a finding with the figures of a table or index as a whole.
func (e *Episode) WholeFinding(s Followed, r Rules) detect.Finding {
	f := e.Finding(s, r)
	for _, side := range []detect.Subject{detect.KeyWrites, detect.KeyReads} {
		peak, figure, consumed := e.sustainedPeak(side), detect.Side(side, &f.Peak.WCU, &f.Peak.RCU), detect.Side(side, &f.Consumed.WCU, &f.Consumed.RCU)
		*consumed *= detect.Ratio(detect.Units(peak.Value), figure.Value)
		figure.Value, figure.Low = detect.Units(peak.Value), min(figure.Low, max(detect.Units(peak.Sure), detect.Side(side, f.Mean.WCU, f.Mean.RCU).Low))
	}
	return f
}

// KeyFinding returns a finding with the figures of a hot key. The caller adds evidence,
// ground and advice.
func (e *Episode) KeyFinding(s Followed, r Rules) detect.Finding {
	f := e.Finding(s, r)
	sustained := e.sustainedPeak(r.Watched)
	figure := detect.Side(r.Watched, &f.Peak.WCU, &f.Peak.RCU)
	figure.Value = detect.Units(sustained.Value)
	figure.Low = min(figure.Low, detect.Units(sustained.Low)) // the highest second's own bound would be above the value
	if e.sampled {
		figure.Low = min(figure.Low, e.leastPeak(r, detect.Side(r.Watched, f.Mean.WCU, f.Mean.RCU).Low, sustained.Sure))
	}
	f.Utilization = max(f.Peak.WCU.Value/detect.Units(detect.PartitionWrite), f.Peak.RCU.Value/detect.Units(detect.PartitionRead))
	f.Combined = e.combined
	f.Shards = detect.Shards(sustained.Value, detect.Limit(r.Watched), r.Headroom)
	if all := detect.Amount(r.Watched, e.sumTable); all > 0 {
		own := sketch.Load{Read: e.readTotal.Value(), Write: e.writeTotal.Value()}
		f.Share = min(1, float64(detect.Amount(r.Watched, own))/float64(all))
	}
	return f
}

// Healing returns what shows that splits have healed the key; nil if nothing does.
func (e *Episode) Healing() *detect.Healed {
	if !e.healing.healed {
		return nil
	}
	then := e.healing.then
	return &then
}

// Finding returns a finding with the figures that every one has.
func (e *Episode) Finding(s Followed, r Rules) detect.Finding {
	f := detect.NewFinding(r.Watched, s.Target, s.Key)
	f.Severity, f.State, f.Lasting = r.Cap(e.Severity()), e.state, r.Cap(e.lasting)
	f.Peak = detect.Peak{Loads: detect.Loads{WCU: e.write.PerSecond(1), RCU: e.read.PerSecond(1)}, At: detect.TimeOf(e.At)}
	f.Mean = detect.Loads{WCU: e.writeTotal.Mean(r.Largest.Write), RCU: e.readTotal.Mean(r.Largest.Read)}
	f.Consumed = detect.Consumed{WCU: detect.Units(e.consumed.Write), RCU: detect.Units(e.consumed.Read)}
	f.OverSeconds, f.OverIn, f.PossibleSeconds, f.SaturatedSeconds = new(e.Over), e.overIn, e.possible, e.saturated
	f.Bursts = e.bursts
	f.FirstSeen, f.LastSeen = detect.TimeOf(e.first), detect.TimeOf(e.last)
	f.Seconds, f.Through = e.writeTotal.Seconds(), detect.TimeOf(e.through)
	f.Throttling = e.refusals.Throttling()
	if f.Quality = qualityOf(e); r.Span > 0 {
		f.Quality.Source, f.Quality.Resolution, f.Seconds = detect.SourceMinutes, int(r.Span), f.Seconds*r.Span
		f.Peak.WCU.High, f.Peak.RCU.High = float64(r.Span)*f.Peak.WCU.High, float64(r.Span)*f.Peak.RCU.High // all may have come in one second
	}
	if f.Severity == detect.Info && f.State == detect.Firing {
		f.State = detect.Pending // the policy caps it: no alert
	}
	return f
}

// WasRefused reports whether the key's partition was seen to refuse requests, in an earlier
// episode too.
func (e *Episode) WasRefused() bool { return e.refused[0] != 0 || e.healing.refused != 0 }

// Throttling returns the throttling of a table or index as a whole, by its requests from the
// first throttled second to the last. Writes that are throttled beside reads are a share of
// the write units: reads that are served would hide the harm. Read units are no measure of
// requests, for a page of a Scan has many.
func (e *Episode) Throttling() *detect.Throttling {
	refused := int64(0)
	for _, n := range e.Pressure.Refused {
		refused += n
	}
	if refused == 0 {
		return nil
	}
	t := &detect.Throttling{From: detect.TimeOf(max(e.first, e.refusedFrom)), To: detect.TimeOf(e.last)}
	throttled, load := e.Pressure.Throttled, e.Pressure.Load
	t.Units = detect.Units(throttled.Write) + detect.Units(throttled.Read)
	share := e.asked.Requests.Part(e.sampled)
	switch {
	case throttled.Write > 0 && throttled.Read == 0:
		t.Unit = "wcu"
		if load.Read > 0 {
			share = e.asked.Write.Part(e.sampled)
		}
	case throttled.Read > 0 && throttled.Write == 0:
		t.Unit = "rcu"
	}
	setShare(t, share)
	return t
}

// qualityOf returns the quality of an episode's samples.
func qualityOf(e *Episode) detect.Quality {
	source := detect.SourceMixed
	switch e.changes {
	case 0:
		source = detect.SourceRequests
	case e.requests:
		source = detect.SourceChanges
	}
	q := detect.NewQuality(source)
	q.Sampling = detect.SamplingNone
	if estimated := e.draws.Estimated > 0; e.seconds > 0 {
		q.Estimated = &estimated
	}
	if e.isFlushed() {
		q.CannotSee = append(q.CannotSee, detect.BlindSeconds)
	}
	if !e.sampled {
		return q
	}
	switch low := e.draws.RateLow; {
	case e.believed && !e.warned:
		q.Sampling = detect.SamplingUnknowable
	case e.draws.Assumed > 0 || low == 0:
		q.Sampling = detect.SamplingAssumed
	default:
		q.Sampling = detect.SamplingByCall
	}
	if low := e.draws.RateLow; low > 0 && low == e.draws.RateHigh {
		q.Rate = &low
	}
	return q
}

// isFlushed reports whether flushed load makes up most of the episode, so that its times
// do not show when the load was.
func (e *Episode) isFlushed() bool { return e.flushed > e.exact }

func intervalOf(f detect.Figure) sampling.Interval {
	return sampling.Interval{Value: detect.Milli(f.Value), Low: detect.Milli(f.Low), High: detect.Milli(f.High)}
}
