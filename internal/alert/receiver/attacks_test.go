package receiver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/aws/awserror"
	attack "github.com/keyheat/keyheat/internal/testsupport/hostile"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/store"
)

// TestNoReceiverIsSentATextRaw sends notices of every kind of finding and every fix to every
// type of receiver. Every text of a sample in them is an attack, and some keys are long. The
// fakes refuse what is too long, or of a type that is interpreted.
func TestNoReceiverIsSentATextRaw(t *testing.T) {
	var check func(r *http.Request, body []byte) string // of the type that is told
	taken := serve(t, func(r *http.Request, body []byte) string { return check(r, body) }, snsAnswer)
	toSNS(t, taken.url)
	box := serveMail(t)
	checks := map[receiver.Type]func(*http.Request, []byte) string{
		receiver.Slack:     func(_ *http.Request, body []byte) string { return slackCheck(body) },
		receiver.PagerDuty: pagerDutyCheck, receiver.JSM: jsmCheck, receiver.Teams: teamsCheck, receiver.SNS: snsCheck,
	}
	settings := map[receiver.Type]receiver.Settings{
		receiver.Slack: {URL: taken.url}, receiver.PagerDuty: {Secret: key32, URL: taken.url}, receiver.JSM: {Secret: "key", URL: taken.url}, receiver.Teams: {URL: taken.url},
		receiver.Alertmanager: {URL: taken.url}, receiver.Webhook: {URL: taken.url}, receiver.SNS: {Topic: "arn:aws:sns:eu-west-1:111122223333:on-call"},
		receiver.Email: {Server: box.address, From: "keyheat@example.com", To: []string{"a@example.com"}},
	}
	for _, typ := range receiver.Types() {
		s, known := settings[typ]
		if s.Type = typ; !known {
			t.Errorf("%s: give its settings here", typ)
			continue
		}
		if check = checks[typ]; check == nil {
			check = func(*http.Request, []byte) string { return "" }
		}
		to, m := open(t, s), attack.New(3)
		kinds, fixes := attack.Abouts(), detect.Fixes()
		events := []detect.Event{detect.EventFiring, detect.EventUpdated, detect.EventResolved}
		for n := range max(len(kinds)*len(events), len(fixes)) {
			kind, event, fix := kinds[n/len(events)%len(kinds)], events[n%len(events)], fixes[n%len(fixes)]
			mails, before := len(box.taken()), len(taken.requests())
			tell(t, to, attackNotice(t, m, kind, event, fix))
			if n < len(events) {
				tell(t, to, notice(t, event, detect.Critical, hostile))
			}
			for _, r := range taken.requests()[before:] {
				if wrong := faultOfRequest(t, typ, r); wrong != "" {
					t.Fatalf("%s of %s, %s, to %s: %s", event, kind, fix, typ, wrong)
				}
			}
			for _, text := range box.taken()[mails:] {
				if wrong := faultOfMail(t, text); wrong != "" {
					t.Fatalf("%s of %s, %s, by mail: %s", event, kind, fix, wrong)
				}
			}
		}
	}
}

func attackNotice(t *testing.T, m *attack.Maker, about any, event detect.Event, fix detect.Fix) *receiver.Notice {
	t.Helper()
	f := m.Finding(about)
	f.Fingerprint, f.Incident = incidentID, incidentID
	f.Advice = []detect.Step{detect.NewStep(fix)}
	i := m.Incident(&f)
	document, err := json.Marshal(f)
	must.Succeed(t, err)
	p, err := detect.NewPayload(&i, document)
	must.Succeed(t, err)
	other := m.Finding(about)
	other.Fingerprint = "other"
	p.Related = []string{other.Fingerprint}
	p.Recent = &detect.Recent{From: time.Now(), Unit: attack.Text, Limit: 1000, Loads: []*float64{nil, new(1500.0)}}
	payload, err := json.Marshal(p)
	must.Succeed(t, err)
	return receiver.NewNotice(store.Notification{ID: "n1", Event: string(event), Incident: incidentID, Fingerprint: incidentID, Created: time.Now(), Payload: payload}, "https://keyheat.example.com/", stored(t, f, other))
}

