package web

import (
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/status"
	"github.com/keyheat/keyheat/store"
)

// health is the link to the status page: a dot with its text.
type health struct{ Class, Text string }

func newHealth(s status.Status) health {
	worst, problems := s.Health()
	switch {
	case problems > 0:
		return health{string(worst), count(problems, "problem", "problems")}
	case worst == status.Well:
		return health{string(worst), "Running"}
	}
	return health{"unknown", "Status unknown"}
}

// collectorState is a collector's state in a word, with the trouble that it reports.
type collectorState struct {
	Class, State string
	Notes        []string
}

func newCollectorState(w store.Writer, now time.Time) collectorState {
	switch {
	case !w.Stopped.IsZero():
		return collectorState{Class: "plain", State: "stopped"}
	case !w.Runs(now):
		return collectorState{Class: "critical", State: "silent", Notes: []string{"It ended without notice, or does not reach the database. See its log."}}
	}
	c := collectorState{Class: "calm", State: "running"}
	if status.IsTroubled(&w) {
		c.Class = "warning"
	}
	if w.State == string(detect.CollectorFailing) {
		c.State, c.Notes = "failing", []string{wording.Printable(w.Reason)}
	}
	if status.Rejects(&w) {
		c.Notes = append(c.Notes, "It rejects many samples: see below.")
	}
	if n := len(w.RefusedTables); n > 0 {
		c.Notes = append(c.Notes, "It has no room for "+count(n, "table", "tables")+". Raise its limit of tables, or leave samples out.")
	}
	return c
}
