// Package report makes people's reports of a period: keys that got hot, keys that will,
// resolved incidents, and unseen parts.
//
// [Load] reads the rows of a period from the store. [New] makes a [Report] of them: a
// plain value of codes and figures, made without a clock and without I/O, which the store
// keeps. [Report.Write] renders one, with its sentences, as HTML, Markdown or JSON. Package
// report/schedule makes each due report once.
//
// Unknown values are nil or absent, never zero, and the report mentions them: a period
// without collectors was not a quiet one.
//
// Keys, table names and text about them come from others. They are escaped in every
// format, and cut on pages for people; JSON has them whole.
package report

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/store"
)

// jsonVersion is the version of the JSON form. A reader ignores unknown fields; a change that
// breaks readers raises it.
const jsonVersion = 2

// Request chooses a report's period and tables.
type Request struct {
	// Name is the schedule's; empty for a report that was asked for.
	Name string `json:"name"`
	// From and To bound the period, To exclusive.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Zone is the IANA time zone that times are shown in; UTC when empty.
	Zone string `json:"time_zone"`
	// Tables are the report's tables, as NAME, REGION/NAME or ACCOUNT/REGION/NAME; all
	// when empty.
	Tables []string `json:"tables"`
}

// Report describes a period, in codes and figures. Its sentences are empty until
// [Report.Render] adds them: they are not stored.
type Report struct {
	Version int `json:"version"`
	Request
	// Made is when it was made: states are of then, where they are not of the period's end.
	Made time.Time `json:"made"`
	// Files describes the input of a report about files; null for the store.
	Files *Files `json:"files"`
	// Summary is one sentence, of a rendered report.
	Summary string `json:"summary"`
	// Hot are incidents that fired in the period, the worst first.
	Hot []Incident `json:"hot"`
	// Warm are incidents that were open in the period and did not fire.
	Warm []Incident `json:"warm"`
	// Partitions are of the tables whose ranges of partitions are claimed. Loads are of the
	// period's last minute, or of all files, and splits of the period.
	Partitions []partition.View `json:"partitions"`
	// NotSeen lists the unseen parts.
	NotSeen NotSeen `json:"not_seen"`
}

// Incident is an incident as it stood at the end of the period.
type Incident struct {
	ID      string         `json:"id"`
	Case    detect.Case    `json:"case"`
	Subject detect.Subject `json:"subject"`
	detect.KeyRef
	// Unit is wcu or rcu: the unit of the hot dimension.
	Unit     string          `json:"unit"`
	Severity detect.Severity `json:"severity"`
	State    detect.State    `json:"state"`
	// Began is the first second of the episode. Fired and Resolved are null where
	// that had not happened by the end of the period.
	Began    time.Time  `json:"began"`
	Fired    *time.Time `json:"fired"`
	Resolved *time.Time `json:"resolved"`
	// Times is how often it began to fire in the period; null where its history is
	// not kept any more.
	Times *int `json:"times"`
	// Silenced reports that a silence held its alerts back in the period.
	Silenced bool `json:"silenced"`
	// Utilization is the highest second as a share of the limit; null if the finding is
	// no longer kept, describes a later episode, or is about no load.
	Utilization *float64 `json:"utilization"`
	// Root is the root finding; nil if it is no longer kept, and in a rendered report.
	Root *detect.Finding `json:"root,omitempty"`
	// Why and FirstFix are sentences, and Limits describes the figures' limits, of a
	// rendered report; empty if unknown.
	Why      string `json:"why"`
	FirstFix string `json:"first_fix"`
	Owner    string `json:"owner"`
	// CloudWatch is the verdict of DynamoDB's own metrics; empty if they were not read.
	CloudWatch detect.Corroborated `json:"cloudwatch"`
	Limits     string              `json:"limits"`
}

// NotSeen lists the unseen parts of the period.
type NotSeen struct {
	// Collectors is the number of collectors that wrote in the period; null if that is
	// too long ago. Problems are the faulty ones.
	Collectors *int               `json:"collectors"`
	Problems   []collectorProblem `json:"problems"`
	// Stopped is since when no collector wrote; null while one did.
	Stopped *time.Time `json:"stopped"`
	Gaps    []Gap      `json:"gaps"`
	// Coverage is the samples' part of each table's load.
	Coverage []Coverage `json:"coverage"`
	// Cut names the parts of which some entries were left out for their number.
	Cut []string `json:"cut"`
}

// collectorProblem is a collector that did not see everything.
type collectorProblem struct {
	ID   string    `json:"id"`
	Host string    `json:"host"`
	Seen time.Time `json:"seen"`
	// Status is the collector's last report about itself, and What the fault, of a
	// rendered report.
	Status *store.WriterStatus `json:"status,omitempty"`
	What   string              `json:"what"`
}

// Gap is a range of samples that was not, and will never be, counted.
type Gap struct {
	Source    string `json:"source"`
	Partition string `json:"partition"`
	Reason    string `json:"reason"`
	// Since and Until are event times; null where they are not known.
	Since   *time.Time `json:"since"`
	Until   *time.Time `json:"until"`
	Noticed time.Time  `json:"noticed"`
}

// Coverage is the samples' part of a table's or index's load.
type Coverage struct {
	detect.Target
	// Write and Read are parts, 1 for all; null if unknown.
	Write *detect.Figure `json:"write"`
	Read  *detect.Figure `json:"read"`
	// CloudWatch is what the parts rest on; nil if it was not read, and in a rendered
	// report. Why explains it in sentences, of a rendered report.
	CloudWatch *detect.TableCloudWatch `json:"cloudwatch,omitempty"`
	Why        string                  `json:"why"`
	// Updated is the time of the table's last judgement. Stale means that it was before
	// the period, of which nothing was seen.
	Updated time.Time `json:"updated"`
	Stale   bool      `json:"stale"`
}

// Notice is a webhook's message about a report.
type Notice struct {
	ID   string    `json:"id"`
	Name string    `json:"name"`
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Outline is stored, and Summary is sent.
	Outline *Outline `json:"outline,omitempty"`
	Summary string   `json:"summary"`
	// Path is the report's path on the reporter's pages.
	Path string `json:"path"`
	// Hot are the worst incidents.
	Hot []Incident `json:"hot"`
}

const maxTold = 5

// Notice returns the message about the report, as the store keeps it.
func (p *Report) Notice(id string) Notice {
	return Notice{ID: id, Name: p.Name, From: p.From, To: p.To, Outline: p.Outline(), Path: "/reports/" + id, Hot: p.Hot[:min(len(p.Hot), maxTold)]}
}

// ReadNotice returns a stored notice with its sentences.
func ReadNotice(document []byte) (n Notice, err error) {
	if err := json.Unmarshal(document, &n); err != nil {
		return n, fmt.Errorf("read a report's notice: %w", err)
	}
	if n.Outline != nil {
		n.Summary = n.Outline.Summary()
	}
	n.Outline, n.Hot = nil, renderIncidents(n.Hot)
	return n, nil
}
