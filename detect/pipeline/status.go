package pipeline

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Status is the pipeline at one moment.
type Status struct {
	Now time.Time
	// Silent is when a collector was heard last, of ones that are all silent; zero while
	// one is heard, and where none ever was.
	Silent time.Time
	// Collectors are those that are heard, and Refused the tables that they have no
	// room for.
	Collectors []detect.Collector
	Refused    []string
	Partitions []Partition
	// Gaps are the newest, in any order.
	Gaps []Gap
}

// Partition is one log that is read.
type Partition struct {
	// Through is the event time up to which it is counted; zero when that is not known,
	// and far in the future of a log that is read to its end.
	Through time.Time
	// Moved is when Through changed last, Seen when a collector spoke of it last.
	Moved, Seen time.Time
	// Lag is how many records wait.
	Lag int64
}

// Gap is a range that was not, and will never be, counted.
type Gap struct {
	sample.Gap
	Noticed time.Time
}

// waiting returns the partitions that are read and of which records wait.
func (s *Status) waiting() (all []Partition) {
	for _, p := range s.Partitions {
		if p.Lag > 0 && s.Now.Sub(p.Seen) <= gone {
			all = append(all, p)
		}
	}
	return all
}

// lag returns by how much the slowest of the partitions is behind of which records
// wait.
func (s *Status) lag() (most time.Duration) {
	for _, p := range s.waiting() {
		through := p.Through
		if through.IsZero() {
			through = p.Moved
		}
		most = max(most, s.Now.Sub(through))
	}
	return most
}

// standing returns since when event time stands still though records wait on each
// partition that stands; false where any goes on, or none has records.
func (s *Status) standing() (since time.Time, stands bool) {
	for _, p := range s.waiting() {
		if p.Moved.After(since) {
			since = p.Moved
		}
		stands = true
	}
	return since, stands
}

// badShare returns the highest share of rejected samples; false where nobody tells.
func (s *Status) badShare() (most float64, known bool) {
	for _, c := range s.Collectors {
		if c.BadShare != nil {
			most, known = max(most, *c.BadShare), true
		}
	}
	return most, known
}

// refusedTables returns for how many tables a collector has no room, the most of any; false
// where nobody tells.
func (s *Status) refusedTables() (most int, known bool) {
	for _, c := range s.Collectors {
		if c.RefusedTables != nil {
			most, known = max(most, int(*c.RefusedTables)), true
		}
	}
	return most, known
}

// lost returns the gaps that were noticed within a time and of which records are known to be
// missing, and the first and last time at which one was.
func (s *Status) lost(within time.Duration) (gaps []Gap, first, last time.Time) {
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
