package fixes

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
)

// The actions, by their effect on the units of the table or index as a whole.
var (
	saving = []string{
		detect.ActionCaller, detect.ActionTransaction, detect.ActionRead, detect.ActionQuery, detect.ActionCache,
		detect.ActionCompress, detect.ActionVertical, detect.ActionObject, detect.ActionSparse,
	}
	keeping = []string{detect.ActionShard, detect.ActionSplit, detect.ActionRename, detect.ActionCapacity, detect.ActionCopies}
)

// need returns the capacity that the table or index as a whole needs after a step; nil if
// it does not change, or is unknown.
func (c *Case) need(s *detect.Step) *detect.Need {
	if c.Share <= 0 {
		return nil
	}
	now := c.wholePeak()
	wcu, rcu := c.Facts.Capacity(c.Index)
	n := &detect.Need{Unit: detect.Side(c.Subject, "wcu", "rcu"), Now: now, Low: now, High: now, Provisioned: detect.Side(c.Subject, wcu, rcu)}
	switch {
	case c.ofGlobalIndex() && s.Effort == detect.EffortKeys || s.Action == detect.ActionProject:
		if c.reads() {
			return nil // its write units were never seen
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

// wholePeak estimates the units of the table or index as a whole at such a peak: the key's
// peak, and the mean of all other keys.
func (c *Case) wholePeak() float64 {
	if c.mean() <= 0 {
		return c.peak() / c.Share
	}
	return c.peak() + c.tableMean() - c.mean()
}
