package detect

import "time"

// CollectorState is a collector's state of work.
type CollectorState string

// The states of a collector. The empty state is unknown.
const (
	CollectorRunning CollectorState = "running"
	CollectorFailing CollectorState = "failing" // it runs; Reason is its error
	CollectorStopped CollectorState = "stopped" // it announced its end
)

// Collector is one collector as the reporter sees it through the store. A figure that the
// collector does not report is null, never zero: silence is not health.
type Collector struct {
	ID      string `json:"id"`
	Host    string `json:"host"`
	Version string `json:"version"`
	// Seen is the time of its last heartbeat.
	Seen time.Time `json:"seen"`
	// ClockOffset is the lead of its clock over the store's, in seconds.
	ClockOffset *float64       `json:"clock_offset"`
	State       CollectorState `json:"state"`
	Reason      string         `json:"reason"`
	// Lag is the number of records that wait to be read; null while a partition is not read.
	// Sources names its inputs.
	Lag     *int64   `json:"lag"`
	Sources []string `json:"sources"`
	// RefusedTables counts tables that it has no room for. BadShare is the share of bad
	// samples.
	RefusedTables *int64   `json:"refused_tables"`
	BadShare      *float64 `json:"bad_share"`
	// LowerBounds names the tables whose loads are lower bounds, because their samples have
	// neither units nor a size.
	LowerBounds []string `json:"lower_bounds"`
	// Reads reports that it reads at least one partition.
	Reads bool `json:"-"`
}

// Counts reports whether the collector is known to be able to count: it runs without a fault,
// or reads in spite of one.
func (c Collector) Counts() bool { return c.State == CollectorRunning || c.Reads }
