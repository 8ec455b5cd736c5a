package detect

import (
	"cmp"
	"math"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// proofsKept is of how many seconds a key's evidence is kept: its hottest ones.
const proofsKept = 16

// proofShare is the share of a limit from which a second's evidence is kept: of a
// key that is far from it nothing is told.
const proofShare = 0.4

// Evidence is what the requests of a key were like in its hottest seconds, as
// far as they were gathered. Shares are of the load, 0 to 1.
type Evidence struct {
	// Seconds and Records are how many it rests on.
	Seconds int   `json:"seconds"`
	Records int64 `json:"records"`
	// Operations are ordered by their share.
	Operations []Operation `json:"operations"`
	// Refused counts refused requests by cause.
	Refused map[string]int64 `json:"refused"`
	// StrongReads is the share of the read units that were read strongly
	// consistently or in transactions.
	StrongReads float64 `json:"strong_reads"`
	// SortKeys is null when no request told a sort key.
	SortKeys *SortKeys `json:"sort_keys"`
	// Items are the hottest sort keys, Callers the busiest callers.
	Items   []Part `json:"items"`
	Callers []Part `json:"callers"`
	// ItemBytes is the mean size of an item, 0 when unknown. ChangedShare is the
	// part of the items' bytes that writes changed, Attributes the attributes
	// that they did; only whole images tell: null and empty without them.
	ItemBytes    float64  `json:"item_bytes"`
	ChangedShare *float64 `json:"changed_share"`
	Attributes   []Part   `json:"attributes"`
	// GrowthBytes is by how many bytes a second the item collection grew; null
	// without images.
	GrowthBytes *float64 `json:"growth_bytes"`
}

// Operation is one operation's share of the load. Requests are per second.
type Operation struct {
	Op       string  `json:"op"`
	Share    float64 `json:"share"`
	Requests float64 `json:"requests"`
}

// SortKeys is what is known of sort keys.
type SortKeys struct {
	// Known is the share of the requests that told one, Distinct about how many
	// there were in the hottest second.
	Known    float64 `json:"known"`
	Distinct float64 `json:"distinct"`
	// Steps are how often a write's sort key differed from the one before,
	// Rising the share of them that rose.
	Steps  int64   `json:"steps"`
	Rising float64 `json:"rising"`
}

// Part is one item's, caller's or attribute's share of the load: Low decides,
// High is the most that it can be.
type Part struct {
	Text string  `json:"text"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// proof is the evidence of one second.
type proof struct {
	second   int64
	weight   sample.Milli
	load     sketch.Load
	evidence *sketch.Evidence
}

// prove keeps a second's evidence, if it is one of the hottest. Told again, a
// second takes its own place.
func (t *track) prove(second int64, k *sketch.KeyLoad) {
	if k.Evidence == nil || weight(k.Low) < share(WritesInReads*PartitionWrite, proofShare) {
		return
	}
	p := proof{second, weight(k.Low), k.Low, k.Evidence.Cut()}
	if i := slices.IndexFunc(t.proofs, func(q proof) bool { return q.second == second }); i >= 0 {
		t.proofs[i] = p
		return
	}
	t.proofs = append(t.proofs, p)
	if len(t.proofs) > proofsKept {
		coolest := 0
		for i := range t.proofs {
			if a, b := &t.proofs[i], &t.proofs[coolest]; cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(a.second, b.second)) < 0 {
				coolest = i
			}
		}
		t.proofs = slices.Delete(t.proofs, coolest, coolest+1)
	}
}

// evidence is that of the episode's seconds, or, where none was gathered, of all
// that are kept.
func (t *track) evidence(e *episode) *Evidence {
	within := make([]proof, 0, len(t.proofs))
	for _, p := range t.proofs {
		if p.second >= e.first && p.second <= e.last {
			within = append(within, p)
		}
	}
	if len(within) == 0 {
		within = append(within, t.proofs...)
	}
	if len(within) == 0 {
		return e.toldEvidence
	}
	slices.SortFunc(within, func(a, b proof) int { return cmp.Compare(a.second, b.second) })
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
	told := evidenceOf(sum, len(within), float64(weight(load)))
	if told.SortKeys != nil {
		told.SortKeys.Distinct = math.Round(hottest.evidence.SortKeys.Estimate())
	}
	return told
}

// evidenceOf words what was gathered in some seconds of the given load.
func evidenceOf(e *sketch.Evidence, seconds int, asked float64) *Evidence {
	base := float64(weight(e.Load))
	told := &Evidence{
		Seconds: seconds, Records: e.Records, Refused: map[string]int64{},
		Operations: []Operation{},
		Items:      parts(e.Items, base, e.Records), Callers: parts(e.Callers, base, e.Records),
		Attributes: parts(e.Attributes, base, e.Records),
	}
	// What was gathered stands for all that was asked in these seconds.
	scale := 1.0
	if base > 0 {
		scale = max(1, asked/base)
	}
	for _, o := range e.Ops {
		told.Operations = append(told.Operations, Operation{
			Op: cmp.Or(o.Op.String(), "unknown"), Share: ratio(float64(weight(o.Load)), base),
			Requests: float64(o.Requests) * scale / float64(seconds),
		})
	}
	slices.SortStableFunc(told.Operations, func(a, b Operation) int { return cmp.Compare(b.Share, a.Share) })
	for c, n := range e.Refused {
		if n > 0 {
			told.Refused[sample.Cause(c).String()] = n
		}
	}
	told.StrongReads = ratio(float64(e.Strong), float64(e.Load.Read))
	if e.Sorted > 0 {
		steps := e.Rises + e.Falls
		told.SortKeys = &SortKeys{Known: ratio(float64(e.Sorted), float64(e.Records)), Steps: steps, Rising: ratio(float64(e.Rises), float64(steps))}
	}
	told.ItemBytes = ratio(float64(e.Bytes), float64(e.Sized))
	if e.Edited > 0 {
		changed := min(1, ratio(float64(e.ChangedBytes), float64(e.ItemBytes)))
		growth := float64(e.GrownBytes) * scale / float64(seconds)
		told.ChangedShare, told.GrowthBytes = &changed, &growth
	}
	return told
}

// parts are the shares of a Top, the largest first. What was gathered is itself
// a sample of what was asked, so the bounds are those of both.
func parts(t sketch.Top, base float64, records int64) []Part {
	all := []Part{}
	for _, e := range t.Entries {
		all = append(all, Part{
			Text: e.Text,
			Low:  wilson(ratio(float64(e.Weight), base), records, -1),
			High: wilson(ratio(float64(e.Weight+t.Missing), base), records, 1),
		})
	}
	slices.SortFunc(all, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Low, a.Low), cmp.Compare(a.Text, b.Text))
	})
	return all
}

// wilson is an end, -1 or 1, of E. B. Wilson's 95 % interval (1927) for a share
// that was seen in n draws.
func wilson(share float64, n int64, end float64) float64 {
	if n == 0 {
		return max(0, end)
	}
	const z = 1.96
	share = min(share, 1)
	size := float64(n)
	middle := share + z*z/(2*size)
	half := z * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	return min(1, max(0, (middle+end*half)/(1+z*z/size)))
}

// ratio is 0 where there is nothing to divide by.
func ratio(part, whole float64) float64 {
	if whole == 0 {
		return 0
	}
	return part / whole
}
