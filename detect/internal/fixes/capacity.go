package fixes

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// The actions by what they do to the units that the table or index as a whole takes.
var (
	saving = []string{
		detect.ActionCaller, detect.ActionTransaction, detect.ActionRead, detect.ActionQuery, detect.ActionCache,
		detect.ActionCompress, detect.ActionVertical, detect.ActionObject, detect.ActionSparse,
	}
	keeping = []string{detect.ActionShard, detect.ActionSplit, detect.ActionRename, detect.ActionCapacity, detect.ActionCopies}
)

// need returns what the table or index as a whole needs after a step; nil if nothing
// changes or nothing tells.
func (c *Case) need(s *detect.Step) *detect.Need {
	if c.Share <= 0 {
		return nil
	}
	now := c.whole()
	n := &detect.Need{Unit: detect.Side(c.Kind, "wcu", "rcu"), Now: now, Low: now, High: now, Provisioned: c.provisioned()}
	switch {
	case c.ofGlobalIndex() && s.Effort == detect.EffortKeys || s.Action == detect.ActionProject:
		if c.reads() {
			return nil // it needs write units, which nobody saw
		}
		n.NewIndex, n.Provisioned = true, 0
		if s.Action == detect.ActionProject {
			n.Low += s.After.Low - c.peak()
		}
	case slices.Contains(saving, s.Action) && s.After != nil && s.After.Low < c.peak():
		n.Low, n.High = now-c.peak()+s.After.Low, now-c.peak()+s.After.High
	case !slices.Contains(keeping, s.Action) || s.Effort == detect.EffortNone:
		return nil
	}
	return n
}

// whole returns about what the table or index as a whole takes at such a peak: what the
// others have on average beside it. It is no sum that was counted.
func (c *Case) whole() float64 {
	if c.mean() <= 0 {
		return c.peak() / c.Share
	}
	return c.peak() + c.tableMean() - c.mean()
}

// provisioned returns the units of what the case is about that are provisioned; 0 where
// that is not known, and on demand.
func (c *Case) provisioned() float64 {
	wcu, rcu := c.Facts.Capacity(c.Index)
	return detect.Side(c.Kind, wcu, rcu)
}