// faultOfRequest returns what a request has that is more than to be read. Programs read a
// webhook's documents: of these the bytes are inert, and the texts for people.
func faultOfRequest(t *testing.T, typ receiver.Type, r request) string {
	t.Helper()
	switch typ {
	case receiver.SNS:
		values, err := url.ParseQuery(string(r.body))
		must.Succeed(t, err)
		for name, all := range values {
			if wrong := attack.Fault(all[0]); wrong != "" {
				return name + " has " + wrong
			}
		}
		return ""
	case receiver.Webhook:
		var m receiver.Message
		must.Succeed(t, json.Unmarshal(r.body, &m))
		inert(t, "webhook", string(r.body))
		texts, err := json.Marshal([]any{m.Title, m.FirstFix, m.URL, m.Related})
		must.Succeed(t, err)
		return attack.FaultInJSON(texts)
	case receiver.Alertmanager:
		if wrong := markupInAlerts(t, r.body); wrong != "" {
			return wrong
		}
	}
	if wrong := attack.FaultInJSON(r.body); wrong != "" {
		return wrong
	}
	if typ == receiver.Slack { // the text of its notification is markup
		var m struct{ Text string }
		if err := json.Unmarshal(r.body, &m); err != nil || markup.MatchString(m.Text) {
			return fmt.Sprintf("markup in %q (%v)", m.Text, err)
		}
	}
	return ""
}

// markupInAlerts returns what a chat or mail would act on: Alertmanager's templates hand labels
// and annotations to them as they are.
func markupInAlerts(t *testing.T, body []byte) string {
	t.Helper()
	var alerts []struct{ Labels, Annotations map[string]string }
	must.Succeed(t, json.Unmarshal(body, &alerts))
	for _, a := range alerts {
		if a.Labels["team"] == "" || a.Annotations["summary"] == "" {
			return fmt.Sprintf("an alert without a label or annotation: %+v", a)
		}
		delete(a.Annotations, "url")
		delete(a.Annotations, "runbook_url")
		for _, values := range []map[string]string{a.Labels, a.Annotations} {
			for name, value := range values {
				if found := markup.FindString(value); found != "" {
					return fmt.Sprintf("%s with %q: %.200q", name, found, value)
				}
			}
		}
	}
	return ""
}

func faultOfMail(t *testing.T, text string) string {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(text))
	must.Succeed(t, err)
	if len(m.Header["Subject"]) != 1 || !strings.HasPrefix(m.Header.Get("Content-Type"), "text/plain") {
		return fmt.Sprintf("the header %v", m.Header)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	body, errBody := io.ReadAll(quotedprintable.NewReader(m.Body))
	if err != nil || errBody != nil {
		t.Fatal(err, errBody)
	}
	return attack.Fault(strings.ReplaceAll(subject+"\n"+string(body), "\r\n", "\n"))
}

// TestAttacksBySize: of an answer of a gigabyte little is read, whatever the receiver's type.
func TestAttacksBySize(t *testing.T) {
	var taken atomic.Int64
	gigabyte := func(w io.Writer, block string) {
		for taken.Load() < 1<<30 {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
			taken.Add(int64(len(block)))
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		gigabyte(w, strings.Repeat("{", 64<<10))
	}))
	t.Cleanup(server.Close)
	toSNS(t, server.URL)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() { // a mail server whose greeting never ends
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			gigabyte(conn, "220 "+strings.Repeat("a", 64<<10))
			_ = conn.Close()
		}
	}()
	m := attack.New(3)
	for typ, s := range map[receiver.Type]receiver.Settings{
		receiver.Slack: {URL: server.URL}, receiver.PagerDuty: {Secret: key32, URL: server.URL}, receiver.JSM: {Secret: "key", URL: server.URL}, receiver.Teams: {URL: server.URL},
		receiver.Alertmanager: {URL: server.URL}, receiver.Webhook: {URL: server.URL}, receiver.SNS: {Topic: "arn:aws:sns:eu-west-1:111122223333:on-call"},
		receiver.Email: {Server: l.Addr().String(), From: "keyheat@example.com", To: []string{"a@example.com"}},
	} {
		s.Type = typ
		taken.Store(0)
		open(t, s).Notify(t.Context(), attackNotice(t, m, attack.Abouts()[0], detect.EventFiring, detect.FixShardedKey))
		if taken.Load() > 4*awserror.MaxResponse {
			t.Errorf("%s: %d MiB were read", typ, taken.Load()>>20)
		}
	}
}
