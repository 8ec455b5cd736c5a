package episode

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Peak returns the highest second of what a kind is about.
func (e *Episode) Peak(k detect.Kind) sampling.Interval {
	if k == detect.HotKeyRead {
		return e.read
	}
	return e.write
}

// PeakLoad returns the highest seconds of reads and of writes.
func (e *Episode) PeakLoad() sketch.Load {
	return sketch.Load{Read: e.read.Value, Write: e.write.Value}
}

// KeyFinding returns a finding with the figures of a hot key; evidence, reason and
// advice are left to the caller.
func (e *Episode) KeyFinding(s Subject, r Rules) detect.Finding {
	f := e.Finding(s, r)
	f.Utilization = max(detect.Units(e.write.Value)/detect.Units(detect.PartitionWrite), detect.Units(e.read.Value)/detect.Units(detect.PartitionRead))
	f.Combined = e.combined
	f.Shards = detect.Shards(e.Peak(r.Kind).Value, detect.Limit(r.Kind), r.Headroom)
	if all := detect.Amount(r.Kind, e.sumTable); all > 0 {
		f.Share = min(1, float64(detect.Amount(r.Kind, e.sum))/float64(all))
	}
	return f
}

// Finding returns a finding with the figures that every kind has.
func (e *Episode) Finding(s Subject, r Rules) detect.Finding {
	f := detect.NewFinding(r.Kind, s.Target, s.Key)
	f.Severity, f.State = r.Cap(e.Severity()), e.state
	f.Peak = detect.Peak{Loads: detect.Loads{WCU: e.write.PerSecond(1), RCU: e.read.PerSecond(1)}, At: detect.At(e.At)}
	f.Mean = e.meanLoads()
	f.Consumed = detect.Consumed{WCU: detect.Units(e.consumed.Write), RCU: detect.Units(e.consumed.Read)}
	f.OverSeconds, f.PossibleSeconds, f.SaturatedSeconds = e.Over, e.possible, e.saturated
	f.FirstSeen, f.LastSeen = detect.At(e.first), detect.At(e.last)
	f.Seconds, f.Through = e.seconds, detect.At(e.through)
	f.Seen = samplesSeen(e)
	if f.Severity == detect.Info && f.State == detect.Firing {
		f.State = detect.Pending // the policy caps it: nothing pages
	}
	return f
}

func (e *Episode) meanLoads() detect.Loads {
	write := sampling.Interval{Value: e.sum.Write, Low: e.sumLow.Write, High: e.sumHigh.Write}
	read := sampling.Interval{Value: e.sum.Read, Low: e.sumLow.Read, High: e.sumHigh.Read}
	return detect.Loads{WCU: write.PerSecond(e.seconds), RCU: read.PerSecond(e.seconds)}
}

// samplesSeen returns what the samples of an episode show.
func samplesSeen(e *Episode) detect.Seen {
	switch {
	case e.changes == 0:
		return detect.SeenRequests
	case e.changes == e.requests:
		return detect.SeenChanges
	}
	return detect.SeenBoth
}

// restored returns the episode that made the finding.
func restored(f *detect.Finding) *Episode {
	e := &Episode{
		state: f.State, seconds: f.Seconds, through: f.Through.Unix(),
		write: intervalOf(f.Peak.WCU), read: intervalOf(f.Peak.RCU), At: f.Peak.At.Unix(),
		consumed: sketch.Load{Read: detect.Milli(f.Consumed.RCU), Write: detect.Milli(f.Consumed.WCU)},
		sum:      sumOf(f, valueOf), sumLow: sumOf(f, lowOf), sumHigh: sumOf(f, highOf),
		Over: f.OverSeconds, possible: f.PossibleSeconds, saturated: f.SaturatedSeconds,
		isSaturated: f.Severity == detect.Critical && f.OverSeconds == 0,
		warned:      detect.Rank(f.Severity) >= detect.Rank(detect.Warning), combined: f.Combined, restoredEvidence: f.Evidence,
		first: f.FirstSeen.Unix(), last: f.LastSeen.Unix(),
	}
	e.hottest[0] = e.last
	switch f.Seen {
	case detect.SeenChanges:
		e.requests, e.changes = 1, 1
	case detect.SeenBoth:
		e.requests, e.changes = 2, 1
	}
	if f.Share > 0 {
		e.sumTable = sketch.Load{
			Read:  sample.Milli(float64(e.sum.Read) / f.Share),
			Write: sample.Milli(float64(e.sum.Write) / f.Share),
		}
	}
	return e
}

// sumOf returns the mean times the seconds it was taken over.
func sumOf(f *detect.Finding, part func(detect.Figure) float64) sketch.Load {
	n := float64(f.Seconds)
	return sketch.Load{Read: detect.Milli(part(f.Mean.RCU) * n), Write: detect.Milli(part(f.Mean.WCU) * n)}
}

func valueOf(f detect.Figure) float64 { return f.Value }
func lowOf(f detect.Figure) float64   { return f.Low }
func highOf(f detect.Figure) float64  { return f.High }

func intervalOf(f detect.Figure) sampling.Interval {
	return sampling.Interval{Value: detect.Milli(f.Value), Low: detect.Milli(f.Low), High: detect.Milli(f.High)}
}
