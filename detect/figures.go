package detect

import (
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// keyFinding are the figures of a hot key.
func (e *episode) keyFinding(s subject, r rules) Finding {
	f := e.figures(s, r)
	f.Utilization = max(units(e.write.value)/units(PartitionWrite), units(e.read.value)/units(PartitionRead))
	f.Combined = e.combined
	f.Shards = Shards(figureOf(r.kind, e).value, limit(r.kind), r.Headroom)
	if all := amount(r.kind, e.sumTable); all > 0 {
		f.Share = min(1, float64(amount(r.kind, e.sum))/float64(all))
	}
	return f
}

// figures are what every kind tells of an episode.
func (e *episode) figures(s subject, r rules) Finding {
	f := newFinding(r.kind, s.target, s.key)
	f.Severity, f.State = r.cap(e.severity()), e.state
	f.Peak = Peak{Loads: Loads{WCU: e.write.units(1), RCU: e.read.units(1)}, At: at(e.at)}
	f.Mean = e.meanLoads()
	f.Consumed = Consumed{WCU: units(e.consumed.Write), RCU: units(e.consumed.Read)}
	f.OverSeconds, f.PossibleSeconds, f.SaturatedSeconds = e.over, e.possible, e.saturated
	f.FirstSeen, f.LastSeen = at(e.first), at(e.last)
	f.Seconds, f.Through = e.seconds, at(e.through)
	f.Seen = seenOf(e)
	if f.Severity == Info && f.State == Firing {
		f.State = Pending // the policy caps it: nobody is woken
	}
	return f
}

func figureOf(k Kind, e *episode) figure {
	if k == HotKeyRead {
		return e.read
	}
	return e.write
}

func (e *episode) meanLoads() Loads {
	write := figure{e.sum.Write, e.sumLow.Write, e.sumHigh.Write}
	read := figure{e.sum.Read, e.sumLow.Read, e.sumHigh.Read}
	return Loads{WCU: write.units(e.seconds), RCU: read.units(e.seconds)}
}

// seenOf is what the samples of an episode show.
func seenOf(e *episode) Seen {
	switch {
	case e.changes == 0:
		return SeenRequests
	case e.changes == e.asked:
		return SeenChanges
	}
	return SeenBoth
}

// restored is the episode that made the finding.
func restored(f *Finding) *episode {
	e := &episode{
		state: f.State, seconds: f.Seconds, through: f.Through.Unix(),
		write: figureFrom(f.Peak.WCU), read: figureFrom(f.Peak.RCU), at: f.Peak.At.Unix(),
		consumed: sketch.Load{Read: milli(f.Consumed.RCU), Write: milli(f.Consumed.WCU)},
		sum:      sum(f, value), sumLow: sum(f, low), sumHigh: sum(f, high),
		over: f.OverSeconds, possible: f.PossibleSeconds, saturated: f.SaturatedSeconds,
		isSaturated: f.Severity == Critical && f.OverSeconds == 0,
		warned:      rank(f.Severity) >= rank(Warning), combined: f.Combined, toldEvidence: f.Evidence,
		first: f.FirstSeen.Unix(), last: f.LastSeen.Unix(),
	}
	e.hot[0] = e.last
	switch f.Seen {
	case SeenChanges:
		e.asked, e.changes = 1, 1
	case SeenBoth:
		e.asked, e.changes = 2, 1
	}
	if f.Share > 0 {
		e.sumTable = sketch.Load{
			Read:  sample.Milli(float64(e.sum.Read) / f.Share),
			Write: sample.Milli(float64(e.sum.Write) / f.Share),
		}
	}
	return e
}

// sum is the mean times the seconds it was taken over.
func sum(f *Finding, part func(Figure) float64) sketch.Load {
	n := float64(f.Seconds)
	return sketch.Load{Read: milli(part(f.Mean.RCU) * n), Write: milli(part(f.Mean.WCU) * n)}
}

func value(f Figure) float64 { return f.Value }
func low(f Figure) float64   { return f.Low }
func high(f Figure) float64  { return f.High }

func figureFrom(f Figure) figure {
	return figure{milli(f.Value), milli(f.Low), milli(f.High)}
}
