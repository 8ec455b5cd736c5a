package pipeline

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Status is the pipeline at one moment.
type Status struct {
	Now time.Time
	// Silent is the last heartbeat if all collectors are silent. It is zero while one
	// attends, and if none ever did.
	Silent time.Time
	// Collectors are the attending collectors, Refused the tables that they have no room
	// for.
	Collectors []detect.Collector
	Refused    []string
	Partitions []Partition
	// Unread is what collectors should read and nobody does. LastRead is when any of them read
	// anything; zero if unknown.
	Unread   []Unread
	LastRead time.Time
	// Gaps are the newest gaps, in any order.
	Gaps []Gap
	// Counted is the event time up to which all samples are counted and stored; zero if
	// unknown.
	Counted time.Time
	// Tables are the tables with stored samples, and all of them together.
	Tables []Table
}

// Partition is one log that collectors read.
type Partition struct {
	// Through is the event time up to the counted records. It is zero if unknown, and far
	// in the future for a log that is read to its end.
	Through time.Time
	// Moved is the last change of Through, Seen a collector's last report on the
	// partition.
	Moved, Seen time.Time
	// Lag is the number of waiting records.
	Lag int64
}

// Unread is a partition, topic or table that collectors should read and nobody does.
type Unread struct {
	Name string
	// Since is when it was read last.
	Since time.Time
}

// Gap is a range of records that were not, and will never be, counted.
type Gap struct {
	sample.Gap
	// Since and Until bound the times of its records; zero if unknown.
	Since, Until time.Time
	Noticed      time.Time
}

// allFail reports whether a collector fails and none reads anything. One without a fault may
// have nothing to read.
func (s *Status) allFail() bool {
	return slices.ContainsFunc(s.Collectors, func(c detect.Collector) bool { return c.State == detect.CollectorFailing }) &&
		!slices.ContainsFunc(s.Collectors, func(c detect.Collector) bool { return c.Reads })
}

// waitingPartitions returns the partitions that collectors read and that have waiting
// records.
func (s *Status) waitingPartitions() (all []Partition) {
	for _, p := range s.Partitions {
		if p.Lag > 0 && s.Now.Sub(p.Seen) <= goneAfter {
			all = append(all, p)
		}
	}
	return all
}

// lag returns the lag of the slowest partition with waiting records.
func (s *Status) lag() (most time.Duration) {
	for _, p := range s.waitingPartitions() {
		through := p.Through
		if through.IsZero() {
			through = p.Moved
		}
		most = max(most, s.Now.Sub(through))
	}
	return most
}

// standstill returns the last movement of any partition with waiting records; false if no
// records wait.
func (s *Status) standstill() (since time.Time, stands bool) {
	for _, p := range s.waitingPartitions() {
		if p.Moved.After(since) {
			since = p.Moved
		}
		stands = true
	}
	return since, stands
}

// badShare returns the highest share of rejected samples; false if no collector reports
// it.
func (s *Status) badShare() (most float64, known bool) {
	for _, c := range s.Collectors {
		if c.BadShare != nil {
			most, known = max(most, *c.BadShare), true
		}
	}
	return most, known
}

// refusedTables returns the most tables that a collector has no room for; false if no
// collector reports it.
func (s *Status) refusedTables() (most int, known bool) {
	for _, c := range s.Collectors {
		if c.RefusedTables != nil {
			most, known = max(most, int(*c.RefusedTables)), true
		}
	}
	return most, known
}

// lostGaps returns the gaps that were noticed within a time and that miss records, and
// the first and last time of notice.
func (s *Status) lostGaps(within time.Duration) (gaps []Gap, first, last time.Time) {
	for _, g := range s.Gaps {
		if s.Now.Sub(g.Noticed) > within || g.NoneKnown() {
			continue
		}
		gaps = append(gaps, g)
		if first.IsZero() || g.Noticed.Before(first) {
			first = g.Noticed
		}
		if g.Noticed.After(last) {
			last = g.Noticed
		}
	}
	return gaps, first, last
}
