package receiver

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/store"
)

const (
	// jsmURL is the base of Opsgenie's alert API within Jira Service Management.
	jsmURL = "https://api.atlassian.com/jsm/ops/integration"
	// The API's limits on a message, a description and an entity, in characters.
	jsmMessage     = 130
	jsmDescription = 15000
	jsmEntity      = 512
)

// jsm opens and closes alerts in Jira Service Management, whose integrations have
// Opsgenie's alert API. The incident's ID is the alert's alias, so that a repetition
// opens no second alert.
type jsm struct {
	client
	url    string
	header http.Header
}

func newJSM(s Settings) (Notifier, error) {
	base := jsmURL
	if s.URL != "" {
		base = strings.TrimSuffix(s.URL, "/")
	}
	return &jsm{client: newClient("is the secret the key of an API integration?"), url: base + "/v2/alerts", header: http.Header{"Authorization": {"GenieKey " + s.Secret}}}, nil
}

// Notify implements Notifier.
func (j *jsm) Notify(ctx context.Context, n *Notice) Response {
	if n.Event == store.EventReport {
		return Response{} // a report is no alert
	}
	if n.IsResolved() {
		r, _ := j.post(ctx, j.alert(n, "close"), object{"source": "keyheat", "note": Cut(n.Headline(), jsmDescription)}, j.header)
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
func (j *jsm) update(ctx context.Context, n *Notice) Response {
	a := jsmAlertOf(n)
	for _, field := range []string{"priority", "message", "description"} { // each has an address of its own
		if r, _ := j.send(ctx, http.MethodPut, j.alert(n, field), object{field: a[field]}, j.header); r.Err != nil {
			return r
		}
	}
	return Response{}
}

func (j *jsm) alert(n *Notice, action string) string {
	return j.url + "/" + url.PathEscape(n.Subject) + "/" + action + "?identifierType=alias"
}

func jsmAlertOf(n *Notice) object {
	details := make(map[string]string)
	for _, f := range n.Facts() {
		details[f.Name] = f.Value
	}
	details["Runbook"] = n.RunbookURL
	return dropEmpty(object{
		"message": Cut(n.Headline(), jsmMessage), "alias": n.Subject, "description": Cut(n.Text(), jsmDescription),
		"entity": Cut(n.Table(), jsmEntity), "source": "keyheat", "priority": jsmPriority(n.Severity()), "tags": []string{"keyheat"}, "details": dropEmpty(details),
	})
}

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
