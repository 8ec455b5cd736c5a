package episode

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/throttling"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// secondsKept is the number of a key's hottest seconds that are kept, a bound of its
// memory.
const secondsKept = 16

// distinctError is the error of an estimate of distinct sort keys: two of its standard
// deviations.
const distinctError = 0.13

// hottestSecond is the evidence of one second.
type hottestSecond struct {
	second   int64
	weight   sample.Milli
	load     sketch.Load
	evidence *sketch.Evidence
}

// hottestSeconds is the evidence of a key's hottest seconds. The zero value is ready.
type hottestSeconds []hottestSecond

// add keeps the evidence of one of the hottest seconds, replacing that second's earlier
// evidence.
func (s *hottestSeconds) add(second int64, k *sketch.KeyLoad) {
	if k.Evidence == nil || detect.Weight(k.Low) < detect.ShareOf(detect.WritesInReads*detect.PartitionWrite, detect.EvidenceShare) {
		return
	}
	shown := *k.Evidence.Cut()
	shown.Places = nil // detect/internal/split keeps them
	p, all := hottestSecond{second, detect.Weight(k.Low), k.Low, &shown}, *s
	if i := slices.IndexFunc(all, func(q hottestSecond) bool { return q.second == second }); i >= 0 {
		all[i] = p
		return
	}
	all = append(all, p)
	if len(all) > secondsKept {
		coolest := 0
		for i := range all {
			if a, b := &all[i], &all[coolest]; cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(a.second, b.second)) < 0 {
				coolest = i
			}
		}
		all = slices.Delete(all, coolest, coolest+1)
	}
	*s = all
}

// summarise returns the evidence of the seconds from first to last. If none of them is
// kept, it uses all kept seconds; nil if there are none.
func (s hottestSeconds) summarise(first, last int64) *detect.Evidence {
	within := make([]hottestSecond, 0, len(s))
	for _, p := range s {
		if p.second >= first && p.second <= last {
			within = append(within, p)
		}
	}
	if len(within) == 0 {
		within = append(within, s...)
	}
	if len(within) == 0 {
		return nil
	}
	slices.SortFunc(within, func(a, b hottestSecond) int { return cmp.Compare(a.second, b.second) })
	var sum *sketch.Evidence
	var load sketch.Load
	hottest := &within[0]
	for i := range within {
		sum = sum.Plus(within[i].evidence)
		load = load.Plus(within[i].load)
		if within[i].weight > hottest.weight {
			hottest = &within[i]
		}
	}
	summary := summariseEvidence(sum, len(within), float64(detect.Weight(load)))
	if summary.SortKeys != nil {
		// A small set is estimated too high at times, and each of its keys was seen.
		distinct := min(hottest.evidence.SortKeys.Estimate(), float64(hottest.evidence.Sorted))
		summary.SortKeys.Distinct = math.Round(distinct / (1 + distinctError))
		summary.SortKeys.Repeated = max(0, 1-distinct*(1+distinctError)/float64(max(1, hottest.evidence.Sorted)))
	}
	return summary
}

