package receiver

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/notify"
	"github.com/keyheat/keyheat/store"
)

const (
	// jsmURL is the base of Opsgenie's alert API within Jira Service Management.
	jsmURL = "https://api.atlassian.com/jsm/ops/integration"
	// The API's limits on a message and a description, in characters.
	jsmMessage     = 130
	jsmDescription = 15000
)

// jsm opens and closes alerts in Jira Service Management, whose integrations have
// Opsgenie's alert API. The incident's ID is the alert's alias, so that a repetition
// opens no second alert.
type jsm struct {
	client
	url    string
	header http.Header
}

func newJSM(s notify.Settings) (notify.Notifier, error) {
	base := jsmURL
	if s.URL != "" {
		base = strings.TrimSuffix(s.URL, "/")
	}
	return &jsm{client: newClient("is the secret the key of an API integration?"), url: base + "/v2/alerts", header: http.Header{"Authorization": {"GenieKey " + s.Secret}}}, nil
}

// jsmAlert is the request that creates an alert.
type jsmAlert struct {
	Message     string            `json:"message"`
	Alias       string            `json:"alias"`
	Description string            `json:"description"`
	Entity      string            `json:"entity,omitempty"`
	Source      string            `json:"source"`
	Priority    string            `json:"priority"`
	Tags        []string          `json:"tags,omitempty"`
	Details     map[string]string `json:"details,omitempty"`
}

// Notify implements Notifier.
func (j *jsm) Notify(ctx context.Context, n *notify.Notice) notify.Response {
	if n.Event == store.EventReport {
		return notify.Response{} // a report is no alert
	}
	if n.IsResolved() {
		r, _ := j.post(ctx, j.alert(n, "close"), map[string]string{"source": "keyheat", "note": notify.Cut(n.Headline(), jsmDescription)}, j.header)
		return r
	}
	if n.Event == string(detect.EventUpdated) {
		return j.update(ctx, n)
	}
	r, _ := j.post(ctx, j.url, jsmAlertOf(n), j.header)
	return r
}

// update raises the priority of the alert and rewrites it, since creation under an
// existing alias would not. Each request may be repeated.
func (j *jsm) update(ctx context.Context, n *notify.Notice) notify.Response {
	a := jsmAlertOf(n)
	for _, change := range []jsmChange{{"priority", a.Priority}, {"message", a.Message}, {"description", a.Description}} {
		if r, _ := j.send(ctx, http.MethodPut, j.alert(n, change.field), map[string]string{change.field: change.value}, j.header); r.Err != nil {
			return r
		}
	}
	return notify.Response{}
}

// jsmChange is a new value for a field of an alert. Each field has an address of its own.
type jsmChange struct{ field, value string }

// alert is the address of an action on an incident's alert.
func (j *jsm) alert(n *notify.Notice, action string) string {
	return j.url + "/" + url.PathEscape(n.Subject) + "/" + action + "?identifierType=alias"
}

func jsmAlertOf(n *notify.Notice) jsmAlert {
	details := make(map[string]string)
	for _, f := range n.Facts() {
		details[f.Name] = f.Value
	}
	details["Runbook"] = n.RunbookURL
	return jsmAlert{
		Message: notify.Cut(n.Headline(), jsmMessage), Alias: n.Subject, Description: notify.Cut(n.Text(), jsmDescription),
		Entity: n.Table(), Source: "keyheat", Priority: jsmPriority(n.Severity()), Tags: []string{"keyheat"}, Details: dropEmpty(details),
	}
}

// jsmPriority returns a severity as one of P1 to P5.
func jsmPriority(s detect.Severity) string {
	switch s {
	case detect.Critical:
		return "P1"
	case detect.Warning:
		return "P3"
	case detect.Info:
	}
	return "P5"
}
