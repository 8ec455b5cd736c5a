package receiver

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/store"
)

const (
	// alertmanagerEvery is the interval for posting a firing incident: Alertmanager ends
	// an alert that is not repeated.
	alertmanagerEvery = time.Minute
	// alertmanagerEnds is the lifetime of an alert without repetition. A reporter that
	// restarts, or another one that takes over, must not make it look resolved.
	alertmanagerEnds = 15 * time.Minute
	// alertLabel bounds the label values that hold other people's text.
	alertLabel = 200
	// alertmanagerPath follows the address of an Alertmanager.
	alertmanagerPath = "/api/v2/alerts"
)

// alertmanager posts alerts to Prometheus's Alertmanager, API v2. Its labels, for its routes,
// grouping and silences, are the incident's identity: alertname, account, region, table,
// index, case, subject, key, severity, incident, and the policy's labels.
type alertmanager struct {
	client
	url    string
	header http.Header
}

func newAlertmanager(s Settings) (Notifier, error) {
	base := strings.TrimSuffix(s.URL, "/")
	if strings.HasSuffix(base, alertmanagerPath) {
		return nil, options.Fault{Field: "url", Err: errors.New("give Alertmanager's address without " + alertmanagerPath)}
	}
	a := &alertmanager{client: newClient("is url its address, with its route prefix if it has one? " + ownLog), url: base + alertmanagerPath}
	switch {
	case s.User != "":
		a.header = http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(s.User+":"+s.Secret))}}
	case s.Secret != "":
		a.header = http.Header{"Authorization": {"Bearer " + s.Secret}}
	}
	return a, nil
}

// Interval implements Repeater.
func (*alertmanager) Interval() time.Duration { return alertmanagerEvery }

// Notify implements Notifier.
func (a *alertmanager) Notify(ctx context.Context, n *Notice) Response {
	if n.Event == store.EventReport {
		return Response{} // a report is no alert
	}
	r, _ := a.post(ctx, a.url, alertsOf(n, time.Now()), a.header)
	return r
}

// alertsOf returns the API's postableAlerts of an incident's present state. A changed label makes
// another alert, so it ends the alert under the incident's previous severity.
func alertsOf(n *Notice, now time.Time) []object {
	ends := now.Add(alertmanagerEnds)
	if n.IsResolved() {
		ends = now
	}
	alerts := []object{newAlert(n, n.Severity(), ends)}
	if n.Severity() == detect.Critical && n.Event != string(detect.EventFiring) {
		alerts = append(alerts, newAlert(n, detect.Warning, now))
	}
	return alerts
}

func newAlert(n *Notice, severity detect.Severity, ends time.Time) object {
	labels := n.Labels()
	labels["alertname"], labels["severity"], labels["incident"] = "KeyheatIncident", string(severity), n.Subject
	labels["key"] = wording.Printable(wording.Shorten(n.Finding.Key, alertLabel))
	starts := n.OpenedAt()
	if starts.IsZero() {
		starts = n.At
	}
	if starts.After(ends) { // another clock is ahead
		starts = ends
	}
	annotations := map[string]string{"summary": n.Title, "description": n.Answers(), "first_fix": n.Brief.Now, "delay": n.Delay}
	for _, values := range []map[string]string{labels, annotations} {
		for name, value := range values {
			values[name] = inert(value)
		}
	}
	annotations["url"], annotations["runbook_url"] = n.URL, n.RunbookURL
	return dropEmpty(object{
		"labels":      dropEmpty(labels), // Alertmanager treats an empty label as absent
		"annotations": dropEmpty(annotations),
		"startsAt":    starts.UTC(), "endsAt": ends.UTC(), "generatorURL": n.URL,
	})
}