// summariseEvidence returns the evidence of some seconds as a finding shows it. weight is
// the load of these seconds. The evidence covers a part of it.
func summariseEvidence(e *sketch.Evidence, seconds int, weight float64) *detect.Evidence {
	// Items cover all requests; callers and attributes cover a sample.
	base := float64(detect.Weight(e.Load))
	var looked sketch.Load
	for _, o := range e.Ops {
		looked = looked.Plus(o.Load)
	}
	sampled := float64(detect.Weight(looked))
	summary := &detect.Evidence{
		Seconds: seconds, Records: e.Records, Refused: map[string]int64{},
		Operations: []detect.Operation{},
		Items:      listParts(e.Items, base, e.Records), Callers: listParts(e.Callers, sampled, e.Records),
		Attributes: listParts(e.Attributes, sampled, e.Records),
	}
	// The evidence stands for the whole load of these seconds.
	scale := 1.0
	if base > 0 {
		scale = max(1, weight/base)
	}
	for _, o := range e.Ops {
		summary.Operations = append(summary.Operations, detect.Operation{
			Op: cmp.Or(o.Op.String(), "unknown"), Share: detect.Ratio(float64(detect.Weight(o.Load)), sampled),
			Requests: float64(o.Requests) * scale / float64(seconds), Units: detect.Ratio(detect.Units(max(o.Write, o.Read)), float64(o.Requests)),
		})
	}
	slices.SortStableFunc(summary.Operations, func(a, b detect.Operation) int { return cmp.Compare(b.Share, a.Share) })
	for c, n := range e.Refused {
		if n > 0 {
			summary.Refused[sample.ThrottleReason(c).String()] = n
		}
	}
	summary.StrongReads = detect.Ratio(float64(e.Strong), float64(looked.Read))
	if e.Sorted > 0 {
		steps := e.Rises + e.Falls
		summary.SortKeys = &detect.SortKeys{Known: detect.Ratio(float64(e.Sorted), float64(e.Seen)), Steps: steps, Rising: detect.Ratio(float64(e.Rises), float64(steps))}
	}
	summary.ItemBytes = cmp.Or(detect.Ratio(float64(e.Bytes), float64(e.Sized)), sizeByUnits(e.Ops))
	if e.Edited > 0 {
		changed := min(1, detect.Ratio(float64(e.ChangedBytes), float64(e.ItemBytes)))
		growth := float64(e.GrownBytes) * scale / float64(seconds)
		summary.ChangedShare, summary.GrowthBytes = &changed, &growth
	}
	return summary
}

// sizeByUnits returns the mean size of large values by the write units of requests for one item; 0
// if these are too few to tell it, or are the sum of several requests.
func sizeByUnits(ops []sketch.OpLoad) float64 {
	units, requests := 0.0, int64(0)
	for _, o := range ops {
		if o.Op.IsWrite() && !o.Op.TakesMany() {
			units, requests = units+detect.Units(o.Write), requests+o.Requests
		}
	}
	if bytes := detect.Ratio(units, float64(requests)) * sample.WriteUnitBytes; detect.LargeValueBytes <= bytes && bytes <= sample.MaxItemBytes {
		return bytes
	}
	return 0
}

// listParts returns the shares of a Top, the largest first. The evidence is itself a
// sample of the requests, so the bounds allow for both samplings.
func listParts(t sketch.Top, base float64, records int64) []detect.Part {
	all := []detect.Part{}
	for _, e := range t.Entries {
		all = append(all, detect.Part{
			Text: sample.Text(e.Text),
			Low:  sampling.Wilson(detect.Ratio(float64(e.Weight), base), records, -1),
			High: sampling.Wilson(detect.Ratio(float64(e.Weight+t.Missing), base), records, 1),
		})
	}
	slices.SortFunc(all, func(a, b detect.Part) int {
		return cmp.Or(cmp.Compare(b.Low, a.Low), cmp.Compare(a.Text, b.Text))
	})
	return all
}

// summarisePressure returns the requests of a table's throttled seconds as a finding
// shows them; nil when there were none.
func summarisePressure(p *throttling.Pressure, seconds int64) *detect.Evidence {
	if p.Requests == 0 {
		return nil
	}
	summary := summariseEvidence(&sketch.Evidence{Records: p.Requests, Load: p.Load, Refused: p.Refused}, int(max(seconds, 1)), 0)
	if scanned := detect.Weight(p.Scanned); scanned > 0 {
		summary.Operations = append(summary.Operations, detect.Operation{Op: sample.Scan.String(), Share: detect.Ratio(float64(scanned), float64(detect.Weight(p.Load)))})
	}
	if p.TakenByScans() {
		summary.Callers = listParts(p.Scanners, float64(detect.Weight(sketch.Load{Read: p.Load.Read})), p.Requests)
	}
	return summary
}

// bytes returns about how much memory the evidence takes.
func (s hottestSeconds) bytes() (n int64) {
	n = int64(cap(s)) * int64(unsafe.Sizeof(hottestSecond{}))
	for i := range s {
		e := s[i].evidence
		n += int64(unsafe.Sizeof(*e)) + int64(cap(e.Ops))*int64(unsafe.Sizeof(sketch.OpLoad{}))
		for _, top := range []sketch.Top{e.Items, e.Callers, e.Attributes} {
			for _, entry := range top.Entries {
				n += int64(unsafe.Sizeof(entry)) + int64(len(entry.Text))
			}
		}
	}
	return n
}
