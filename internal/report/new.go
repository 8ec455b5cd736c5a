package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/store"
)

// New returns the report of a period.
func New(r Rows) (*Report, error) {
	report := &Report{
		Version: jsonVersion, Request: r.Request, Made: r.Made,
		Hot: []Incident{}, Warm: []Incident{}, Partitions: []partition.View{},
	}
	if report.Tables == nil {
		report.Tables = []string{}
	}
	if err := report.addIncidents(&r); err != nil {
		return nil, err
	}
	for _, v := range r.Partitions {
		report.addPartitions(v)
	}
	tables, err := r.tables()
	if err != nil {
		return nil, err
	}
	report.NotSeen = r.notSeen(tables)
	return report, nil
}

func (p *Report) addPartitions(v partition.View) {
	v.Splits = slices.DeleteFunc(slices.Clone(v.Splits), func(s detect.PartitionSplit) bool { return s.At.Before(p.From) || !s.At.Before(p.To) })
	p.Partitions = append(p.Partitions, v)
}

func (p *Report) addIncidents(r *Rows) error {
	moved := r.transitions()
	for i := range r.Incidents {
		row := &r.Incidents[i]
		if !r.Covers(row.Target) || !r.overlaps(row) && len(moved[row.ID]) == 0 {
			continue
		}
		incident, fired, err := r.incident(row, moved[row.ID])
		if err != nil {
			return err
		}
		if !fired {
			p.Warm = append(p.Warm, incident)
			continue
		}
		p.Hot = append(p.Hot, incident)
	}
	slices.SortStableFunc(p.Hot, worseFirst)
	slices.SortStableFunc(p.Warm, worseFirst)
	return nil
}

// worseFirst orders incidents: open ones first, then by severity and by load. An incident
// of unknown load comes before the ones that are known to be below the limit.
func worseFirst(a, b Incident) int {
	open := func(i Incident) int {
		return slices.Index([]detect.State{detect.Firing, detect.Pending, detect.Resolved}, i.State)
	}
	load := func(i Incident) float64 {
		if i.Utilization == nil {
			return 1
		}
		return *i.Utilization
	}
	return cmp.Or(
		cmp.Compare(open(a), open(b)),
		cmp.Compare(detect.Rank(b.Severity), detect.Rank(a.Severity)),
		cmp.Compare(load(b), load(a)),
		cmp.Compare(a.ID, b.ID),
	)
}

// incident returns an incident as it stood at the end of the period, and whether it
// fired in it.
func (r *Rows) incident(row *store.Incident, moved []store.Transition) (Incident, bool, error) {
	var document detect.Incident
	if err := json.Unmarshal(row.Document, &document); err != nil {
		return Incident{}, false, fmt.Errorf("stored incident %s: %w", row.ID, err)
	}
	i := Incident{
		ID: row.ID, Case: detect.Case(row.Case), Subject: detect.Subject(row.Subject), KeyRef: detect.KeyRef{Target: row.Target},
		Severity: detect.Severity(row.Severity), Owner: document.Owner, Unit: "wcu", Began: row.OpenedAt,
	}
	fired := r.states(&i, row, moved)
	i.Silenced = document.Silenced != nil && r.overlaps(row) || slices.ContainsFunc(moved, func(t store.Transition) bool { return t.Note == string(detect.NoteSilenced) })
	if root, kept := r.Roots[row.Root]; kept {
		f, err := detect.ReadFinding(root.Document)
		if err != nil {
			return Incident{}, false, fmt.Errorf("stored finding %s: %w", root.Fingerprint, err)
		}
		i.tell(&f)
		i.Target = row.Target
		if !row.OpenedAt.Before(r.To) { // its figures are of a later episode
			i.Utilization, i.CloudWatch = nil, ""
		}
	}
	return i, fired, nil
}

func (i *Incident) tell(root *detect.Finding) {
	i.KeyRef = root.KeyRef
	i.Unit = detect.SideOf(root, "wcu", "rcu")
	if i.Root = root; root.Contention == nil {
		i.Utilization = new(root.Utilization)
	}
	if root.CloudWatch != nil {
		i.CloudWatch = root.CloudWatch.Verdict
	}
}

// states sets the incident's state at the end of the period, and the times at which it
// fired and resolved, and returns whether it fired in the period.
func (r *Rows) states(i *Incident, row *store.Incident, moved []store.Transition) (fired bool) {
	before := func(at time.Time) *time.Time {
		if at.IsZero() || !at.Before(r.To) {
			return nil
		}
		return &at
	}
	i.Fired, i.Resolved = before(row.FiredAt), before(row.ResolvedAt)
	i.State = detect.Pending
	switch {
	case !r.overlaps(row): // only its history tells of the period
	case i.Resolved != nil:
		i.State, fired = detect.Resolved, i.Fired != nil
	case i.Fired != nil:
		i.State, fired = detect.Firing, true
	}
	if len(moved) == 0 {
		return fired
	}
	times := 0
	for n, t := range moved {
		if t.From == string(detect.Firing) || t.To == string(detect.Firing) {
			fired = true
		}
		if t.To == string(detect.Firing) && t.From != t.To {
			times++
		}
		if !r.overlaps(row) {
			if n == 0 {
				i.Began = t.At
			}
			i.Severity = detect.Severity(t.Severity)
			at := t.At
			switch detect.State(t.To) {
			case detect.Firing:
				i.Fired, i.Resolved = &at, nil
			case detect.Resolved:
				i.Resolved = &at
			}
		}
	}
	i.Times = &times
	i.State = detect.State(moved[len(moved)-1].To)
	return fired
}

type table struct {
	detect.Table
	updated time.Time
}

func (r *Rows) tables() ([]table, error) {
	var all []table
	for _, v := range r.Views {
		if !r.Covers(v.Target) {
			continue
		}
		t := table{updated: v.Updated}
		if err := json.Unmarshal(v.Document, &t.Table); err != nil {
			return nil, fmt.Errorf("stored view of %s: %w", v.Name(), err)
		}
		t.Target = v.Target
		all = append(all, t)
	}
	return all, nil
}
