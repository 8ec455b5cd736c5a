package receiver

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/settings/options"
)

// Message is the body of a webhook.
type Message struct {
	// ID is the same on every attempt.
	ID string `json:"id"`
	// Event is the incident's event: firing, updated or resolved; or report, without an
	// incident.
	Event string `json:"event"`
	// At is the time when the notification was put into the outbox.
	At time.Time `json:"at"`
	// Title names the matter in one line, Summary is its cause in a sentence, FirstFix
	// what to do now, and Text all five answers, a line each. A report has a title alone.
	Title    string `json:"title"`
	Summary  string `json:"summary,omitempty"`
	FirstFix string `json:"first_fix"`
	Text     string `json:"text,omitempty"`
	// URL is the finding's page; empty while the pages' public address is unknown.
	URL string `json:"url"`
	// RunbookURL is the address of the owner's own instructions; empty for none.
	RunbookURL string `json:"runbook_url"`
	// Delay describes the message's delay and its cause; absent in time.
	Delay string `json:"delay,omitempty"`
	// Incident is the incident's say.Incident at that time, Finding its root finding.
	Incident json.RawMessage `json:"incident,omitempty"`
	Finding  json.RawMessage `json:"finding,omitempty"`
	// Recent is the load of the finding's key before the notification, if known.
	Recent *detect.Recent `json:"recent,omitempty"`
	// Related are the titles of the worst other findings of the incident.
	Related []string `json:"related,omitempty"`
	// Report is a scheduled report in short.
	Report json.RawMessage `json:"report,omitempty"`
}

// webhook posts messages as Standard Webhooks specifies
// (https://www.standardwebhooks.com): headers webhook-id and webhook-timestamp, and
// webhook-signature if a secret is set.
type webhook struct {
	client
	url string
	key []byte
}

func newWebhook(s Settings) (Notifier, error) {
	key, err := signingKey(s.Secret)
	if err != nil {
		return nil, options.Fault{Field: "secret", Err: err}
	}
	return &webhook{client: newClient(ownLog), url: s.URL, key: key}, nil
}

// Notify implements Notifier.
func (w *webhook) Notify(ctx context.Context, n *Notice) Response {
	m := Message{
		ID: n.ID, Event: n.Event, At: n.At, Title: n.Title, Summary: n.Brief.Why, Text: n.Answers(), FirstFix: n.Brief.Now, URL: n.URL, RunbookURL: n.RunbookURL, Delay: n.Delay,
		Recent: n.Recent, Related: n.Related, Report: n.Report,
	}
	var failed, err error
	if m.Finding = n.Document; n.Finding.Subject != "" { // of this version
		f := n.Finding
		say.Tell(&f)
		m.Finding, failed = json.Marshal(f)
	}
	var i detect.Incident
	if m.Incident = n.IncidentDocument; json.Unmarshal(n.IncidentDocument, &i) == nil {
		m.Incident, err = json.Marshal(say.Incidents([]detect.Incident{i}, []detect.Finding{n.Finding})[0])
	}
	if err := errors.Join(failed, err); err != nil {
		return Response{Err: fmt.Errorf("write the finding: %w", err), Refused: true, Unsent: true}
	}
	body, err := json.Marshal(m)
	if err != nil {
		return Response{Err: fmt.Errorf("write the message: %w", err), Refused: true, Unsent: true}
	}
	body = neutralise(body)
	at := strconv.FormatInt(time.Now().Unix(), 10)
	header := http.Header{"Webhook-Id": {n.ID}, "Webhook-Timestamp": {at}}
	if w.key != nil {
		header.Set("webhook-signature", "v1,"+sign(w.key, n.ID, at, body))
	}
	r, _ := w.sendBytes(ctx, http.MethodPost, w.url, body, header)
	return r
}

// sign is Standard Webhooks' symmetric signature, version 1.
func sign(key []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// signingKey is the secret's bytes; none for no secret.
func signingKey(secret string) ([]byte, error) {
	if secret == "" {
		return nil, nil
	}
	text, ok := strings.CutPrefix(secret, "whsec_")
	b, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(b) < 24 || len(b) > 64 {
		return nil, errors.New(`not a secret of Standard Webhooks: give "whsec_" and 24 to 64 random bytes in base64`)
	}
	return b, nil
}
