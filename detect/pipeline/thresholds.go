package pipeline

import "time"

// Thresholds set when the pipeline's findings begin. A threshold of zero or less makes no
// finding.
type Thresholds struct {
	// Stopped is the longest time without a collector, and the longest time that a partition
	// may be unread.
	Stopped time.Duration
	// Standing is the longest time that event time may stand still while records wait,
	// before collection counts as stopped.
	Standing time.Duration
	// Lag is the longest lag of counted event time behind the clock while records wait.
	Lag time.Duration
	// BadShare is the share of rejected samples, of any collector.
	BadShare float64
	// RefusedTables is the number of tables without room in a collector.
	RefusedTables int
	// Lost is the time that a new gap keeps its finding open.
	Lost time.Duration
	// NoSamples is the longest time without a sample of a table that had samples in every
	// minute of the hour before.
	NoSamples time.Duration
}

// Default returns the default thresholds. A collector attends every ten seconds: in 45
// seconds it has missed four times, and the alert comes within the minute. Five minutes
// of lag are no longer live; a deploy's restart is shorter. One bad sample in twenty
// means a broken producer, not an odd sample.
func Default() Thresholds {
	return Thresholds{
		Stopped: 45 * time.Second, Standing: 5 * time.Minute, Lag: 5 * time.Minute,
		BadShare: 0.05, RefusedTables: 1, Lost: 10 * time.Minute, NoSamples: 2 * time.Minute,
	}
}

const (
	// confirmTime is the time for which looks must agree that something is not read: a
	// collector that was frozen reports so for a moment.
	confirmTime = 10 * time.Second
	// holdTime is the time that a changing condition must last before a finding begins or
	// ends.
	holdTime = time.Minute
	// blindAfter is the longest time between looks that lets the watch know the time
	// between.
	blindAfter = 30 * time.Second
	// refreshInterval is the interval for writing a lasting finding anew.
	refreshInterval = time.Minute
	// forgetAfter is the time after an end until the end is known to be stored.
	forgetAfter = time.Hour
	// goneAfter is the time after the last report on a partition until its lag stops
	// counting.
	goneAfter = time.Hour
)
