package casebook

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// Act is an action that on-call can take tonight, without a release or a change of keys.
type Act string

// The acts.
const (
	// Nothing is right when it is over, or when no harm is seen where it could be.
	Nothing Act = "nothing"
	// SlowCallers is to slow or pause the callers of a key, SlowScan the Scan, SlowImport
	// the job that writes keys in their order.
	SlowCallers Act = "slow_callers"
	SlowScan    Act = "slow_scan"
	SlowImport  Act = "slow_import"
	// StopTest is to stop a test, BackOff to let one caller retry later and less often.
	StopTest Act = "stop_test"
	BackOff  Act = "back_off"
	// Wait is to give DynamoDB the minutes that a split takes.
	Wait Act = "wait"
	// Prewarm is to raise the table's warm throughput.
	Prewarm Act = "prewarm"
	// The four that give a table more.
	RaiseCapacity      Act = "raise_capacity"
	RaiseMaximum       Act = "raise_maximum"
	RaiseQuota         Act = "raise_quota"
	RaiseIndexCapacity Act = "raise_index_capacity"
	// CheckReason is to look up in CloudWatch which limit refuses requests.
	CheckReason Act = "check_reason"
	// CheckRefusals is to look at CloudWatch's metric of refused requests first.
	CheckRefusals Act = "check_refusals"
	// CheckSize is to ask for the size of an item collection, which no sample carries.
	CheckSize Act = "check_size"
	// FindKey is to find out which of many keys is the hot one, if any is.
	FindKey Act = "find_key"
	// MendKeyheat is to look after Keyheat itself.
	MendKeyheat Act = "mend_keyheat"
)

// Move is the action for now.
type Move struct {
	Act Act
	// Callers are whom it concerns, the busiest first; empty if the samples name none.
	Callers []detect.Part
	// Total is the units a second to bring the key to; 0 if no rate is known to help.
	Total float64
	// From and To are the units a second of the first caller, or of a Scan: now, and the
	// most that leaves the rest of the load enough room. They are 0 if no caller stands out,
	// if this caller alone cannot help, or if its rate is not known well.
	From, To float64
}

func moveFor(f *detect.Finding, a *Answer) Move {
	m := Move{Act: actFor(f, a), Callers: a.Callers}
	switch {
	case m.Act == BackOff && f.Evidence != nil && f.Evidence.Retries != nil && len(f.Evidence.Retries.Callers) > 0:
		who := f.Evidence.Retries.Callers[0]
		m.Callers = []detect.Part{{Text: who.Caller, Low: who.Share, High: who.Share}}
	case m.Act == StopTest:
		m.Callers = m.Callers[:min(1, len(m.Callers))]
		m.slowDown(f, a)
	case m.Act == SlowScan:
		if i := slices.IndexFunc(f.Advice, func(s detect.Step) bool { return s.Fix == detect.FixSlowScan }); i >= 0 {
			m.From, m.To = f.Advice[i].Arguments.From, detect.RateBelow(f.Advice[i].Arguments.Units)
		}
	case slices.Contains([]Act{SlowCallers, CheckRefusals, Wait}, m.Act):
		m.slowDown(f, a)
	}
	return m
}

// KnownShare is how far apart the bounds of a caller's share are at most for its middle to
// stand for it.
const KnownShare = 0.15

// slowDown sets the total that the partition serves, and the rate of its busiest caller
// that brings the key there.
func (m *Move) slowDown(f *detect.Finding, a *Answer) {
	if f.Subject.OfTable() || m.Act == Wait && isWarm(f) {
		return
	}
	load, total := f.LoadNow(), f.RateTonight()
	if f.Sharding != nil && !f.Subject.OfKey() {
		load = f.Utilization * detect.Units(f.Limit()) // of the fullest key shard
	}
	m.Total = total
	one := f.Subject.OfKey() || f.Case == OneCaller || f.Case == MovingSpot
	if !one || len(m.Callers) == 0 || a.Alike || m.Callers[0].High-m.Callers[0].Low > KnownShare {
		return
	}
	from := load * (m.Callers[0].Low + m.Callers[0].High) / 2
	if to := from - (load - total); to > 0 {
		m.From, m.To = from, detect.RateBelow(to)
	}
}

func actFor(f *detect.Finding, a *Answer) Act {
	switch {
	case f.State == detect.Resolved:
		return Nothing
	case a.Blind:
		return MendKeyheat
	case f.Severity == detect.Info:
		return Nothing
	case a.Tonight == nil:
		return a.slow(f)
	}
	return a.Tonight(f, a)
}

// always is one act for all findings of a case.
func always(act Act) func(*detect.Finding, *Answer) Act {
	return func(*detect.Finding, *Answer) Act { return act }
}

// slow is to slow the callers, unless the requests are served since, lack the table's
// capacity, or will soon be served by a split.
func (a *Answer) slow(f *detect.Finding) Act {
	switch {
	case f.Subject.OfKey() && a.Harm.Failed == 0 && isCalm(f):
		return Nothing
	case StarvedAttempts(f) > 0:
		return raises[Lack(f)]
	case f.Quality.InBatches():
		return CheckRefusals
	case isWarm(f):
		return Wait // for a split between the keys
	case a.Code != OneCaller && a.Healing.Outlook == Likely && a.Harm.Refused < worthSlowing && a.Harm.Failed == 0:
		return Wait
	}
	return SlowCallers
}

// slowIfHarmed slows the callers of load near a limit only where it harms somebody, or is
// critical.
func slowIfHarmed(f *detect.Finding, a *Answer) Act {
	switch {
	case !a.Harm.None() || f.Severity == detect.Critical, f.Utilization > 1 && a.Code != EventualReads:
		return a.slow(f)
	case a.Harm.Visible:
		return Nothing
	}
	return CheckRefusals
}

// isCalm reports whether a key whose requests were refused is served since, for long enough
// that callers have come back.
func isCalm(f *detect.Finding) bool {
	return f.Throttling != nil && f.Through.Sub(f.Throttling.To) >= detect.HealedSeconds*time.Second
}

// isWarm reports whether a key is refused that does not fill its partition: its load is known to
// leave room, which other keys take. A lower rate of this key alone is no help.
func isWarm(f *detect.Finding) bool {
	mean, room := detect.SideOf(f, f.Mean.WCU, f.Mean.RCU), detect.DefaultWarning*detect.Units(f.Limit())
	return f.Subject.OfKey() && f.Throttling != nil && f.SecondsOver() == 0 && f.SaturatedSeconds == 0 && mean.High < room && f.LoadNow() < room
}

func advises(f *detect.Finding, action string) bool {
	return slices.ContainsFunc(f.Advice, func(s detect.Step) bool { return s.Action == action })
}
