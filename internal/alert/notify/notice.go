package notify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/store"
)

// Notice is one notification, as every receiver is given it.
type Notice struct {
	// ID is the same on every attempt.
	ID string
	// Event is the incident's event, in detect's words, or store.EventReport.
	Event string
	// At is when the notification was put into the outbox.
	At time.Time
	// Subject is the common name of notices about one matter: the incident's ID, the
	// group's, or the report's.
	Subject string
	// Incident and Finding, its root, are as they were then. Of a finding that cannot
	// be read, as one of a later version, they say nothing.
	Incident detect.Incident
	Finding  detect.Finding
	// Group is the notice's group of incidents; Incident is then the worst of them. Nil
	// for a single incident.
	Group *detect.Group
	// Document is the finding as it was written then, IncidentDocument the incident;
	// Report is a scheduled report in short, of a notice of one.
	Document, IncidentDocument, Report json.RawMessage
	// Title names the matter in one line; Brief has the five answers about an incident,
	// and is empty for a report.
	Title string
	Brief say.Brief
	// Delay describes the notice's delay and its cause; empty in time.
	Delay string
	// Recent is the load of the finding's key before the notification; nil where that is
	// not known.
	Recent *detect.Recent
	// Related describes the worst other findings of the incident.
	Related []string
	// RunbookURL is where the owner's own instructions are; empty for nowhere.
	RunbookURL string
	// URL is the matter's page; empty while the pages' public address is unknown.
	URL string
	// Receipt is the receiver's answer to an earlier notice of the subject; empty for
	// none.
	Receipt string
}

// NewNotice returns the notice of a stored notification. pages is the address of the
// pages, empty for none.
func NewNotice(of store.Notification, pages string) *Notice {
	n := &Notice{ID: of.ID, Event: of.Event, At: of.Created, Subject: cmp.Or(of.Incident, of.Fingerprint), Receipt: of.Receipt}
	pages = strings.TrimSuffix(pages, "/")
	page := "/findings/"
	if of.Event == store.EventReport {
		n.Report, page = of.Payload, "/reports/"
		n.Title = "Keyheat's report"
		var r struct{ Name, Summary string }
		if json.Unmarshal(of.Payload, &r) == nil && r.Summary != "" {
			n.Title = wording.Printable(r.Name) + ": " + wording.Printable(r.Summary)
		}
	} else {
		n.readFinding(of.Payload)
	}
	if pages != "" {
		if n.URL = pages + page + of.Fingerprint; n.Group != nil {
			n.URL = n.groupPage(pages, n.URL)
		}
	}
	return n
}

func (n *Notice) readFinding(payload []byte) {
	n.Title = "Keyheat: an incident of a later version"
	p := detect.ReadPayload(payload)
	n.Document, n.IncidentDocument, n.Recent, n.Related = p.Finding, p.Incident, p.Recent, p.Related
	f, err := detect.ReadFinding(p.Finding)
	if n.Group = p.Group; n.Group != nil && (err != nil || f.Kind == "") {
		n.Title = say.GroupTitle(n.Group, &detect.Finding{})
	}
	if err != nil || f.Kind == "" {
		return
	}
	n.Finding = f
	if json.Unmarshal(p.Incident, &n.Incident) != nil || n.Incident.ID == "" {
		n.Incident = detect.Incident{
			ID: f.Incident, Target: f.Target, Severity: f.Severity, State: f.State, OpenedAt: f.FirstSeen, LastSeen: f.LastSeen, Findings: []string{f.Fingerprint},
		}
	}
	n.RunbookURL = n.Incident.RunbookURL
	n.Brief = say.New(&n.Finding)
	n.Title = n.Brief.Title
	if n.Group != nil {
		n.Title = say.GroupTitle(n.Group, &n.Finding)
	}
	if n.Incident.Labels[TestLabel] != "" {
		n.Title = "Test, nothing is wrong: " + n.Title
	}
}

// TestLabel marks the incident of a test of the way to a receiver.
const TestLabel = "keyheat_test"

// IsResolved reports whether the notice is of an end.
func (n *Notice) IsResolved() bool { return n.Event == string(detect.EventResolved) }

// Severity is the incident's or the group's; info of a report.
func (n *Notice) Severity() detect.Severity {
	if n.Group != nil {
		return n.Group.Severity
	}
	if n.Incident.Severity == "" {
		return detect.Info
	}
	return n.Incident.Severity
}

// OpenedAt is when the incident or the group began; zero where that is not known, and of a
// report.
func (n *Notice) OpenedAt() time.Time {
	if n.Group != nil {
		return n.Group.OpenedAt
	}
	return n.Incident.OpenedAt
}

