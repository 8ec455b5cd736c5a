package detect

import (
	"fmt"
	"slices"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// strain is what a table or index as a whole suffered in one second, or in an
// episode of them.
type strain struct {
	// refused counts refused requests by cause, asked all requests.
	refused [sample.Causes]int64
	asked   int64
	// scanned is the part of the load that Scans made, load all of it.
	scanned, load sketch.Load
	// cool says that no key was near a limit: what was refused because of a
	// partition is no hot key's.
	cool bool
	// over is by how much the demand was above what the table is given, 1 = all
	// of it; 0 when that is not known.
	over float64
}

func (s strain) plus(o strain) strain {
	for c := range s.refused {
		s.refused[c] += o.refused[c]
	}
	s.asked += o.asked
	s.scanned, s.load = s.scanned.Plus(o.scanned), s.load.Plus(o.load)
	s.over = max(s.over, o.over)
	return s
}

// starved is how many requests were refused for want of capacity.
func (s *strain) starved() int64 {
	return s.refused[sample.Provisioned] + s.refused[sample.MaxOnDemand] + s.refused[sample.AccountLimit]
}

// hits says whether the second is one of the kind, and whether requests were
// refused in it.
func (s *strain) hits(k Kind) (hit, refused bool) {
	if k == HotPartition {
		refused = s.cool && s.refused[sample.KeyRange] > 0
		return refused, refused
	}
	refused = s.starved() > 0
	return refused || s.over > 1, refused
}

// observeStrain follows a table or index as a whole while it suffers.
func (b *Board) observeStrain(w *sketch.Window) {
	s := b.strainOf(w)
	hot, _ := s.hits(HotPartition)
	starved, _ := s.hits(TableStarvation)
	id := trackID{w.Table, w.Index, 0}
	t := b.tracks[id]
	if t == nil {
		if !hot && !starved {
			return
		}
		t = &track{target: target{table: w.Table, index: w.Index}, past: map[Kind]*episode{}}
		b.tracks[id] = t
	}
	l := w.Total.Load
	t.put(point{
		second: w.Second, strain: &s, throttled: w.Total.Throttled, requests: w.Total.Requests, table: l,
		read: amounts{value: l.Read, low: l.Read, proven: l.Read}, write: amounts{value: l.Write, low: l.Write, proven: l.Write},
	}, b.oldest(), largest{})
}

func (b *Board) strainOf(w *sketch.Window) strain {
	s := strain{
		refused: w.Total.Refused, asked: w.Total.Requests, scanned: w.Total.Keyless, load: w.Total.Load, cool: true,
	}
	warning := b.options.Policy(w.Table, w.Index).Warning
	near := func(l sketch.Load) bool {
		return l.Write > share(PartitionWrite, warning) || l.Read > share(PartitionRead, warning)
	}
	if s.refused[sample.KeyRange] > 0 {
		for i := range w.Keys {
			s.cool = s.cool && !near(mayHave(w, &w.Keys[i]))
		}
		s.cool = s.cool && !near(w.Unseen)
	}
	wcu, rcu := b.options.Facts(w.Table).provisioned(w.Index)
	s.over = max(over(provenTotal(w.Total.Write, w.Total.WriteLargest), wcu), over(provenTotal(w.Total.Read, w.Total.ReadLargest), rcu))
	return s
}

// mayHave is the most that a key can have been asked for, as far as sampling and
// the sketch leave it open.
func mayHave(w *sketch.Window, k *sketch.KeyLoad) sketch.Load {
	return sketch.Load{
		Read:  amountsOf(k.Low.Read, k.Err.Read, k.ReadSpread).high(w.Total.ReadLargest),
		Write: amountsOf(k.Low.Write, k.Err.Write, k.WriteSpread).high(w.Total.WriteLargest),
	}
}

// provenTotal is what a table was asked for with 1 − 10⁻⁶: of n requests of w
// units each, at a rate of p, the variance of what they stand for is below their
// sum times the largest w/p.
func provenTotal(asked sample.Milli, largest float64) sample.Milli {
	return milli(estimate{units(asked), sketch.Spread{Variance: units(asked) * largest, Largest: largest}}.below(decideTail))
}

// over is a demand as a share of what is given; 0 when that is not known.
func over(asked sample.Milli, given float64) float64 {
	if given <= 0 {
		return 0
	}
	return units(asked) / given
}

// suffer takes the next second of a table as a whole.
func (e *episode) suffer(p *point, r rules, t timeline) {
	hit, refused := p.strain.hits(r.kind)
	e.settle(p.second-1, t)
	if !hit {
		return
	}
	if e.state == Resolved && !r.oneEpisode {
		*e = episode{through: p.second}
	}
	if weight(p.table) > weight(sketch.Load{Read: e.read.value, Write: e.write.value}) {
		e.at, e.consumed = p.second, p.consumed()
	}
	e.raise(p, largest{})
	e.seconds++
	for _, sum := range []*sketch.Load{&e.sum, &e.sumLow, &e.sumHigh, &e.sumTable} {
		*sum = sum.Plus(p.table)
	}
	e.strain = e.strain.plus(*p.strain)
	if !refused {
		e.warm(p.second) // burst capacity still gives it: nobody is woken
		return
	}
	e.over++
	e.heat(p.second)
}

// strained words an episode of a table as a whole.
func (e *episode) strained(t target, r rules, b *Board) Finding {
	f := e.figures(t, r)
	f.Share, f.Shards = 1, 1
	switch r.kind {
	case HotPartition:
		f.Utilization = 1 // it refused: it was full
		f.Reason, f.Why = e.whyHot(b.warmest(t, e.at))
	case TableStarvation:
		f.Utilization = max(1, e.strain.over)
		f.Reason, f.Why = Starved, e.whyStarved(b.options.Facts(t.table), t.index)
	}
	f.Evidence = e.strainEvidence()
	f.Advice = strainAdvice(&f, e)
	return f
}

// strainEvidence is what a table as a whole tells.
func (e *episode) strainEvidence() *Evidence {
	if e.strain.asked == 0 {
		return e.toldEvidence
	}
	told := evidenceOf(&sketch.Evidence{Records: e.strain.asked, Load: e.strain.load, Refused: e.strain.refused}, int(max(e.seconds, 1)), 0)
	if scanned := weight(e.strain.scanned); scanned > 0 {
		told.Operations = append(told.Operations, Operation{Op: sample.Scan.String(), Share: ratio(float64(scanned), float64(weight(e.strain.load)))})
	}
	return told
}

// whyHot says why a partition without a hot key refused, and whether it heals.
func (e *episode) whyHot(warm []string) (Reason, string) {
	refused := fmt.Sprintf("A partition refused %s requests in %s, while no key was near a limit", count(e.strain.refused[sample.KeyRange]), seconds(e.over))
	if scanned := ratio(float64(weight(e.strain.scanned)), float64(weight(e.strain.load))); scanned >= ScanShare {
		return Scanned, fmt.Sprintf("%s: %.0f %% of the load is Scans, which read one partition after another as fast as they can, and are gone before DynamoDB splits it.", refused, 100*scanned)
	}
	why := refused + ": several warm keys share it. DynamoDB can split it between them, after some minutes of sustained load."
	if len(warm) > 0 {
		why += " The warmest keys then were " + list(warm) + "."
	}
	return Splittable, why
}

// whyStarved says what a table lacks.
func (e *episode) whyStarved(facts *TableFacts, index string) string {
	s := &e.strain
	what := "table"
	if index != "" {
		what = "index"
	}
	wcu, rcu := facts.provisioned(index)
	given := ""
	if wcu > 0 || rcu > 0 {
		given = fmt.Sprintf(" It is given %.0f WCU and %.0f RCU a second, and was asked for up to %.0f %% of that.", wcu, rcu, 100*s.over)
	}
	if s.starved() == 0 {
		return fmt.Sprintf("The %s was asked for more than it is provisioned with, so far out of its burst capacity.%s", what, given)
	}
	cause := sample.Provisioned
	for _, c := range []sample.Cause{sample.MaxOnDemand, sample.AccountLimit} {
		if s.refused[c] > s.refused[cause] {
			cause = c
		}
	}
	return fmt.Sprintf("DynamoDB refused %s requests in %s with %s: the %s as a whole has too little capacity. This is no hot key.%s",
		count(s.starved()), seconds(e.over), cause, what, given)
}

// warmest are the keys of a table or index that had most in one second.
func (b *Board) warmest(of target, second int64) []string {
	type warm struct {
		key    string
		weight sample.Milli
	}
	var all []warm
	for id, t := range b.tracks {
		if id.table != of.table || id.index != of.index || t.whole() {
			continue
		}
		for i := range t.points {
			if p := &t.points[i]; p.second == second {
				all = append(all, warm{t.key.Text, weight(sketch.Load{Read: p.read.value, Write: p.write.value})})
			}
		}
	}
	slices.SortFunc(all, func(x, y warm) int {
		if x.weight != y.weight {
			return int(min(1, max(-1, y.weight-x.weight)))
		}
		if x.key < y.key {
			return -1
		}
		return 1
	})
	var keys []string
	for _, w := range all[:min(3, len(all))] {
		keys = append(keys, quoted(w.key))
	}
	return keys
}
