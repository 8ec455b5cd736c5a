package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/store"
)

func (r *Rows) notSeen(tables []table) NotSeen {
	n := NotSeen{Problems: []collectorProblem{}, Gaps: []Gap{}, Coverage: []Coverage{}, Cut: append([]string{}, r.Cut...)}
	r.addCollectors(&n)
	for _, g := range r.Gaps {
		// Missing records were sent before anybody missed them: a gap of unknown time,
		// noticed before the period, does not belong to it.
		if g.Until.IsZero() && g.Noticed.Before(r.From) {
			continue
		}
		n.Gaps = append(n.Gaps, gapOf(g))
	}
	for _, t := range tables {
		c := Coverage{Target: t.Target, Updated: t.updated, Stale: t.updated.Before(r.From)}
		if !c.Stale && t.CloudWatch != nil {
			c.Write, c.Read, c.CloudWatch = t.CloudWatch.Write, t.CloudWatch.Read, t.CloudWatch
		}
		n.Coverage = append(n.Coverage, c)
	}
	slices.SortStableFunc(n.Coverage, func(a, b Coverage) int { return cmp.Compare(seenShare(a), seenShare(b)) })
	return n
}

func gapOf(g store.Gap) Gap {
	return Gap{
		Source: g.Source, Partition: g.Partition, Reason: g.Reason,
		Since: orNil(g.Since), Until: orNil(g.Until), Noticed: g.Noticed,
	}
}

// seenShare orders the least known first.
func seenShare(c Coverage) float64 {
	switch {
	case c.Stale:
		return -2
	case c.Write == nil && c.Read == nil:
		return -1
	case c.Write == nil:
		return c.Read.Value
	case c.Read == nil:
		return c.Write.Value
	}
	return min(c.Write.Value, c.Read.Value)
}

// addCollectors adds the collectors' last reports. The store keeps no earlier ones, so
// that a pause within a past period does not show.
func (r *Rows) addCollectors(n *NotSeen) {
	end := earlier(r.To, r.Made)
	var all []store.Writer
	for _, w := range r.Writers {
		if w.Started.Before(r.To) && !w.Seen.Before(r.From) {
			all = append(all, w)
		}
	}
	// Before the retention of collectors nobody knows how many there were.
	if len(all) > 0 || r.Made.Sub(r.From) <= store.DefaultRetention().Writers {
		n.Collectors = new(len(all))
	}
	if since, silent := store.SilentSince(all, end); silent {
		n.Stopped = &since
	}
	for _, w := range all {
		replaced := slices.ContainsFunc(all, func(o store.Writer) bool { return o.ID != w.ID && o.Host == w.Host && o.Started.After(w.Started) })
		p := collectorProblem{ID: w.ID, Host: w.Host, Seen: w.Seen, Status: &w.WriterStatus}
		if w.Stopped.IsZero() && !replaced && p.fault(end).String() != "" {
			n.Problems = append(n.Problems, p)
		}
	}
}

// badShare is the share of bad samples from which a report mentions them.
const badShare = 0.001

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func orNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func (p *Report) renderNotSeen() NotSeen {
	n := p.NotSeen
	n.Problems, n.Coverage = append([]collectorProblem{}, n.Problems...), append([]Coverage{}, n.Coverage...)
	for i := range n.Problems {
		if c := &n.Problems[i]; c.Status != nil {
			c.What, c.Status = c.fault(earlier(p.To, p.Made)).String(), nil
		}
	}
	for i := range n.Coverage {
		c := &n.Coverage[i]
		c.Why, c.CloudWatch = cmp.Or(c.Why, p.explain(c)), nil
	}
	return n
}

func (p *Report) explain(c *Coverage) string {
	switch {
	case p.Files != nil:
		return say.FileCoverage
	case c.Stale:
		return say.StaleCoverage
	}
	return say.ExplainCoverage(c.CloudWatch)
}

// fault returns a collector's fault at the end of the period.
func (c *collectorProblem) fault(end time.Time) say.CollectorFault {
	f := say.CollectorFault{
		Silent: end.Sub(c.Seen) > store.SilentAfter, Failing: c.Status.State == string(detect.CollectorFailing),
		Reason: c.Status.Reason, Refused: c.Status.RefusedTables,
	}
	if share := c.Status.BadShare; share != nil && *share >= badShare {
		f.Bad = *share
	}
	return f
}
