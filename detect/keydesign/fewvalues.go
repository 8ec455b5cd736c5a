package keydesign

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/sample"
)

// FewValues returns the finding about a table or index that the number of its key values
// bounds: a list of values that does not grow with the traffic. It reports whether there
// is one.
func FewValues(v *detect.View, t detect.Target, p detect.Policy) (detect.Finding, bool) {
	switch v.Design.Verdict {
	case detect.DesignVeryPoor, detect.DesignCatastrophic:
	default:
		if t.Index != "" || !isBoundNow(v) {
			return detect.Finding{}, false
		}
	}
	if v.To.Sub(v.From) < detect.FewValuesSeconds*time.Second {
		return detect.Finding{}, false // these may be the first of many values
	}
	h := v.Hottest
	if h.Utilization < detect.TrackShare {
		return detect.Finding{}, false // too little load to matter
	}
	severity := detect.Info
	if h.Utilization > p.Warning {
		severity = detect.Warning
	}
	mean, share := hottestLoads(v)
	load := detect.Loads{WCU: leastFigure(h.WCU, mean.WCU), RCU: leastFigure(h.RCU, mean.RCU)}
	seen := v.To.Add(-time.Second)
	f := casebook.NewFinding(casebook.FewValues, t, sample.Key{})
	f.Severity = p.Cap(severity)
	f.Peak, f.Consumed = detect.Peak{Loads: load, At: h.At}, detect.Consumed{WCU: load.WCU.Value, RCU: load.RCU.Value}
	f.Mean, f.Share = mean, share
	f.Utilization = max(load.WCU.Value/detect.Units(detect.PartitionWrite), load.RCU.Value/detect.Units(detect.PartitionRead))
	f.Members = &detect.Members{Count: v.DistinctKeys, Keys: []sample.Text{h.Key}}
	if h.Utilization <= 1 {
		f.OverSeconds = new(int)
	}
	f.Shards = max(detect.Shards(detect.Milli(load.WCU.Value), detect.PartitionWrite, p.Headroom), detect.Shards(detect.Milli(load.RCU.Value), detect.PartitionRead, p.Headroom))
	f.Advice = []detect.Step{detect.NewStep(detect.FixMoreValues)}
	if t.Index != "" { // key shards are for queries that know no other attribute
		f.Advice = append(f.Advice, stepForIndexShards(load, max(2, f.Shards)))
	}
	f.FirstSeen, f.LastSeen, f.Through, f.Seconds = v.From, seen, seen, int64(v.To.Sub(v.From).Seconds())
	return f, true
}

// CacheReads advises a cache for few values that are read hot, each one item: reads of an item
// need no other key. facts are nil if unknown.
func CacheReads(f *detect.Finding, facts *detect.TableFacts) {
	if f.Index == "" && f.InReads() && facts != nil && facts.SortKey != nil && len(facts.SortKey) == 0 {
		f.Advice = []detect.Step{detect.NewStep(detect.FixCache)}
	}
}

// leastFigure returns the load of the hottest second. Samples may prove less of it than the mean
// has, which is then the likely load of each second.
func leastFigure(proven float64, mean detect.Figure) detect.Figure {
	return detect.Figure{Value: max(proven, mean.Value), Low: proven, High: max(proven, mean.Value)}
}

// hottestLoads returns the mean load of the value with the hottest second, and its share
// of all load; zero if v.Top lacks the value.
func hottestLoads(v *detect.View) (mean detect.Loads, share float64) {
	seconds := v.To.Sub(v.From).Seconds()
	for _, k := range v.Top {
		if k.Key == v.Hottest.Key && k.KeyType == v.Hottest.KeyType {
			return detect.Loads{WCU: detect.ExactFigure(k.WCU / seconds), RCU: detect.ExactFigure(k.RCU / seconds)}, k.Share.Value
		}
	}
	return mean, 0
}

// isBoundNow reports whether a table has so few ids that one of them exceeds a limit.
// Until there are more ids, they are as bad as a list of values. An index is not judged
// so: its keys may be few, and its hot key needs key shards.
func isBoundNow(v *detect.View) bool {
	return v.Design.Verdict == detect.DesignPoor && v.DistinctKeys.Value <= veryFewKeys && v.Hottest.Utilization > 1 &&
		!isTime(string(v.Template.Pattern))
}

func stepForIndexShards(hottest detect.Loads, shards int) detect.Step {
	step := detect.NewStep(detect.FixIndexShards)
	step.Arguments.Count = shards
	each := hottest.WCU.Value / float64(shards)
	step.After = detect.NewAfter(detect.KeyWrites, each, each)
	if hottest.RCU.Value/detect.Units(detect.PartitionRead) > hottest.WCU.Value/detect.Units(detect.PartitionWrite) {
		// A query that does not know the shard asks each of them.
		step.After = detect.NewAfter(detect.KeyReads, hottest.RCU.Value/float64(shards), hottest.RCU.Value)
	}
	return step
}

// AddSplits adds to the advice on few values that DynamoDB may split the items of the hot
// values. It does so only if the findings of all values that are still hot advise to wait
// for that. The step stands behind the others, since splits add no values. Its load is the
// fullest part of the table: a part of a split value, or another value of the view.
func AddSplits(f *detect.Finding, values []*detect.Finding, v *detect.View) {
	var waits *detect.Step
	var highest *detect.Finding
	split := map[sample.Key]bool{}
	for _, value := range values {
		if value.State == detect.Resolved || detect.Rank(value.Severity) < detect.Rank(detect.Warning) {
			continue
		}
		at := slices.IndexFunc(value.Advice, func(s detect.Step) bool { return s.Action == detect.ActionWait && s.Effort == detect.EffortNone })
		if at < 0 {
			return
		}
		split[value.PartitionKey()] = true
		if s := &value.Advice[at]; waits == nil || s.After != nil && (waits.After == nil || s.After.High > waits.After.High) {
			waits, highest = s, value
		}
	}
	if waits == nil || len(f.Advice) == 0 {
		return
	}
	step := detect.NewStep(detect.FixSplitMeanwhile)
	step.After = fullestPart(waits.After, highest.Subject, v, split)
	f.Advice = append(f.Advice, step)
}

// fullestPart returns the load on the fullest part of a table or index after some values
// are split. It is a part of a split value, or another value with a higher mean load.
func fullestPart(parts *detect.After, k detect.Subject, v *detect.View, split map[sample.Key]bool) *detect.After {
	if parts == nil || v == nil {
		return parts
	}
	most, seconds := 0.0, v.To.Sub(v.From).Seconds()
	for _, t := range v.Top {
		if !split[sample.Key{Text: string(t.Key), Type: t.KeyType}] {
			most = max(most, detect.Side(k, t.WCU, t.RCU)/seconds)
		}
	}
	return detect.NewAfter(k, max(parts.Low, most), max(parts.High, most))
}
