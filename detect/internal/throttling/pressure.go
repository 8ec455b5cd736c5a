package throttling

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Pressure is the demand on a table or index as a whole, and the part that DynamoDB
// throttled, in one second or in all seconds of an episode.
type Pressure struct {
	// Refused counts throttled requests by throttle reason, Requests all requests.
	Refused  [sample.ThrottleReasons]int64
	Requests int64
	// Unexplained counts the requests throttled without a reason that no hot key explains.
	Unexplained int64
	// Scanned is the part of Load that Scans made.
	Scanned, Load sketch.Load
	// Scanners are the weights of the callers of Scans.
	Scanners sketch.Top
	// Throttled is the throttled part of Load, and coolServed the served load of keys that
	// are not warm.
	Throttled, coolServed sketch.Load
	// noHotKey is set if no hot key explains that a partition throttled. RefusesHotKey is set
	// if a key that may be near a limit was itself refused, and Guessed if only too few samples
	// leave that possible. Sampled is set if requests were sampled.
	noHotKey, RefusesHotKey, Guessed, Sampled bool
	// Partition is a partition that was full though no key of it was near a limit; nil
	// if none is known.
	Partition *detect.PartitionLoad
	// Demand is the demand as a share of the provisioned capacity; 0 if the capacity is
	// unknown.
	Demand float64
}

// Plus adds the pressure of other seconds. It keeps the higher Demand.
func (s Pressure) Plus(o Pressure) Pressure {
	for c := range s.Refused {
		s.Refused[c] += o.Refused[c]
	}
	s.Requests, s.Unexplained = s.Requests+o.Requests, s.Unexplained+o.Unexplained
	s.Scanned, s.Load, s.Scanners = s.Scanned.Plus(o.Scanned), s.Load.Plus(o.Load), s.Scanners.Plus(o.Scanners)
	s.Throttled, s.coolServed = s.Throttled.Plus(o.Throttled), s.coolServed.Plus(o.coolServed)
	s.Demand = max(s.Demand, o.Demand)
	if o.Partition != nil && (s.Partition == nil || isFuller(o.Partition, s.Partition)) {
		s.Partition = o.Partition
	}
	return s
}

// RefusedFor returns the number of refused requests that findings about a subject count.
func (s *Pressure) RefusedFor(k detect.Subject) int64 {
	if k == detect.SubjectTable {
		return s.StarvedRequests() + s.Unexplained
	}
	n := s.Refused[sample.OfIndex]
	if s.noHotKey || s.Partition != nil {
		n += s.Refused[sample.KeyRange]
	}
	return n
}

// ExplainedByHotKey returns the second as if a hot key explained that partitions throttled:
// one was refused just before, and samples do not show that in each second.
func (s *Pressure) ExplainedByHotKey() *Pressure {
	explained := *s
	explained.noHotKey = false
	return &explained
}

// StarvedRequests returns the number of requests throttled for lack of capacity.
func (s *Pressure) StarvedRequests() int64 {
	return s.Refused[sample.Provisioned] + s.Refused[sample.MaxOnDemand] + s.Refused[sample.AccountLimit] + s.Refused[sample.OfIndexCapacity]
}

// Hits reports whether the second counts for findings about a subject, and whether requests were
// throttled in it.
func (s *Pressure) Hits(k detect.Subject) (hit, throttled bool) {
	if k == detect.SubjectPartition {
		throttled = s.noHotKey && s.Refused[sample.KeyRange] > 0 || s.Refused[sample.OfIndex] > 0 ||
			s.Partition != nil && (refuses(s.Partition) || s.Partition.WCU.Low > detect.Units(detect.PartitionWrite))
		return throttled || s.Partition != nil, throttled
	}
	throttled = s.StarvedRequests()+s.Unexplained > 0
	return throttled || s.Demand > 1, throttled
}

// ExcludeExplained returns the second without the refusals that another finding explains: for a
// full partition the ones by a key range that holds a hot key, and for a starved table the
// ones without a reason.
func (s *Pressure) ExcludeExplained(k detect.Subject) Pressure {
	rest := *s
	if k == detect.SubjectPartition && !s.noHotKey {
		rest.Refused[sample.KeyRange] = 0
	}
	if k == detect.SubjectTable && s.Unexplained == 0 {
		rest.Refused[sample.ThrottleUnknown] = 0
	}
	return rest
}

