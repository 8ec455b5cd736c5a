package receiver

import (
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/alert/notify"
	"github.com/keyheat/keyheat/store"
)

const (
	pagerDutyURL = "https://events.pagerduty.com/v2/enqueue"
	// PagerDuty's limits on a summary, in characters, and on custom details: an event as
	// a whole may have 512 KB.
	pagerDutySummary = 1024
	pagerDutyDetail  = 16 << 10
	// pagerDutyKey is the length of an integration key.
	pagerDutyKey = 32
)

// pagerDuty sends events to PagerDuty's Events API v2. The incident's ID deduplicates
// them, so that a repetition, or a worse severity, opens no other incident.
type pagerDuty struct {
	client
	url, routingKey string
}

func newPagerDuty(s notify.Settings) (notify.Notifier, error) {
	if len(s.Secret) != pagerDutyKey {
		return nil, notify.Fault{Field: "secret", Err: fmt.Errorf("an integration key has %d characters, this has %d: take the key of the service's Events API v2 integration", pagerDutyKey, len(s.Secret))}
	}
	p := &pagerDuty{client: newClient("is the secret the key of an Events API v2 integration?"), url: pagerDutyURL, routingKey: s.Secret}
	if s.URL != "" {
		p.url = s.URL
	}
	return p, nil
}

// pagerDutyEvent is an event of the Events API v2.
type pagerDutyEvent struct {
	RoutingKey  string            `json:"routing_key"`
	EventAction string            `json:"event_action"`
	DedupKey    string            `json:"dedup_key"`
	Client      string            `json:"client,omitempty"`
	ClientURL   string            `json:"client_url,omitempty"`
	Links       []pagerDutyLink   `json:"links,omitempty"`
	Payload     *pagerDutyPayload `json:"payload,omitempty"`
}

type pagerDutyLink struct {
	Href string `json:"href"`
	Text string `json:"text"`
}

type pagerDutyPayload struct {
	Summary       string            `json:"summary"`
	Source        string            `json:"source"`
	Severity      string            `json:"severity"`
	Timestamp     string            `json:"timestamp,omitempty"`
	Component     string            `json:"component,omitempty"`
	Group         string            `json:"group,omitempty"`
	Class         string            `json:"class,omitempty"`
	CustomDetails map[string]string `json:"custom_details,omitempty"`
}

// Notify implements Notifier.
func (p *pagerDuty) Notify(ctx context.Context, n *notify.Notice) notify.Response {
	if n.Event == store.EventReport {
		return notify.Response{} // a report pages nobody
	}
	r, _ := p.post(ctx, p.url, p.event(n), nil)
	return r
}

func (p *pagerDuty) event(n *notify.Notice) pagerDutyEvent {
	e := pagerDutyEvent{RoutingKey: p.routingKey, EventAction: "resolve", DedupKey: n.Subject}
	if n.IsResolved() {
		return e
	}
	e.EventAction, e.Client, e.ClientURL = "trigger", "Keyheat", n.URL
	for _, l := range n.Links() {
		e.Links = append(e.Links, pagerDutyLink{Href: l.URL, Text: l.Text})
	}
	details := make(map[string]string)
	for _, f := range n.Facts() {
		details[f.Name] = f.Value
	}
	for _, l := range n.Lines() {
		details[l.Name] = notify.Cut(l.Text, pagerDutyDetail)
	}
	source := n.Table()
	if source == "" {
		source = "keyheat"
	}
	e.Payload = &pagerDutyPayload{
		Summary: notify.Cut(n.Headline(), pagerDutySummary), Source: source, Severity: string(n.Severity()), // critical, warning and info are PagerDuty's words, too

		Component: n.Table(), Group: n.Labels()["owner"], Class: n.Labels()["kind"], CustomDetails: dropEmpty(details),
	}
	if since := n.OpenedAt(); !since.IsZero() {
		e.Payload.Timestamp = since.UTC().Format(time.RFC3339)
	}
	return e
}
