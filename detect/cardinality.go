package detect

import (
	"fmt"
	"time"
)

// fewKeyedAfter is how long keys are looked at before they are called few.
const fewKeyedAfter = time.Minute

// Look takes what a table's or index's keys look like as a whole; Findings then
// says when there are too few of them. nil is no longer known.
func (b *Board) Look(table, index string, v *View) {
	id := tableID{table, index}
	if v == nil {
		delete(b.views, id)
		return
	}
	b.views[id] = v
}

// fewKeyed are the findings about tables with few keys.
func (b *Board) fewKeyed() (all []Finding) {
	for id, v := range b.views {
		if f, few := v.fewKeyed(id, b.options.Policy(id.table, id.index)); few {
			all = append(all, f)
		}
	}
	return all
}

// fewKeyed says whether the number of key values bounds the table: a list of
// values that does not grow with the traffic.
func (v *View) fewKeyed(id tableID, p Policy) (Finding, bool) {
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
	return Finding{
		Fingerprint: fingerprint(LowCardinalityKey, id.table, id.index, "", ""), Kind: LowCardinalityKey,
		Table: id.table, Index: id.index, Severity: p.cap(severity), State: Pending,
		Peak: Peak{Loads: load, At: h.At}, Mean: load, Consumed: Consumed{WCU: h.WCU, RCU: h.RCU},
		Utilization: h.Utilization, Share: 1, Reason: Undetermined, Seen: SeenRequests,
		Shards: max(Shards(milli(h.WCU), PartitionWrite, p.Headroom), Shards(milli(h.RCU), PartitionRead, p.Headroom)),
		Why:    v.Design.Why, Advice: v.wider(id), FirstSeen: v.From, LastSeen: seen,
		Seconds: int64(v.To.Sub(v.From).Seconds()), Through: seen, Gaps: []Gap{},
	}, true
}

// wider is how to give a key more values.
func (v *View) wider(id tableID) []Step {
	capacity := Step{ActionCapacity, "Raising the table's capacity will not help: the number of key values bounds it, at 1,000 write and 3,000 read units a second each."}
	if id.index != "" {
		return []Step{capacity, {ActionIndex, fmt.Sprintf("Put a shard's number behind the value in the key of the index %s, such as %s#0 to %s#9, or leave items out of the index that no query wants: while one of its values is full, DynamoDB refuses writes to the table itself.", id.index, v.Hottest.Key, v.Hottest.Key)}}
	}
	return []Step{capacity, {ActionRename, "Make the key of something that there are many of, with the present value behind it: tenant#entity, customer#product#country or device#date, as the queries allow. Ask `reporter analyze --candidate` how a key would do."}}
}
