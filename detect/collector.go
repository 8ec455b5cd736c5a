package detect

import "time"

// CollectorState is what a collector does.
type CollectorState string

// The states of a collector. The empty one is unknown.
const (
	CollectorRunning CollectorState = "running"
	CollectorFailing CollectorState = "failing" // it runs, and Reason says what it cannot do
	CollectorStopped CollectorState = "stopped" // it said that it stops
)

// Collector is one collector as the reporter sees it through the store. What
// nobody reports is null, never zero: silence is not health.
type Collector struct {
	ID      string `json:"id"`
	Host    string `json:"host"`
	Version string `json:"version"`
	// Seen is when it last attended.
	Seen time.Time `json:"seen"`
	// ClockOffset is by how many seconds its clock is ahead of the store's.
	ClockOffset *float64       `json:"clock_offset"`
	State       CollectorState `json:"state"`
	Reason      string         `json:"reason"`
	// Lag is how many records wait to be read, Sources what it reads.
	Lag     *int64   `json:"lag"`
	Sources []string `json:"sources"`
	// RefusedTables counts tables that it has no room for, BadShare is the share
	// of bad samples.
	RefusedTables *int64   `json:"refused_tables"`
	BadShare      *float64 `json:"bad_share"`
}