// TakenByScans reports whether Scans make a large part of the reads while reads are what
// is throttled, or what exceeds the capacity.
func (s *Pressure) TakenByScans() bool {
	return 2*detect.Weight(sketch.Load{Read: s.Throttled.Read}) >= detect.Weight(s.Throttled) && s.ScanShare() >= detect.ScanShare
}

// ScanShare returns the part of the reads that Scans made.
func (s *Pressure) ScanShare() float64 {
	return detect.Ratio(float64(s.Scanned.Read), float64(s.Load.Read))
}

// HoldsWritesBack reports whether DynamoDB throttled writes to the table because of a
// partition of one of its indexes.
func (s *Pressure) HoldsWritesBack() bool { return s.Refused[sample.OfIndex] > 0 }

// Measure returns the pressure on a table or index in a second. likely is the second's
// load, with flushed load as its mean. warning is the policy's share of a limit: a
// partition may throttle because of a key above it. most returns the most load that a key
// may have, and whether enough seconds of it are known.
func Measure(w *sketch.Window, likely sketch.Load, warning float64, facts *detect.TableFacts, most func(*sketch.KeyLoad) (sketch.Load, bool)) Pressure {
	s := Pressure{
		Refused: w.Total.Refused, Requests: w.Total.Requests, Scanned: w.Total.Keyless, Scanners: w.Scanners, Load: w.Total.Load, Throttled: w.Total.Throttled, noHotKey: true,
		Sampled: w.Total.ReadLargest > 0 || w.Total.WriteLargest > 0,
	}
	if s.Refused[sample.KeyRange] > 0 {
		for i := range w.Keys {
			k := &w.Keys[i]
			if !isWarm(k) {
				s.coolServed = s.coolServed.Plus(detect.Sub(k.Low, k.Throttled))
			} else if k.Evidence != nil && k.Evidence.Refused[sample.KeyRange] > 0 {
				load, known := most(k)
				near := isNear(load, warning)
				s.RefusesHotKey, s.Guessed = s.RefusesHotKey || near && known, s.Guessed || near && !known
			}
		}
		s.noHotKey = !s.RefusesHotKey && !s.Guessed && !HidesKeys(w)
	}
	s.Unexplained = countUnexplained(w, warning)
	if wcu, rcu := facts.Capacity(w.Index); wcu > 0 || rcu > 0 {
		proven := sampling.ProvenTotal(w, likely)
		s.Demand = max(demandShare(proven.Write, wcu), demandShare(proven.Read, rcu))
	}
	return s
}

// countUnexplained returns how many requests were throttled without a reason in a second. It is 0
// if hot keys have most of them, or if more requests were throttled for a stated reason.
func countUnexplained(w *sketch.Window, warning float64) int64 {
	unknown := w.Total.Refused[sample.ThrottleUnknown]
	if unknown == 0 || 2*unknown <= w.Total.ThrottledRequests {
		return 0
	}
	ofHotKeys := int64(0)
	for i := range w.Keys {
		if k := &w.Keys[i]; k.Evidence != nil && isNear(sampling.MostLoad(w, k), warning) {
			ofHotKeys += k.Evidence.Refused[sample.ThrottleUnknown]
		}
	}
	if 2*ofHotKeys >= unknown {
		return 0
	}
	return unknown
}

// HidesKeys reports whether a key that the window does not list may be over a limit.
func HidesKeys(w *sketch.Window) bool {
	all, unseen := w.Total.Load, w.Unseen
	return all.Write > detect.PartitionWrite && unseen.Write > detect.PartitionWrite || all.Read > detect.PartitionRead && unseen.Read > detect.PartitionRead
}

// isNear reports whether a load is above the policy's share of a limit.
func isNear(l sketch.Load, warning float64) bool {
	return l.Write > detect.ShareOf(detect.PartitionWrite, warning) || l.Read > detect.ShareOf(detect.PartitionRead, warning)
}

// demandShare returns demand as a share of the provisioned capacity; 0 if that is
// unknown.
func demandShare(demand sample.Milli, provisioned float64) float64 {
	if provisioned <= 0 {
		return 0
	}
	return detect.Units(demand) / provisioned
}
