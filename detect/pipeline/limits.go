package pipeline

import "time"

// Thresholds say from when on a finding is made. One that is zero or less makes none.
type Thresholds struct {
	// Stopped is for how long nobody may collect.
	Stopped time.Duration
	// Standing is for how long event time may stand still while records wait, before
	// that counts as stopped, too.
	Standing time.Duration
	// Lag is how far behind the clock what is counted may be while records wait.
	Lag time.Duration
	// BadShare is the share of rejected samples, of any collector.
	BadShare float64
	// RefusedTables is how many tables a collector may not have room for.
	RefusedTables int
	// Lost is for how long a new gap is told of.
	Lost time.Duration
}

// Default returns the thresholds of an operator who decided nothing. A collector
// attends every ten seconds: in 45 it has missed four times, and the page comes within
// the minute. Five minutes of lag are no longer live; a deploy's restart is shorter.
// One bad sample in twenty is a producer that is broken, not one that is odd.
func Default() Thresholds {
	return Thresholds{
		Stopped: 45 * time.Second, Standing: 5 * time.Minute, Lag: 5 * time.Minute,
		BadShare: 0.05, RefusedTables: 1, Lost: 10 * time.Minute,
	}
}

const (
	// hold is for how long what comes and goes has to be so, or not to be so, until a
	// finding begins, or ends.
	hold = time.Minute
	// blind is after which time without a look nothing is known of the time between.
	blind = 30 * time.Second
	// refresh is how often a finding that goes on is written anew.
	refresh = time.Minute
	// forget is after which time an end is known to be stored.
	forget = time.Hour
	// gone is after which time a partition that nobody speaks of is not waited for.
	gone = time.Hour
)
