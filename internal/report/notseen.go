package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/store"
)

// notSeen returns the unseen parts of the period.
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
		switch {
		case c.Stale:
			c.Why = "Nothing was seen of it in this period, which is not to say that it was quiet."
		case t.CloudWatch == nil:
			c.Why = "CloudWatch is not read for it: nothing tells what part of its load the samples show."
		default:
			c.Write, c.Read, c.Why = t.CloudWatch.Write, t.CloudWatch.Read, say.TableCloudWatch(t.CloudWatch)
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
	end := r.To
	if r.Made.Before(end) {
		end = r.Made
	}
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
		if what := r.problem(w, all, end); what != "" {
			n.Problems = append(n.Problems, collectorProblem{ID: w.ID, Host: w.Host, Seen: w.Seen, What: what})
		}
	}
}

// problem describes a collector's fault; empty for one that stopped properly, or that
// another on its host has replaced.
func (r *Rows) problem(w store.Writer, all []store.Writer, end time.Time) string {
	replaced := slices.ContainsFunc(all, func(o store.Writer) bool { return o.ID != w.ID && o.Host == w.Host && o.Started.After(w.Started) })
	if !w.Stopped.IsZero() || replaced {
		return ""
	}
	var parts []string
	if end.Sub(w.Seen) > store.SilentAfter {
		parts = append(parts, "it has been silent since then, and did not say that it stops")
	}
	if w.State == string(detect.CollectorFailing) {
		parts = append(parts, "it was failing: "+cmp.Or(w.Reason, "it did not say why"))
	}
	if n := len(w.RefusedTables); n > 0 {
		parts = append(parts, fmt.Sprintf("it had no room for %s (%s)", plural(n, "table", "tables"), strings.Join(w.RefusedTables[:min(n, 5)], ", ")))
	}
	if w.BadShare != nil && *w.BadShare >= badShare {
		parts = append(parts, wording.Percent(*w.BadShare)+" of what it read were bad samples")
	}
	return sentence(strings.Join(parts, "; "))
}

// badShare is the share of bad samples from which a report mentions them.
const badShare = 0.001

func orNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
