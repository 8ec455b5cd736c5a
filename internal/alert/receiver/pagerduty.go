package receiver

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/keyheat/keyheat/internal/settings/options"
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

func newPagerDuty(s Settings) (Notifier, error) {
	if len(s.Secret) != pagerDutyKey {
		return nil, options.Fault{Field: "secret", Err: fmt.Errorf("an integration key has %d characters, this has %d: take the key of the service's Events API v2 integration", pagerDutyKey, len(s.Secret))}
	}
	p := &pagerDuty{client: newClient("is the secret the key of an Events API v2 integration?"), url: pagerDutyURL, routingKey: s.Secret}
	if s.URL != "" {
		p.url = s.URL
	}
	return p, nil
}

// Notify implements Notifier.
func (p *pagerDuty) Notify(ctx context.Context, n *Notice) Response {
	if n.Event == store.EventReport {
		return Response{} // a report pages nobody
	}
	r, _ := p.post(ctx, p.url, p.event(n), nil)
	return r
}

func (p *pagerDuty) event(n *Notice) object {
	e := object{"routing_key": p.routingKey, "event_action": "resolve", "dedup_key": n.Subject}
	if n.IsResolved() {
		return e
	}
	e["event_action"], e["client"], e["client_url"] = "trigger", "Keyheat", n.URL
	var links []object
	for _, l := range n.Links() {
		links = append(links, object{"href": l.URL, "text": l.Text})
	}
	if links != nil {
		e["links"] = links
	}
	details := make(map[string]string)
	for _, f := range n.Facts() {
		details[f.Name] = f.Value
	}
	for _, l := range n.Lines() {
		details[l.Name] = Cut(l.Text, pagerDutyDetail)
	}
	since := ""
	if at := n.OpenedAt(); !at.IsZero() {
		since = at.UTC().Format(time.RFC3339)
	}
	e["payload"] = dropEmpty(object{
		"summary": Cut(n.Headline(), pagerDutySummary), "source": cmp.Or(n.Table(), "keyheat"), "timestamp": since,
		"severity":  string(n.Severity()), // critical, warning and info are PagerDuty's words, too
		"component": n.Table(), "group": n.Labels()["owner"], "class": n.Labels()["case"], "custom_details": dropEmpty(details),
	})
	return dropEmpty(e)
}