// Table names the table or index that it is about, of a group the worst one's, or Keyheat
// itself, for people; empty of a report.
func (n *Notice) Table() string {
	if n.Incident.ID == "" {
		return ""
	}
	return wording.Place(n.Incident.Target)
}

// Headline is the title behind the incident's severity or its end.
func (n *Notice) Headline() string {
	switch detect.Event(n.Event) {
	case detect.EventResolved:
		return "[RESOLVED] " + n.Title
	case detect.EventUpdated:
		return "[" + strings.ToUpper(string(n.Severity())) + ", update] " + n.Title
	case detect.EventFiring:
		return "[" + strings.ToUpper(string(n.Severity())) + "] " + n.Title
	}
	return n.Title
}

// Lines are the five answers about an incident, in order; none of a group or a report.
// The end of an incident needs no remedy.
func (n *Notice) Lines() []say.Line {
	if n.Group != nil && n.Group.Total != 1 {
		return nil
	}
	all := n.Brief.Lines()
	if n.IsResolved() {
		all = slices.DeleteFunc(all, func(l say.Line) bool { return l.Name == say.LineNow || l.Name == say.LineThen })
	}
	return all
}

// Answers is [Notice.Lines] as text, a line each.
func (n *Notice) Answers() string {
	var all []string
	for _, l := range n.Lines() {
		all = append(all, l.Name+": "+l.Text)
	}
	return strings.Join(all, "\n")
}

// Fact is one line about an incident: a name, and a value that may hold other people's
// text.
type Fact struct {
	Name, Value string
	// Wide reports that the value is to stand in a line of its own.
	Wide bool
}

// Facts are what the title and the answers leave out, each under a name of its own; none
// for a report.
func (n *Notice) Facts() []Fact {
	if n.Group != nil {
		return n.groupFacts()
	}
	f := &n.Finding
	if f.Kind == "" {
		return nil
	}
	facts := n.delayFacts()
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, Fact{Name: name, Value: value})
		}
	}
	if key := wording.Printable(wording.Shorten(f.Key, maxKey)); !strings.Contains(n.Title, key) {
		add("Key", key)
	}
	if t := f.Target; t.Account != "" || t.Region != "" {
		add("Where", n.Table())
	}
	add("Owner", wording.Printable(n.Incident.Owner))
	if related := n.relatedText(); related != "" {
		facts = append(facts, Fact{Name: "Related findings", Value: related, Wide: len(n.Related) > 0})
	}
	if drawn := sparkline(n.Recent); drawn != "" {
		facts = append(facts, Fact{Name: "Load", Value: drawn, Wide: true})
	}
	return facts
}

// delayFacts is the delay as a fact; none where the notice is in time.
func (n *Notice) delayFacts() []Fact {
	if n.Delay == "" {
		return nil
	}
	return []Fact{{Name: "Delay", Value: n.Delay, Wide: true}}
}

func instant(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }

// relatedText says how many findings the incident has beside its root, and what the worst of
// them are about; nothing where there are none.
func (n *Notice) relatedText() string {
	all := len(n.Incident.Findings) - 1
	if all <= 0 {
		return ""
	}
	text := wording.Count(int64(all))
	for i, of := range n.Related {
		text += []string{": ", "; "}[min(i, 1)] + of
	}
	if more := all - len(n.Related); more > 0 && len(n.Related) > 0 {
		text += "; and " + wording.Count(int64(more)) + " more"
	}
	return text
}

// maxKey is how many characters of a key a message shows.
const maxKey = 200

// Link is a page about an incident: its address, and what stands on it.
type Link struct{ URL, Text string }

// Links are the pages to open; none of a report without a page.
func (n *Notice) Links() []Link {
	var all []Link
	for _, l := range []Link{{n.URL, "Details"}, {n.RunbookURL, "Runbook"}} {
		if l.URL != "" {
			all = append(all, l)
		}
	}
	return all
}

// Text is the notice as plain text of several lines.
func (n *Notice) Text() string {
	var b strings.Builder
	b.WriteString(n.Headline() + "\n")
	if answers := n.Answers(); answers != "" {
		b.WriteString("\n" + answers + "\n")
	}
	for _, f := range n.Facts() {
		fmt.Fprintf(&b, "\n%s: %s", f.Name, f.Value)
	}
	for _, l := range n.Links() {
		fmt.Fprintf(&b, "\n%s: %s", l.Text, l.URL)
	}
	return b.String() + "\n"
}

// Cut returns at most so many bytes of a text, whole characters of it.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const ellipsis = "…"
	end := most - len(ellipsis)
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + ellipsis
}
