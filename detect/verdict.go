package detect

import (
	"time"
)

// finding words a key's episode.
func (t *track) finding(e *episode, r rules, b *Board) Finding {
	f := e.figures(t.target, r)
	peak := figureOf(r.kind, e)
	f.Utilization = max(units(e.write.value)/units(PartitionWrite), units(e.read.value)/units(PartitionRead))
	f.Combined = e.combined
	f.Shards = Shards(peak.value, limit(r.kind), r.Headroom)
	if all := amount(r.kind, e.sumTable); all > 0 {
		f.Share = min(1, float64(amount(r.kind, e.sum))/float64(all))
	}
	f.Evidence = t.evidence(e)
	f.Rolling = rolling(f.Key, f.Peak.At)
	because := heal(&f, b.options.Facts(f.Table))
	f.Reason, f.Why = because.reason, because.why+f.Seen.caveat()
	f.Advice = b.advice(&f, peak, r)
	return f
}

// figures are what every kind tells of an episode.
func (e *episode) figures(t target, r rules) Finding {
	f := Finding{
		Fingerprint: fingerprint(r.kind, t.table, t.index, t.key.Type, t.key.Text), Kind: r.kind,
		Table: t.table, Index: t.index, Key: t.key.Text, KeyType: t.key.Type,
		Severity: r.cap(e.severity()), State: e.state,
		Peak:        Peak{Loads: Loads{WCU: e.write.units(1), RCU: e.read.units(1)}, At: at(e.at)},
		Mean:        e.meanLoads(),
		Consumed:    Consumed{WCU: units(e.consumed.Write), RCU: units(e.consumed.Read)},
		OverSeconds: e.over, PossibleSeconds: e.possible, SaturatedSeconds: e.saturated,
		FirstSeen: at(e.first), LastSeen: at(e.last),
		Seconds: e.seconds, Through: at(e.through),
		Gaps: []Gap{},
	}
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

// units divides a figure by some seconds.
func (f figure) units(seconds int64) Figure {
	n := float64(max(seconds, 1))
	return Figure{Value: units(f.value) / n, Low: units(f.low) / n, High: units(f.high) / n}
}

func (e *episode) meanLoads() Loads {
	write := figure{e.sum.Write, e.sumLow.Write, e.sumHigh.Write}
	read := figure{e.sum.Read, e.sumLow.Read, e.sumHigh.Read}
	return Loads{WCU: write.units(e.seconds), RCU: read.units(e.seconds)}
}

func at(second int64) time.Time { return time.Unix(second, 0).UTC() }

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

// caveat is what has to be said of samples that do not show all.
func (s Seen) caveat() string {
	switch s {
	case SeenChanges:
		return " This is from a stream: a lower bound of the write load. Reads are not seen, nor writes that were refused or changed nothing."
	case SeenBoth:
		return " A part of this is from a stream, which shows neither reads nor refused writes; a write that both a stream and a sample show counts twice."
	}
	return ""
}
