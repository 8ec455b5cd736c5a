package receiver

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/store"
)

// Notice is one notification in the form for receivers.
type Notice struct {
	// ID is the same on every attempt.
	ID string
	// Event is the incident's event, in detect's words, or store.EventReport.
	Event string
	// At is the time when the notification was put into the outbox.
	At time.Time
	// Subject is the common name of notices about one matter: the incident's ID, or
	// the report's.
	Subject string
	// Incident and Finding, its root, are as they were then. They are empty if the
	// finding cannot be read, such as one of a later version.
	Incident detect.Incident
	Finding  detect.Finding
	// Document and IncidentDocument are the JSON of the finding and the incident at that
	// time. Report is a scheduled report in short, in a notice of one.
	Document, IncidentDocument, Report json.RawMessage
	// Title names the matter in one line; Brief has the five answers about an incident,
	// and is empty for a report.
	Title string
	Brief say.Brief
	// Delay describes the notice's delay and its cause; empty in time.
	Delay string
	// Recent is the load of the finding's key before the notification; nil if unknown.
	Recent *detect.Recent
	// Related are the titles of the worst other findings of the incident.
	Related []string
	// RunbookURL is the address of the owner's own instructions; empty for none.
	RunbookURL string
	// URL is the matter's page; empty while the pages' public address is unknown.
	URL string
	// Receipt is the receiver's answer to an earlier notice of the subject; empty for
	// none.
	Receipt string
}

// ListNamed returns the fingerprints of the findings that a notification names beside its own.
func ListNamed(stored *store.Notification) []string {
	return detect.ReadPayload(stored.Payload).Related
}

// NewNotice returns the notice of a stored notification. pages is the address of the
// pages, empty for none. named are the stored findings among the ones that it names.
func NewNotice(stored store.Notification, pages string, named []store.Finding) *Notice {
	n := &Notice{ID: stored.ID, Event: stored.Event, At: stored.Created, Subject: cmp.Or(stored.Incident, stored.Fingerprint), Receipt: stored.Receipt}
	pages = strings.TrimSuffix(pages, "/")
	page := "/findings/"
	if stored.Event == store.EventReport {
		n.Report, page = stored.Payload, "/reports/"
		n.Title = "Keyheat's report"
		n.readReport()
	} else {
		p := detect.ReadPayload(stored.Payload)
		n.readFinding(p)
		n.addTitles(&p, named)
	}
	if pages != "" {
		n.URL = pages + page + stored.Fingerprint
	}
	return n
}

func (n *Notice) readReport() {
	r, err := report.ReadNotice(n.Report)
	if err != nil || r.Summary == "" {
		return
	}
	n.Title = wording.Printable(r.Name) + ": " + wording.Printable(r.Summary)
	if document, err := json.Marshal(r); err == nil {
		n.Report = document
	}
}

func (n *Notice) addTitles(p *detect.Payload, named []store.Finding) {
	titles := make(map[string]string, len(named))
	for _, stored := range named {
		if f, err := detect.ReadFinding(stored.Document); err == nil && f.Subject != "" {
			titles[stored.Fingerprint] = say.Title(&f)
		}
	}
	for _, fingerprint := range p.Related {
		if title := titles[fingerprint]; title != "" {
			n.Related = append(n.Related, title)
		}
	}
}

func (n *Notice) readFinding(p detect.Payload) {
	n.Title = "Keyheat: an incident of a later version"
	n.Document, n.IncidentDocument, n.Recent = p.Finding, p.Incident, p.Recent
	f, err := detect.ReadFinding(p.Finding)
	if err != nil || f.Subject == "" {
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
	if n.Incident.Labels[TestLabel] != "" {
		n.Title = "Test, nothing is wrong: " + n.Title
	}
}

// TestLabel marks the incident of a receiver's test.
const TestLabel = "keyheat_test"

// IsResolved reports whether the notice reports a resolved incident.
func (n *Notice) IsResolved() bool { return n.Event == string(detect.EventResolved) }

// Severity is the incident's severity; info for a report.
func (n *Notice) Severity() detect.Severity {
	if n.Incident.Severity == "" {
		return detect.Info
	}
	return n.Incident.Severity
}

// OpenedAt is the start of the incident; zero if unknown, and for a report.
func (n *Notice) OpenedAt() time.Time {
	return n.Incident.OpenedAt
}

// Table names the notice's table or index for people, or Keyheat itself. A report has
// none.
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

// Lines are the five answers about an incident, in order; none of a report. An end
// needs no remedy.
func (n *Notice) Lines() []say.Line {
	brief := n.Brief
	if n.Incident.Told != nil && n.Incident.Told.Undecided {
		brief.Heals += " An update follows."
	}
	return slices.DeleteFunc(brief.Lines(), func(l say.Line) bool {
		return n.IsResolved() && (l.Name == say.LineNow || l.Name == say.LineThen)
	})
}

// Answers is [Notice.Lines] as text, a line each.
func (n *Notice) Answers() string { return say.Text(n.Lines()) }

// Fact is one line about an incident: a name, and a value that may hold other people's
// text.
type Fact struct {
	Name, Value string
}

// Facts are what the title and the answers leave out, each under a name of its own; none
// for a report.
func (n *Notice) Facts() []Fact {
	f := &n.Finding
	if f.Subject == "" {
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
		facts = append(facts, Fact{Name: "Related findings", Value: related})
	}
	if drawn := sparkline(n.Recent); drawn != "" {
		facts = append(facts, Fact{Name: "Load", Value: drawn})
	}
	return facts
}

func (n *Notice) delayFacts() []Fact {
	if n.Delay == "" {
		return nil
	}
	return []Fact{{Name: "Delay", Value: n.Delay}}
}

// relatedText counts the findings beside the incident's root, and describes the worst of
// them; empty without any.
func (n *Notice) relatedText() string {
	all := len(n.Incident.Findings) - 1
	if all <= 0 {
		return ""
	}
	text := wording.Count(int64(all))
	if len(n.Related) == 0 {
		return text
	}
	text += ": " + strings.Join(n.Related, "; ")
	if more := all - len(n.Related); more > 0 {
		text += "; and " + wording.Count(int64(more)) + " more"
	}
	return text
}

const maxKey = 200

// Link is a page about an incident: its address, and the text of the link.
type Link struct{ URL, Text string }

// Links are the pages to open; none for a report without a page.
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

// Cut shortens a text to at most the given bytes, in whole characters.
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
