package detect

import (
	"fmt"
	"math"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// finding words an episode.
func (e *episode) finding(t target, r rules) Finding {
	peak := figureOf(r.kind, e)
	f := Finding{
		Fingerprint: t.fingerprint(r.kind), Kind: r.kind,
		Table: t.table, Index: t.index, Key: t.key.Text, KeyType: t.key.Type,
		Severity: e.severity(), State: e.state,
		Peak:        Peak{Loads: Loads{WCU: e.write.units(1), RCU: e.read.units(1)}, At: at(e.at)},
		Mean:        e.meanLoads(),
		Consumed:    Consumed{WCU: units(e.consumed.Write), RCU: units(e.consumed.Read)},
		OverSeconds: e.over, PossibleSeconds: e.possible, SaturatedSeconds: e.saturated,
		Utilization: max(units(e.write.value)/units(PartitionWrite), units(e.read.value)/units(PartitionRead)),
		Shards:      Shards(peak.value, limit(r.kind), r.Headroom),
		FirstSeen:   at(e.first), LastSeen: at(e.last),
		Seconds: e.seconds, Through: at(e.through),
		Gaps: []Gap{},
	}
	if all := amount(r.kind, e.sumTable); all > 0 {
		f.Share = min(1, float64(amount(r.kind, e.sum))/float64(all))
	}
	var name Step
	f.Reason, name = reason(f)
	f.Advice = advice(f, peak, r, name)
	return f
}

// reason says why the table will not heal itself, and what that means.
func reason(f Finding) (Reason, Step) {
	period, template, ok := rolling(f.Key, f.Peak.At)
	if !ok {
		return Undetermined, Step{}
	}
	return RollingKey, Step{"rename", fmt.Sprintf("The key is named after its %s: the next %s's key will be as hot, and DynamoDB splits a partition only after minutes of heat. Put something beside the time into the key, such as %s#<customer>, or shards (below) into each %s's name.",
		period, period, template, period)}
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

// advice says what to do, the step that costs least first. name is what the
// key's name says, if anything.
func advice(f Finding, peak figure, r rules, name Step) []Step {
	steps := []Step{capacity(f, r.kind)}
	if name.Action != "" {
		steps = append(steps, name)
	}
	if r.kind == HotGSIKey {
		steps = append(steps, Step{"index", "The key is one of an index: while its partition is full, DynamoDB refuses writes to the table itself, whatever their own keys. Leave items out of the index that no query wants (a sparse index), or put the shard into the index key alone: the table's keys need not change."})
	}
	if r.kind == HotKeyRead {
		steps = append(steps, Step{"cache", "If the reads are of few items, cache them (DAX, or in the application) or read them eventually consistently at half the price: shards help a read-hot item collection, not a read-hot item."})
	}
	if f.Severity == "" {
		return steps
	}
	return append(steps, shard(f, peak, r))
}

// capacity says that the table's own capacity is not the bound.
func capacity(f Finding, k Kind) Step {
	text := fmt.Sprintf("Raising the table's capacity will not help: one partition key is held to %s a second whatever the table is provisioned for.", perSecond(limit(k), k))
	if f.Share >= tellShare {
		text += fmt.Sprintf(" With %.0f %% of the load on this key the table as a whole can take %s a second.",
			100*f.Share, perSecond(sample.Milli(float64(limit(k))/f.Share), k))
	}
	return Step{"capacity", text}
}

// shard words the shard count with its arithmetic.
func shard(f Finding, peak figure, r rules) Step {
	if f.Shards == 1 {
		return Step{"shard", fmt.Sprintf("One shard still carries it: ceil(%s / %s × %g) = 1. Watch its growth.",
			amountOf(peak.value), amountOf(limit(r.kind)), r.Headroom)}
	}
	return Step{"shard", fmt.Sprintf("Spread the key over %d shards: ceil(%s / %s × %g) = %d, about %s a second each. Reading the whole key then takes %d queries.",
		f.Shards, amountOf(peak.value), amountOf(limit(r.kind)), r.Headroom, f.Shards,
		perSecond(peak.value/sample.Milli(f.Shards), r.kind), f.Shards)}
}

func perSecond(m sample.Milli, k Kind) string {
	if k == HotKeyRead {
		return amountOf(m) + " read units"
	}
	return amountOf(m) + " write units"
}

// amountOf writes whole units with thousands apart: 12,345.
func amountOf(m sample.Milli) string {
	n := int64(math.Round(units(m)))
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return amountOf(sample.Milli(n/1000*1000)) + fmt.Sprintf(",%03d", n%1000)
}
