package board

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// unseenKeys counts seconds in which a target, and possibly one unlisted key of it,
// exceeded the partition limit. A flood of heavy keys, of this table or others, leaves
// too little room to tell single keys apart. The zero value is ready.
type unseenKeys struct {
	newest int64
	recent uint64 // a bit for each of the last seconds, the lowest for newest
	// first and last bound these seconds in the current episode; seconds counts them.
	first, last, seconds int64
	// most is the load of an unlisted key in the second at, its highest.
	most  sketch.Load
	at    int64
	fires bool
}

// observe records a second. It may get the same second again: later parts only add to
// both loads.
func (u *unseenKeys) observe(w *sketch.Window) {
	if w.Second > u.newest {
		u.recent <<= uint64(w.Second - u.newest)
		u.newest = w.Second
	}
	bit := uint64(1) << uint64(u.newest-w.Second)
	if bit == 0 || !throttling.HidesKeys(w) {
		return
	}
	if w.Second-u.last > detect.ResolveSeconds || u.seconds == 0 {
		*u = unseenKeys{newest: u.newest, first: w.Second}
	}
	if u.recent&bit == 0 {
		u.seconds++
	}
	u.recent |= bit
	u.first, u.last = min(u.first, w.Second), max(u.last, w.Second)
	if detect.Weight(w.Unseen) > detect.Weight(u.most) {
		u.most, u.at = w.Unseen, w.Second
	}
	u.fires = u.fires || u.recent&(u.recent>>1|u.recent>>2) != 0 // FireSeconds of FireOf
}

// unseenFindings returns findings about tables and indexes with a possibly unseen hot key.
func (b *Board) unseenFindings() (all []detect.Finding) {
	for target, s := range b.totals {
		u := &s.unseenKeys
		if !u.fires || b.timeline.Settled-u.last >= detect.ResolveSeconds {
			continue
		}
		f := b.blindFinding(casebook.UnseenKeys, target, u.first, u.last, detect.FixMorePartitions)
		f.Seconds, f.Peak.At = u.seconds, detect.TimeOf(u.at)
		f.Peak.WCU.High, f.Peak.RCU.High = detect.Units(u.most.Write), detect.Units(u.most.Read) // of a key without a finding
		all = append(all, f)
	}
	return all
}

// blindFinding returns a finding about keys that the board did not see in some seconds.
func (b *Board) blindFinding(c detect.Case, target detect.Target, first, last int64, fix detect.Fix) detect.Finding {
	f := casebook.NewFinding(c, target, sample.Key{})
	f.Severity, f.State = b.options.Policy(target).Cap(detect.Warning), detect.Firing
	f.Share, f.Shards = 1, 1
	f.FirstSeen, f.LastSeen, f.Through = detect.TimeOf(first), detect.TimeOf(last), detect.TimeOf(last)
	f.Advice = []detect.Step{detect.NewStep(detect.FixCheckSamplingRate), detect.NewStep(fix)}
	return f
}
