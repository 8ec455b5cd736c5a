package detect

import "slices"

// Replication is what a global table's other Regions have to do with a finding about
// writes. Every write is replicated, and loads the same key in each Region.
type Replication struct {
	// Regions are those of all replicas, in order, the finding's own among them.
	Regions []string `json:"regions"`
	// WCU is the part of the peak's write units a second that other Regions wrote, as
	// far as their requests were seen; 0 also where a stream's own records have it.
	WCU float64 `json:"wcu"`
}

// Regions returns those of a global table that has a replica in this one, in order;
// nil of any other table, and where nothing tells.
func (f *TableFacts) Regions(own string) []string {
	if f == nil || own == "" || len(f.Replicas) == 0 {
		return nil
	}
	all := append(slices.Clone(f.Replicas), own)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) < 2 {
		return nil
	}
	return all
}

// OwnShare returns the part of the peak that the finding's own Region asked for: 1 but
// for writes that were replicated to it.
func (f *Finding) OwnShare() float64 {
	if f.Replication == nil || f.Peak.WCU.Value <= 0 {
		return 1
	}
	return max(0, 1-f.Replication.WCU/f.Peak.WCU.Value)
}

// incidentTarget is what the finding's incident is about. Writes load all Regions of a
// global table alike: the first Region stands for all.
func (f *Finding) incidentTarget() Target {
	t := f.Target
	if f.Replication != nil && len(f.Replication.Regions) > 0 {
		t.Region = f.Replication.Regions[0]
	}
	return t
}
