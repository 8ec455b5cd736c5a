package report

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Files describes the input of a report about files instead of the store.
type Files struct {
	// Samples were counted; Bad were not, by reason.
	Samples int64                         `json:"samples"`
	Bad     map[sample.RejectReason]int64 `json:"bad"`
	// Unjudged explains a missing verdict; empty when there is one.
	Unjudged string `json:"unjudged"`
	// Notes are sentences about the verdict's coverage and its limits.
	Notes []string `json:"notes"`
}

// Found is the result of reading files.
type Found struct {
	Files
	Made      time.Time
	Incidents []detect.Incident
	Findings  []detect.Finding
	Tables    []detect.Table
	// Partitions are of the table whose stream was read; nil if no ranges are claimed.
	Partitions *partition.View
	Gaps       []sample.Gap
}

// OfFiles returns the report about files, from their first second to their last.
func OfFiles(f Found) *Report {
	p := &Report{
		Version: jsonVersion, Request: Request{Tables: []string{}}, Made: f.Made, Files: &f.Files,
		Hot: []Incident{}, Warm: []Incident{}, Partitions: []partition.View{},
		NotSeen: NotSeen{Problems: []collectorProblem{}, Gaps: []Gap{}, Coverage: []Coverage{}, Cut: []string{}},
	}
	for _, t := range f.Tables {
		if v := t.View; v != nil {
			if p.From.IsZero() || v.From.Before(p.From) {
				p.From = v.From
			}
			if v.To.After(p.To) {
				p.To = v.To
			}
		}
		p.NotSeen.Coverage = append(p.NotSeen.Coverage, Coverage{Target: t.Target, Updated: f.Made})
	}
	if f.Partitions != nil {
		p.Partitions = append(p.Partitions, *f.Partitions)
	}
	roots := make(map[string]*detect.Finding, len(f.Findings))
	for i := range f.Findings {
		roots[f.Findings[i].Fingerprint] = &f.Findings[i]
	}
	for _, i := range f.Incidents {
		p.addFound(i, roots[i.Root])
	}
	slices.SortStableFunc(p.Hot, worseFirst)
	slices.SortStableFunc(p.Warm, worseFirst)
	for _, g := range f.Gaps {
		p.NotSeen.Gaps = append(p.NotSeen.Gaps, gapOf(store.Gap{Gap: g, Noticed: f.Made}))
	}
	return p
}

func (p *Report) addFound(found detect.Incident, root *detect.Finding) {
	i := Incident{
		ID: found.ID, Case: found.Case, Subject: found.Subject, KeyRef: detect.KeyRef{Target: found.Target}, Unit: "wcu",
		Severity: found.Severity, State: found.State, Began: found.OpenedAt, Fired: found.FiredAt, Resolved: found.ResolvedAt,
		Owner: found.Owner,
	}
	if root != nil {
		i.tell(root)
	}
	if i.State == detect.Pending {
		p.Warm = append(p.Warm, i)
	} else {
		p.Hot = append(p.Hot, i)
	}
}
