package throttling

import (
	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// Pressure is the demand on a table or index as a whole in one second, or in an
// episode of them, and what DynamoDB throttled of it.
type Pressure struct {
	// Refused counts throttled requests by cause, Requests all of them.
	Refused  [sample.ThrottleReasons]int64
	Requests int64
	// Scanned is the part of the load that Scans made, load all of it.
	Scanned, Load sketch.Load
	// Throttled is the part of Load that was throttled, OfWarm that of keys that were warm,
	// and Cool what keys were served that were not.
	Throttled, OfWarm, Cool sketch.Load
	// noHotKey holds when no key was near a limit: what was throttled because of a
	// partition was not because of one key.
	noHotKey bool
	// Demand is the demand as a share of the provisioned capacity; 0 when that is
	// not known.
	Demand float64
}

// Plus returns the pressure of both.
func (s Pressure) Plus(o Pressure) Pressure {
	for c := range s.Refused {
		s.Refused[c] += o.Refused[c]
	}
	s.Requests += o.Requests
	s.Scanned, s.Load = s.Scanned.Plus(o.Scanned), s.Load.Plus(o.Load)
	s.Throttled, s.OfWarm, s.Cool = s.Throttled.Plus(o.Throttled), s.OfWarm.Plus(o.OfWarm), s.Cool.Plus(o.Cool)
	s.Demand = max(s.Demand, o.Demand)
	return s
}

// StarvedRequests returns how many requests were throttled for want of capacity.
func (s *Pressure) StarvedRequests() int64 {
	return s.Refused[sample.Provisioned] + s.Refused[sample.MaxOnDemand] + s.Refused[sample.AccountLimit] + s.Refused[sample.OfIndexCapacity]
}

// Hits reports whether the second is one of the kind, and whether requests were
// throttled in it.
func (s *Pressure) Hits(k detect.Kind) (hit, throttled bool) {
	if k == detect.HotPartition {
		throttled = s.noHotKey && s.Refused[sample.KeyRange] > 0 || s.Refused[sample.OfIndex] > 0
		return throttled, throttled
	}
	throttled = s.StarvedRequests() > 0
	return throttled || s.Demand > 1, throttled
}

// OnlyWarm reports whether all that was throttled is of keys that were warm.
func (s *Pressure) OnlyWarm() bool {
	return detect.Weight(s.Throttled) > 0 && s.OfWarm == s.Throttled
}

// HoldsWritesBack reports whether writes to the table were throttled because of a
// partition of one of its indexes.
func (s *Pressure) HoldsWritesBack() bool { return s.Refused[sample.OfIndex] > 0 }

// Measure returns the pressure on a table or index in a second, likely its load, which of what
// was flushed is the mean. warning is the policy's share of a limit: a key above it may
// be what a partition throttles for.
func Measure(w *sketch.Window, likely sketch.Load, warning float64, facts *detect.TableFacts) Pressure {
	s := Pressure{
		Refused: w.Total.Refused, Requests: w.Total.Requests, Scanned: w.Total.Keyless, Load: w.Total.Load, Throttled: w.Total.Throttled, noHotKey: true,
	}
	near := func(l sketch.Load) bool {
		return l.Write > detect.ShareOf(detect.PartitionWrite, warning) || l.Read > detect.ShareOf(detect.PartitionRead, warning)
	}
	if s.Refused[sample.KeyRange] > 0 {
		for i := range w.Keys {
			k := &w.Keys[i]
			s.noHotKey = s.noHotKey && !near(sampling.MostLoad(w, k))
			if isWarm(k) {
				s.OfWarm = s.OfWarm.Plus(k.Throttled)
			} else {
				s.Cool = s.Cool.Plus(detect.Sub(k.Low, k.Throttled))
			}
		}
		s.noHotKey = s.noHotKey && !near(w.Unseen)
	}
	if wcu, rcu := facts.Capacity(w.Index); wcu > 0 || rcu > 0 {
		proven := sampling.ProvenTotal(w, likely)
		s.Demand = max(demandShare(proven.Write, wcu), demandShare(proven.Read, rcu))
	}
	return s
}

// demandShare returns a demand as a share of what is provisioned; 0 when that is not
// known.
func demandShare(demand sample.Milli, provisioned float64) float64 {
	if provisioned <= 0 {
		return 0
	}
	return detect.Units(demand) / provisioned
}
