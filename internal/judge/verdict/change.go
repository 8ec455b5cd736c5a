package verdict

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/store"
)

// stored is the stored state of a finding.
type stored struct {
	finding  detect.Finding
	document []byte
}

// known is the stored state of the board's findings, and of their incidents.
type known struct {
	findings  map[string]stored
	incidents map[string]incidentRecord
	// missing are the IDs of incidents that were looked for and are not stored.
	missing map[string]bool
}

func newKnown() known {
	return known{map[string]stored{}, map[string]incidentRecord{}, map[string]bool{}}
}

// SetFindings records the stored state of findings, and returns the IDs of the incidents that
// they were evidence of.
func (s *State) SetFindings(rows []store.Finding) (incidents []string, err error) {
	for _, row := range rows {
		f, err := detect.ReadFinding(row.Document)
		if err != nil {
			return nil, fmt.Errorf("stored finding %s: %w", row.Fingerprint, err)
		}
		s.known.findings[f.Fingerprint] = stored{finding: f, document: row.Document}
		incidents = append(incidents, f.Incident)
	}
	return incidents, nil
}

// setIncident records the stored state of an incident, unless it is known.
func (s *State) setIncident(row *store.Incident) error {
	if _, loaded := s.known.incidents[row.ID]; loaded {
		return nil
	}
	i := incidentRecord{document: row.Document}
	if err := json.Unmarshal(row.Document, &i.Incident); err != nil {
		return fmt.Errorf("stored incident %s: %w", row.ID, err)
	}
	if i.Told == nil && len(i.Notified) > 0 { // stored by a version without Told
		i.Told = &detect.Told{At: i.OpenedAt, Severity: i.Severity, Case: i.Case, Subject: i.Subject, Root: i.Root}
	}
	s.known.incidents[row.ID] = i
	return nil
}

// UnknownIncidents returns the IDs of the incidents, each once, that observations and stored
// findings are evidence of and that were not looked for yet. Another incident may have
// continued one of them, so that no stored finding names it.
func (s *State) UnknownIncidents(named []string) (ids []string) {
	for i := range s.observations {
		named = append(named, s.observations[i].finding.Incident)
	}
	asked := make(map[string]bool)
	for _, id := range named {
		if _, known := s.incident(id); id != "" && !known && !s.known.missing[id] && !asked[id] {
			asked[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// SetIncidents records the stored incidents among these IDs, and the missing ones.
func (s *State) SetIncidents(ids []string, rows []store.Incident) error {
	for _, id := range ids {
		s.known.missing[id] = true
	}
	for i := range rows {
		if err := s.setIncident(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// draft holds the unwritten changes of findings and incidents: everything since the last
// stored judgement.
type draft struct {
	// Judgement has the newest state of each finding and incident, in the order in which
	// they changed first.
	store.Judgement
	// findingAt and incidentAt are the places of each; after is the stored state once the
	// draft is written.
	findingAt, incidentAt map[string]int
	after                 known
	// told has the tables and indexes with a message in the draft.
	told map[detect.Target]bool
}

// A flood of incidents may not make one transaction so long that collectors and receivers wait
// for it. Beyond enoughTold messages each table or index tells one more incident, as long as
// there are not mostTold messages in all. The others wait for the next pass.
const (
	enoughTold = 500
	mostTold   = 5000
)

// isFull reports whether further messages about a table or index have to wait.
func (d *draft) isFull(of detect.Target) bool {
	n := len(d.Notifications)
	return n >= mostTold || n >= enoughTold && d.told[of]
}

func newDraft() *draft {
	return &draft{findingAt: make(map[string]int), incidentAt: make(map[string]int), after: newKnown(), told: make(map[detect.Target]bool)}
}

// put replaces the row with an ID, or appends it.
func put[R any](rows *[]R, places map[string]int, id string, row R) {
	if i, already := places[id]; already {
		(*rows)[i] = row
		return
	}
	places[id] = len(*rows)
	*rows = append(*rows, row)
}

// putIncident drafts an incident, and replaces its earlier draft.
func (d *draft) putIncident(i store.Incident) {
	if at, already := d.incidentAt[i.ID]; already && i.Findings == nil {
		i.Findings = d.Incidents[at].Findings
	}
	put(&d.Incidents, d.incidentAt, i.ID, i)
}

func row(f detect.Finding, document []byte) store.Finding {
	return store.Finding{
		Fingerprint: f.Fingerprint, Case: string(f.Case), Subject: string(f.Subject), Target: f.Target, Key: f.Key,
		Severity: string(f.Severity), State: string(f.State), Utilization: f.Utilization,
		FirstSeen: f.FirstSeen, LastSeen: f.LastSeen, Document: document,
	}
}

// compare drafts the steps of a finding from its stored state to the present one.
func (d *draft) compare(f detect.Finding, before stored, document []byte, o Options, now time.Time) stored {
	step := func(why detect.Note) {
		d.Transitions = append(d.Transitions, transition(f.Fingerprint, before.finding.State, f.State, f.Severity, now, why))
	}
	switch {
	case f.State != before.finding.State && f.State == detect.Firing && tooOld(f.LastSeen, o, now):
		step(detect.Note{Code: detect.NoteTooOld})
	case f.State != before.finding.State:
		step(detect.Note{})
	case worse(f.Severity, before.finding.Severity):
		step(rose(before.finding.Severity))
	}
	put(&d.Findings, d.findingAt, f.Fingerprint, row(f, document))
	return stored{finding: f, document: document}
}

// tooOld reports whether the newest second is too long ago to notify.
func tooOld(lastSeen time.Time, o Options, now time.Time) bool {
	return now.Sub(lastSeen) > o.PageWithin
}

func transition(of string, from, to detect.State, severity detect.Severity, now time.Time, why detect.Note) store.Transition {
	return store.Transition{
		Of: of, At: now, From: string(from), To: string(to), Severity: string(severity),
		Note: string(why.Code), About: why.About, Until: why.Until,
	}
}

// rose is the note that the severity rose.
func rose(from detect.Severity) detect.Note {
	return detect.Note{Code: detect.NoteWorse, About: string(from)}
}

func worse(a, b detect.Severity) bool { return a == detect.Critical && b == detect.Warning }

// MaxKnown bounds the remembered stored findings that are not of open incidents. Forgotten
// ones are loaded again.
const MaxKnown = 64 << 10

// apply takes over a written draft. Beyond MaxKnown it forgets all but the open incidents and
// their findings, without which these could not end.
func (k known) apply(d *draft, open map[string]bool) {
	if max(len(k.findings), len(k.incidents), len(k.missing)) > MaxKnown {
		maps.DeleteFunc(k.findings, func(_ string, f stored) bool { return !open[f.finding.Incident] })
		maps.DeleteFunc(k.incidents, func(id string, _ incidentRecord) bool { return !open[id] })
		clear(k.missing)
	}
	maps.Copy(k.findings, d.after.findings)
	maps.Copy(k.incidents, d.after.incidents)
}
