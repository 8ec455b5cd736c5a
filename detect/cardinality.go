package detect

import (
	"fmt"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// fewKeyedAfter is how long keys are looked at before they are called few.
const fewKeyedAfter = time.Minute

// fewKeyed says whether the number of key values bounds the table: a list of
// values that does not grow with the traffic.
func fewKeyed(v *View, t Target, p Policy) (Finding, bool) {
	switch v.Design.Verdict {
	case DesignVeryPoor, DesignCatastrophic:
	default:
		return Finding{}, false
	}
	if v.To.Sub(v.From) < fewKeyedAfter {
		return Finding{}, false // what was seen may be the first of many
	}
	h := v.Hottest
	severity := Info
	if h.Utilization > p.Warning {
		severity = Warning
	}
	load := Loads{WCU: Figure{h.WCU, h.WCU, h.WCU}, RCU: Figure{h.RCU, h.RCU, h.RCU}}
	seen := v.To.Add(-time.Second)
	f := newFinding(LowCardinalityKey, t, sample.Key{})
	f.Severity = p.cap(severity)
	f.Peak, f.Mean, f.Consumed = Peak{Loads: load, At: h.At}, load, Consumed{WCU: h.WCU, RCU: h.RCU}
	f.Utilization, f.Share, f.Reason, f.Why = h.Utilization, 1, Undetermined, v.Design.Why
	f.Shards = max(Shards(milli(h.WCU), PartitionWrite, p.Headroom), Shards(milli(h.RCU), PartitionRead, p.Headroom))
	f.Advice = wider(v, t.Index)
	f.FirstSeen, f.LastSeen, f.Through, f.Seconds = v.From, seen, seen, int64(v.To.Sub(v.From).Seconds())
	return f, true
}

// wider is how to give a key more values.
func wider(v *View, index string) []Step {
	capacity := Step{ActionCapacity, "Raising the table's capacity will not help: the number of key values bounds it, at 1,000 write and 3,000 read units a second each."}
	if index != "" {
		return []Step{capacity, {ActionIndex, fmt.Sprintf("Put a shard's number behind the value in the key of the index %s, such as %s#0 to %s#9, or leave items out of the index that no query wants: while one of its values is full, DynamoDB refuses writes to the table itself.", index, v.Hottest.Key, v.Hottest.Key)}}
	}
	return []Step{capacity, {ActionRename, "Make the key of something that there are many of, with the present value behind it: tenant#entity, customer#product#country or device#date, as the queries allow. Ask `reporter analyze --candidate` how a key would do."}}
}
