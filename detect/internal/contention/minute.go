package contention

import (
	"cmp"
	"maps"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// minute is the most contended item of a key in a minute.
type minute struct {
	sketch.Contended
	from, to int64
	// first and last are the first and the last second with a lost attempt, seconds counts the
	// ones with attempts, and parts are the parts of the minute with a lost attempt.
	first, last, seconds int64
	parts                [detect.OutageParts]bool
	// failing counts the seconds with failed calls.
	failing int
	// items is the number of items that lost as much as contention takes.
	items int
	// leastRate and mostRate are the sampling rates, 0 if all requests were seen.
	leastRate, mostRate float64
	// assumed reports that whole callers may have been drawn, which proves nothing.
	assumed bool
	// open are the attempts that may be the item's too, as estimated.
	open float64
}

// minute returns the item with the most lost attempts in the minute up to a second, or nil if none
// was lost.
func (k *key) minute(newest int64) *minute {
	items := map[uint64]*minute{}
	from := newest - detect.OutageSeconds + 1
	for i := range k.seconds {
		if s := &k.seconds[i]; s.at >= from && s.at <= newest {
			s.addTo(items, from)
		}
	}
	all := slices.SortedFunc(maps.Values(items), func(a, b *minute) int {
		return cmp.Or(cmp.Compare(b.Lost(), a.Lost()), cmp.Compare(a.Hash, b.Hash))
	})
	if len(all) == 0 || all[0].last == 0 {
		return nil
	}
	most := all[0]
	for _, m := range all {
		most.items += detect.BoolToInt(m.reaches(1))
	}
	most.from, most.to = from, newest
	return most
}

func (s *second) addTo(items map[uint64]*minute, from int64) {
	for i := range s.Items {
		item := &s.Items[i]
		m := items[item.Hash]
		if m == nil {
			m = &minute{Contended: sketch.Contended{Hash: item.Hash, Text: item.Text}}
			items[item.Hash] = m
		}
		m.add(item, s, from)
	}
}

func (m *minute) add(item *sketch.Contended, s *second, from int64) {
	m.Contended = m.Plus(item)
	m.seconds++
	open := float64(item.Before)
	if s.rate > 0 {
		open /= s.rate
		if m.mostRate == 0 || s.rate < m.leastRate {
			m.leastRate = s.rate
		}
		m.mostRate = max(m.mostRate, s.rate)
	}
	m.open, m.assumed = m.open+open, m.assumed || s.assumed
	m.failing += detect.BoolToInt(item.Failed > 0)
	if item.Lost() == 0 {
		return
	}
	if m.first == 0 {
		m.first = s.at
	}
	m.last = s.at
	m.parts[(s.at-from)*detect.OutageParts/detect.OutageSeconds] = true
}

// lost returns the lost attempts of the minute, and their lower bound.
func (m *minute) lost() sampling.Amounts {
	return sampling.NewAmounts(sample.Milli(m.Lost()), 0, m.LostSpread)
}

// part returns some attempts, in thousandths, as a part of all. The ones that may be the item's
// too only lower the share.
func (m *minute) part(of, all int64, open float64) sampling.Part {
	return sampling.Part{Of: float64(of) / 1000, All: float64(all)/1000 + open, Variance: m.TriedSpread.Variance}
}

// reaches reports whether a part of what contention takes is proven, and not in a burst.
func (m *minute) reaches(part float64) bool { return m.provenOf(m.Lost(), part) }

// provenOf is reaches of some of the lost attempts.
func (m *minute) provenOf(of int64, part float64) bool {
	calm := 0
	for _, lost := range m.parts {
		calm += detect.BoolToInt(!lost)
	}
	if m.Lost() == 0 || calm > 1 {
		return false
	}
	share := float64(of) / float64(m.Lost())
	return share*detect.Units(m.lost().Proven) >= part*detect.ContendedRate*detect.OutageSeconds &&
		share*m.part(m.Lost(), m.Attempts, m.open).Lower(detect.DecideTail) >= part*detect.ContendedShare
}

// stays reports whether a contention goes on.
func (m *minute) stays() bool { return m.reaches(detect.ContendedStays) }

// severity returns the severity of the minute; empty for none. Failed conditions are how optimistic
// locks, leases and idempotent writes work, so they alone are for information. Conflicts cost their
// callers time, and make a warning. It is critical if calls give up.
func (m *minute) severity() detect.Severity {
	switch {
	case !m.reaches(1):
		return ""
	case m.assumed:
		return detect.Info
	case m.failing >= detect.RefusedSeconds && m.part(m.Failed, m.Calls, 0).Lower(detect.DecideTail) >= detect.RefusedShare:
		return detect.Critical
	case m.provenOf(m.Conflicts, 1):
		return detect.Warning
	}
	return detect.Info
}

// figures returns the minute as a finding has it.
func (m *minute) figures() detect.Contention {
	const seconds = detect.OutageSeconds
	// A minute is told because its samples show much. So its bounds err more often than those of
	// any minute, and half the error keeps 95% of the told ones right.
	const tail = detect.ShowTail / 2
	attempts := sampling.NewAmounts(sample.Milli(m.Attempts), 0, m.TriedSpread)
	perSecond := func(n int64) float64 { return float64(n) / 1000 / seconds }
	c := detect.Contention{
		Item: sample.Text(m.Text), Items: max(1, m.items), Shape: detect.ShapeUnknown, From: detect.TimeOf(m.from), To: detect.TimeOf(m.to),
		Attempts:  attempts.Interval(tail).PerSecond(seconds),
		Lost:      m.lost().Interval(tail).PerSecond(seconds),
		Conflicts: perSecond(m.Conflicts), ConditionsFailed: perSecond(m.Conditions), WastedWCU: perSecond(int64(m.Units)),
		Retried: perSecond(m.Retried), Failed: perSecond(m.Failed), FailedShare: min(1, detect.Ratio(float64(m.Failed), float64(m.Calls))),
		Transactions: min(1, detect.Ratio(float64(m.Transactions), float64(m.Attempts))), Updates: min(1, detect.Ratio(float64(m.Updates), float64(m.Attempts))),
		Losers: detect.PartsOf(m.Losers, float64(m.Lost())), Writers: detect.PartsOf(m.Writers, float64(m.Attempts)),
	}
	share := m.part(m.Lost(), m.Attempts, 0)
	c.Share, c.ShareHigh = share.Share(), share.Upper(tail)
	c.ShareLow = m.part(m.Lost(), m.Attempts, m.open).Lower(tail) // open ones perhaps were for the item
	return c
}
