package detect

import (
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

// strainOf is what a second of a table or index tells of it as a whole. warning is
// the policy's share of a limit.
func strainOf(w *sketch.Window, warning float64, facts *TableFacts) strain {
	s := strain{
		refused: w.Total.Refused, asked: w.Total.Requests, scanned: w.Total.Keyless, load: w.Total.Load, cool: true,
	}
	near := func(l sketch.Load) bool {
		return l.Write > share(PartitionWrite, warning) || l.Read > share(PartitionRead, warning)
	}
	if s.refused[sample.KeyRange] > 0 {
		for i := range w.Keys {
			s.cool = s.cool && !near(mayHave(w, &w.Keys[i]))
		}
		s.cool = s.cool && !near(w.Unseen)
	}
	wcu, rcu := facts.provisioned(w.Index)
	s.over = max(over(provenTotal(w.Total.Write, w.Total.WriteLargest), wcu), over(provenTotal(w.Total.Read, w.Total.ReadLargest), rcu))
	return s
}

// over is a demand as a share of what is given; 0 when that is not known.
func over(asked sample.Milli, given float64) float64 {
	if given <= 0 {
		return 0
	}
	return units(asked) / given
}

// evidence is what a table as a whole tells of so many seconds; nil when nothing
// was asked in them.
func (s *strain) evidence(seconds int64) *Evidence {
	if s.asked == 0 {
		return nil
	}
	told := evidenceOf(&sketch.Evidence{Records: s.asked, Load: s.load, Refused: s.refused}, int(max(seconds, 1)), 0)
	if scanned := weight(s.scanned); scanned > 0 {
		told.Operations = append(told.Operations, Operation{Op: sample.Scan.String(), Share: ratio(float64(scanned), float64(weight(s.load)))})
	}
	return told
}
