package status

import (
	"fmt"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/store"
)

// CollectorState is a collector's state in a word, with the trouble that it reports.
type CollectorState struct {
	Class, State string
	Notes        []string
}

// NewCollectorState judges a collector at a time.
func NewCollectorState(w store.Writer, now time.Time) CollectorState {
	switch {
	case !w.Stopped.IsZero():
		return CollectorState{Class: "plain", State: "stopped"}
	case !w.Runs(now):
		return CollectorState{Class: "critical", State: "silent", Notes: []string{"It ended without notice, or does not reach the database. See its log."}}
	}
	c := CollectorState{Class: "calm", State: "running"}
	if isTroubled(&w) {
		c.Class = "warning"
	}
	if w.State == string(detect.CollectorFailing) {
		c.State, c.Notes = "failing", []string{wording.Printable(w.Reason)}
	}
	if rejects(&w) {
		c.Notes = append(c.Notes, "It rejects many samples: see below.")
	}
	if n := len(w.RefusedTables); n > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("It has no room for %d more tables. Raise its limit of tables, or leave samples out.", n))
	}
	return c
}
