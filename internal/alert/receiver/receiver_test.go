package receiver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/quotedprintable"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/goleak"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hostile is a key that every receiver has to show as text.
var hostile = "<!channel> <https://evil.example|click> *b* [x](https://evil.example) <script>alert(1)</script> \x1b[31m\u202egnp.exe\r\nSubject: injected\x00 @everyone {{ .Labels }} " + strings.Repeat("long", 512)

const runbook = "https://wiki.example.com/dynamodb#hot_key"

const incidentID = "0123456789abcdef0123456789abcdef"

// notice is one of a hot key of the table orders.
func notice(t *testing.T, event detect.Event, severity detect.Severity, key string) *receiver.Notice {
	t.Helper()
	f, other, p := payloadOf(t, event, severity, key)
	return noticeOf(t, event, f.Fingerprint, p, other)
}

func payloadOf(t *testing.T, event detect.Event, severity detect.Severity, key string) (f, other detect.Finding, p detect.Payload) {
	t.Helper()
	f = detect.NewFinding(detect.KeyWrites, detect.Target{Account: "111122223333", Region: "eu-west-1", Table: "orders"}, sample.Key{Text: key, Type: "S"})
	at := time.Date(2025, 11, 22, 12, 0, 0, 0, time.UTC)
	f.Severity, f.State, f.FirstSeen, f.LastSeen = severity, detect.Firing, at, at.Add(4*time.Minute)
	f.Ground, f.Shards = detect.GroundItem, 3
	f.Peak.WCU = detect.Figure{Value: 1500, Low: 1490, High: 1510}
	f.Advice = []detect.Step{detect.NewStep(detect.FixShardedKey)}
	f.Case = casebook.Diagnose(&f)
	i := detect.Incident{
		ID: incidentID, Case: f.Case, Subject: f.Subject, Target: f.Target, Severity: severity, State: detect.Firing, OpenedAt: at, LastSeen: f.LastSeen,
		Root: f.Fingerprint, Findings: []string{f.Fingerprint, "other", "third"}, Labels: map[string]string{"team": "checkout"}, Owner: "payments",
		RunbookURL: runbook, Notified: []string{}, Quality: f.Quality,
	}
	document, err := json.Marshal(f)
	must.Succeed(t, err)
	if p, err = detect.NewPayload(&i, document); err != nil {
		t.Fatal(err)
	}
	other = detect.NewFinding(detect.KeyWrites, f.Target, sample.Key{Text: key + "/2", Type: "S"})
	other.Peak.WCU.Value = 1200
	if event != detect.EventResolved {
		p.Related = []string{other.Fingerprint}
		p.Recent = &detect.Recent{From: at.Add(-4 * time.Second), Unit: "wcu", Limit: 1000, Loads: []*float64{nil, new(80.0), new(700.0), nil, new(1500.0)}}
	}
	return f, other, p
}

func noticeOf(t *testing.T, event detect.Event, fingerprint string, p detect.Payload, named ...detect.Finding) *receiver.Notice {
	t.Helper()
	payload, err := json.Marshal(p)
	must.Succeed(t, err)
	return receiver.NewNotice(store.Notification{
		ID: "n1", Event: string(event), Incident: incidentID, Fingerprint: fingerprint, Created: time.Date(2025, 11, 22, 12, 0, 0, 0, time.UTC), Payload: payload,
	}, "https://keyheat.example.com/", stored(t, named...))
}

// stored returns findings as the store has them.
func stored(t *testing.T, found ...detect.Finding) (all []store.Finding) {
	t.Helper()
	for _, f := range found {
		document, err := json.Marshal(f)
		must.Succeed(t, err)
		all = append(all, store.Finding{Fingerprint: f.Fingerprint, Document: document})
	}
	return all
}

func open(t *testing.T, s receiver.Settings) receiver.Notifier {
	t.Helper()
	n, err := receiver.New(s)
	must.Succeed(t, err)
	if c, ok := n.(interface{ Close() }); ok {
		t.Cleanup(c.Close)
	}
	return n
}

// tell makes one attempt that has to succeed.
func tell(t *testing.T, n receiver.Notifier, what *receiver.Notice) receiver.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	r := n.Notify(ctx, what)
	if r.Err != nil {
		t.Fatalf("refused: %v", r.Err)
	}
	return r
}

const key32 = "0123456789abcdef0123456789abcdef"

// symptom is the part of a title between its place and its key: words.
var symptom = regexp.MustCompile(`: [a-z ]+ \(`)

func TestPagerDutyIsTriggeredAndResolvedUnderOneKey(t *testing.T) {
	t.Parallel()
	f := serve(t, pagerDutyCheck, accepted)
	n := open(t, receiver.Settings{Type: receiver.PagerDuty, Secret: key32, URL: f.url})
	for _, event := range []detect.Event{detect.EventFiring, detect.EventUpdated, detect.EventResolved} {
		tell(t, n, notice(t, event, detect.Critical, "merchant#7"))
	}
	tell(t, n, receiver.NewNotice(store.Notification{ID: "r", Event: store.EventReport, Fingerprint: "weekly", Created: time.Now(), Payload: []byte(`{}`)}, "", nil))
	var actions []string
	for _, r := range f.requests() {
		var e struct {
			EventAction string `json:"event_action"`
			DedupKey    string `json:"dedup_key"`
			Payload     struct {
				Summary, Severity, Class string
			}
		}
		must.Succeed(t, json.Unmarshal(r.body, &e))
		actions = append(actions, e.EventAction+" "+e.Payload.Severity+" "+e.Payload.Class+" "+symptom.ReplaceAllString(e.Payload.Summary, ": … ("))
		if e.DedupKey != incidentID {
			t.Errorf("deduplicated by %q", e.DedupKey)
		}
	}
	const title = "orders: … (“merchant#7”)"
	want := []string{"trigger critical hot_item [CRITICAL] " + title, "trigger critical hot_item [CRITICAL, update] " + title, "resolve   "}
	if fmt.Sprint(actions) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", actions, want)
	}
}

func TestSlackBotRewritesItsMessage(t *testing.T) {
	t.Parallel()
	f := serve(t, func(r *http.Request, body []byte) string {
		if r.Header.Get("Authorization") != "Bearer xoxb-token" {
			return "not_authed"
		}
		return slackCheck(body)
	}, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"ok":true,"channel":"C42","ts":"1732276800.000100"}`))
	})
	n := open(t, receiver.Settings{Type: receiver.Slack, Secret: "xoxb-token", Channel: "C0123456789", URL: f.url})
	first := tell(t, n, notice(t, detect.EventFiring, detect.Critical, "merchant#7"))
	over := notice(t, detect.EventResolved, detect.Critical, "merchant#7")
	over.Receipt = first.Receipt
	tell(t, n, over)
	got := f.requests()
	if len(got) != 2 || got[0].path != "/chat.postMessage?" || got[1].path != "/chat.update?" {
		t.Fatalf("got %d requests: %+v", len(got), got)
	}
	var update struct{ Channel, TS, Text string }
	if err := json.Unmarshal(got[1].body, &update); err != nil || update.Channel != "C42" || update.TS != "1732276800.000100" || !strings.HasPrefix(update.Text, "[RESOLVED] orders: ") {
		t.Errorf("updated %+v (%v)", update, err)
	}
}

// TestSlackSaysWhatToDo: its Web API answers 200 also when it refuses.
func TestSlackSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]receiver.Response{
		`{"ok":false,"error":"not_in_channel"}`:  {Err: errors.New("the answer from Slack is not_in_channel: invite the bot into the channel"), Refused: true, Unsent: true},
		`{"ok":false,"error":"ratelimited"}`:     {Err: errors.New("the answer from Slack is ratelimited: too many messages"), Unsent: true},
		`{"ok":false,"error":"canary-4711"}`:     {Err: errors.New("the answer from Slack is an error"), Refused: true, Unsent: true},
		`<html>a login page, canary-4711</html>`: {Err: errors.New("the receiver's answer is not from Slack's Web API"), Unsent: true},
	} {
		f := serve(t, func(_ *http.Request, body []byte) string { return slackCheck(body) }, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })
		n := open(t, receiver.Settings{Type: receiver.Slack, Secret: "xoxb-token", Channel: "C0123456789", URL: f.url})
		got := n.Notify(t.Context(), notice(t, detect.EventFiring, detect.Critical, "k"))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v, want %v", answer, got, want)
		}
	}
}

func TestJSMOpensAndClosesUnderOneAlias(t *testing.T) {
	t.Parallel()
	f := serve(t, jsmCheck, accepted)
	n := open(t, receiver.Settings{Type: receiver.JSM, Secret: "key", URL: f.url})
	for _, event := range []detect.Event{detect.EventFiring, detect.EventUpdated, detect.EventResolved} {
		tell(t, n, notice(t, event, detect.Warning, "merchant#7"))
	}
	var paths []string
	for _, r := range f.requests() {
		paths = append(paths, r.path)
	}
	const alert, alias = "/v2/alerts/" + incidentID, "?identifierType=alias"
	if want := []string{"/v2/alerts?", alert + "/priority" + alias, alert + "/message" + alias, alert + "/description" + alias, alert + "/close" + alias}; fmt.Sprint(paths) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", paths, want)
	}
}

func TestMailsOfAnIncidentAreOneThread(t *testing.T) {
	t.Parallel()
	box := serveMail(t)
	n := open(t, receiver.Settings{Type: receiver.Email, Server: box.address, From: "Keyheat <keyheat@example.com>", To: []string{"a@example.com", "b@example.com"}})
	tell(t, n, notice(t, detect.EventFiring, detect.Critical, "merchant#7"))
	tell(t, n, notice(t, detect.EventResolved, detect.Critical, "merchant#7"))
	mails := box.taken()
	if len(mails) != 2 {
		t.Fatalf("%d mails", len(mails))
	}
	for i, prefix := range []string{"[CRITICAL] orders: ", "[RESOLVED] orders: "} {
		m, err := mail.ReadMessage(strings.NewReader(mails[i]))
		must.Succeed(t, err)
		subject, err := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
		if err != nil || !strings.HasPrefix(subject, prefix) || !strings.HasSuffix(subject, "(“merchant#7”)") {
			t.Errorf("subject %q (%v), want %q", subject, err, prefix)
		}
		if got := m.Header.Get("References"); got != "<"+incidentID+"@example.com>" {
			t.Errorf("references %q", got)
		}
	}
}

func TestAMailServersRefusal(t *testing.T) {
	t.Parallel()
	for code, refused := range map[int]bool{550: true, 451: false} {
		box := serveMail(t)
		box.refuse = code
		n := open(t, receiver.Settings{Type: receiver.Email, Server: box.address, From: "keyheat@example.com", To: []string{"a@example.com"}})
		r := n.Notify(t.Context(), notice(t, detect.EventFiring, detect.Critical, "k"))
		if r.Err == nil || r.Refused != refused || !r.Unsent || strings.Contains(r.Err.Error(), "canary") || !strings.Contains(r.Err.Error(), fmt.Sprint(code)) {
			t.Errorf("%d: %+v", code, r)
		}
	}
}

// TestMailIsNotSentInTheClear: beyond loopback a server without TLS gets nothing.
func TestMailNeedsTLSBeyondLoopback(t *testing.T) {
	t.Parallel()
	box := serveMail(t)
	_, port, _ := strings.Cut(box.address, ":")
	// A name that is not known for loopback, though it leads there.
	n := open(t, receiver.Settings{Type: receiver.Email, Server: "127.0.0.1.:" + port, From: "keyheat@example.com", To: []string{"a@example.com"}})
	r := n.Notify(t.Context(), notice(t, detect.EventFiring, detect.Critical, "k"))
	if r.Err == nil || len(box.taken()) != 0 {
		t.Errorf("sent in the clear: %+v, %d mails", r, len(box.taken()))
	}
}

// toSNS has the SDK speak to a fake.
func toSNS(t *testing.T, url string) {
	t.Helper()
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_SNS": url, "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "SECRET", "AWS_CONFIG_FILE": "/dev/null", "AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, value)
	}
}

// snsCheck holds a request to "Publish" of the API reference.
func snsCheck(_ *http.Request, body []byte) string {
	v, err := url.ParseQuery(string(body))
	if err != nil {
		return err.Error()
	}
	subject := v.Get("Subject")
	switch {
	case v.Get("Action") != "Publish" || v.Get("TopicArn") == "" || v.Get("Message") == "" || len(v.Get("Message")) > 256<<10:
		return "InvalidParameter"
	case subject == "" || len(subject) > 100 || strings.ContainsFunc(subject, func(r rune) bool { return r < ' ' || r > '~' }):
		return "InvalidParameter: Subject " + subject
	case strings.HasSuffix(v.Get("TopicArn"), ".fifo") && (v.Get("MessageGroupId") != incidentID || v.Get("MessageDeduplicationId") != "n1"):
		return "InvalidParameter: MessageGroupId"
	}
	return ""
}

func snsAnswer(w http.ResponseWriter, _ *http.Request) {
	_, _ = w.Write([]byte(`<PublishResponse xmlns="https://sns.amazonaws.com/doc/2010-03-31/"><PublishResult><MessageId>1</MessageId></PublishResult></PublishResponse>`))
}

func TestSNS(t *testing.T) {
	f := serve(t, snsCheck, snsAnswer)
	toSNS(t, f.url)
	for _, name := range []string{"on-call", "on-call.fifo"} {
		n := open(t, receiver.Settings{Type: receiver.SNS, Topic: "arn:aws:sns:eu-west-1:111122223333:" + name})
		tell(t, n, notice(t, detect.EventFiring, detect.Critical, hostile))
	}
	v, err := url.ParseQuery(string(f.requests()[0].body))
	must.Succeed(t, err)
	if !strings.HasPrefix(v.Get("Subject"), "[CRITICAL] orders: ") {
		t.Errorf("subject %q", v.Get("Subject"))
	}
	inert(t, "sns", v.Get("Subject")+v.Get("Message"))
	attributes := map[string]string{}
	for i := 1; v.Has(fmt.Sprintf("MessageAttributes.entry.%d.Name", i)); i++ {
		entry := fmt.Sprintf("MessageAttributes.entry.%d.", i)
		attributes[v.Get(entry+"Name")] = v.Get(entry + "Value.StringValue")
	}
	if want := map[string]string{
		"event": "firing", "severity": "critical", "incident": incidentID, "account": "111122223333", "region": "eu-west-1", "table": "orders", "case": "hot_item", "subject": "key_writes",
	}; !maps.Equal(attributes, want) {
		t.Errorf("attributes %v, want %v", attributes, want)
	}
	if !strings.Contains(v.Get("Message"), "<!channel>") {
		t.Errorf("message without the key: %q", v.Get("Message"))
	}
}

func TestSNSRefusals(t *testing.T) {
	for code, refused := range map[string]bool{"NotFound": true, "Throttled": false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>canary-4711</Message></Error></ErrorResponse>`, code)
		}))
		toSNS(t, server.URL)
		n := open(t, receiver.Settings{Type: receiver.SNS, Topic: "arn:aws:sns:eu-west-1:111122223333:x"})
		r := n.Notify(t.Context(), notice(t, detect.EventFiring, detect.Critical, "k"))
		server.Close()
		if r.Err == nil || r.Refused != refused || !r.Unsent || strings.Contains(r.Err.Error(), "canary") {
			t.Errorf("%s: %+v", code, r)
		}
	}
}

func TestAlertmanagerEndsWhatChangesItsLabels(t *testing.T) {
	t.Parallel()
	f := serve(t, func(*http.Request, []byte) string { return "" }, accepted)
	n := open(t, receiver.Settings{Type: receiver.Alertmanager, URL: f.url + "/", User: "u", Secret: "p"})
	for _, event := range []detect.Event{detect.EventFiring, detect.EventUpdated, detect.EventResolved} {
		tell(t, n, notice(t, event, detect.Critical, "merchant#7"))
	}
	var got []string
	for _, r := range f.requests() {
		var alerts []struct {
			Labels           map[string]string
			StartsAt, EndsAt time.Time
		}
		must.Succeed(t, json.Unmarshal(r.body, &alerts))
		var states []string
		for _, a := range alerts {
			state := "ends"
			if a.EndsAt.After(time.Now().Add(time.Minute)) {
				state = "fires"
			}
			states = append(states, a.Labels["severity"]+" "+state)
			if a.StartsAt.After(a.EndsAt) || a.Labels["table"] != "orders" || a.Labels["team"] != "checkout" || a.Labels["index"] != "" {
				t.Errorf("alert %+v", a)
			}
		}
		got = append(got, strings.Join(states, ", "))
		if user, password, _ := (&http.Request{Header: r.head}).BasicAuth(); user != "u" || password != "p" || r.path != "/api/v2/alerts?" {
			t.Errorf("%s as %s", r.path, user)
		}
	}
	want := []string{"critical fires", "critical fires, warning ends", "critical ends, warning ends"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestEveryReceiverHasTheRunbookAndTheLoad: a link where the tool has a place for one,
// and the sparkline as text.
func TestEveryReceiverHasTheRunbookAndTheLoad(t *testing.T) {
	box := serveMail(t)
	published := serve(t, snsCheck, snsAnswer)
	toSNS(t, published.url)
	slack := serve(t, func(_ *http.Request, body []byte) string { return slackCheck(body) }, accepted)
	pager, jsm, teams := serve(t, pagerDutyCheck, accepted), serve(t, jsmCheck, accepted), serve(t, teamsCheck, accepted)
	anything := func(*http.Request, []byte) string { return "" }
	manager, webhook := serve(t, anything, accepted), serve(t, anything, accepted)
	related := "Related findings: 2: " + notice(t, detect.EventFiring, detect.Critical, "merchant#7").Related[0] + "; and 1 more"
	const drawn = "·▁▄·█ from 11:59:56 to 12:00:00 UTC; █ is 1,500 WCU/s, the limit of 1,000 is ▆, · was not seen"
	for _, c := range []struct {
		settings receiver.Settings
		got      *fake
		want     []string
	}{
		{receiver.Settings{Type: receiver.Slack, URL: slack.url}, slack, []string{
			`\n` + related + `\nLoad: ` + drawn + `","type":"plain_text"}`,
			`{"action_id":"open-runbook","text":{"emoji":false,"text":"Runbook","type":"plain_text"},"type":"button","url":"` + runbook + `"}`,
		}},
		{receiver.Settings{Type: receiver.PagerDuty, Secret: key32, URL: pager.url}, pager, []string{`{"href":"` + runbook + `","text":"Runbook"}`, `"Load":"` + drawn + `"`}},
		{receiver.Settings{Type: receiver.JSM, Secret: "key", URL: jsm.url}, jsm, []string{`"Runbook":"` + runbook + `"`, `"Load":"` + drawn + `"`}},
		{receiver.Settings{Type: receiver.Teams, URL: teams.url}, teams, []string{`{"title":"Runbook","type":"Action.OpenUrl","url":"` + runbook + `"}`, `"text":"` + drawn + `"`}},
		{receiver.Settings{Type: receiver.Alertmanager, URL: manager.url}, manager, []string{`"runbook_url":"` + runbook + `"`}},
		{receiver.Settings{Type: receiver.Webhook, URL: webhook.url}, webhook, []string{`"runbook_url":"` + runbook + `"`, `"recent":{"from":"2025-11-22T11:59:56Z","unit":"wcu","limit":1000,"loads":[null,80,700,null,1500]}`}},
		{receiver.Settings{Type: receiver.SNS, Topic: "arn:aws:sns:eu-west-1:111122223333:on-call"}, published, []string{url.QueryEscape("\nRunbook: " + runbook + "\n"), url.QueryEscape("\n" + related + "\nLoad: " + drawn + "\n")}},
	} {
		tell(t, open(t, c.settings), notice(t, detect.EventFiring, detect.Critical, "merchant#7"))
		for _, want := range c.want {
			if got := string(c.got.requests()[0].body); !strings.Contains(got, want) {
				t.Errorf("%s has no %s: %s", c.settings.Type, want, got)
			}
		}
	}
	tell(t, open(t, receiver.Settings{Type: receiver.Email, Server: box.address, From: "keyheat@example.com", To: []string{"a@example.com"}}), notice(t, detect.EventFiring, detect.Critical, "merchant#7"))
	m, err := mail.ReadMessage(strings.NewReader(box.taken()[0]))
	must.Succeed(t, err)
	body, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	if text := strings.ReplaceAll(string(body), "\r\n", "\n"); err != nil || !strings.Contains(text, "\nLoad: "+drawn+"\n") || !strings.Contains(text, "\nRunbook: "+runbook+"\n") {
		t.Errorf("the mail is %s (%v)", text, err)
	}
}

// TestWebhooksFollowTheSchema: what is posted is what the documents say, and programs read the
// key as it is.
func TestWebhooksFollowTheSchema(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile("../../../docs/findings.schema.json#/$defs/message")
	must.Succeed(t, err)
	f := serve(t, func(*http.Request, []byte) string { return "" }, accepted)
	n := open(t, receiver.Settings{Type: receiver.Webhook, URL: f.url})
	tell(t, n, notice(t, detect.EventFiring, detect.Critical, hostile))
	tell(t, n, notice(t, detect.EventResolved, detect.Critical, hostile))
	tell(t, n, receiver.NewNotice(store.Notification{ID: "r", Event: store.EventReport, Fingerprint: "weekly", Created: time.Now(), Payload: []byte(`{"name":"weekly"}`)}, "", nil))
	for i, r := range f.requests() {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.body))
		if err == nil {
			err = schema.Validate(document)
		}
		if err != nil || strings.Contains(string(r.body), `"recent"`) != (i == 0) {
			t.Errorf("%s: %v", r.body, err)
		}
		var m struct{ Finding *struct{ Key string } }
		if err := json.Unmarshal(r.body, &m); err != nil || m.Finding != nil && m.Finding.Key != hostile {
			t.Errorf("the key is not as it is: %s (%v)", r.body, err)
		}
	}
}

// markup is what Slack, Teams or Markdown would act on: mentions, links and emphasis.
var markup = regexp.MustCompile("[<*`~]|\\]\\(|://|(^|[^a-z])(@|www\\.)")

// TestPlainTextIsKept: what chats do not act on reaches Alertmanager as it is, so that routes
// and silences match names and keys.
func TestPlainTextIsKept(t *testing.T) {
	t.Parallel()
	f := serve(t, func(*http.Request, []byte) string { return "" }, accepted)
	n := open(t, receiver.Settings{Type: receiver.Alertmanager, URL: f.url})
	for key, want := range map[string]string{
		"merchant#7": "merchant#7", "bob@example.com": "bob@example.com", "a_b": "a_b", "R&D > x [1] (2)": "R&D > x [1] (2)", "_id": "_id",
		"<!channel>": `\x3c!channel>`, "@here": `\x40here`, "https://x": `https\x3a//x`, "[x](y)": `[x\x5d(y)`, "WWW.x": `\x57WW.x`,
	} {
		tell(t, n, notice(t, detect.EventFiring, detect.Critical, key))
		all := f.requests()
		var alerts []struct{ Labels, Annotations map[string]string }
		if err := json.Unmarshal(all[len(all)-1].body, &alerts); err != nil || alerts[0].Labels["key"] != want {
			t.Errorf("%q is the label %q (%v), want %q", key, alerts[0].Labels["key"], err, want)
		}
	}
}

// inert fails where a text holds what a terminal or a reader's eye would act on.
func inert(t *testing.T, where, text string) {
	t.Helper()
	for what, bad := range map[string]string{"an escape": "\x1b", "a change of direction": "\u202e", "a zero": "\x00", "a line of its own": "\nSubject: injected"} {
		if strings.Contains(text, bad) {
			t.Errorf("%s is sent %s", where, what)
		}
	}
}

func TestFaultsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]receiver.Settings{
		`type: "pager" is no type of receiver: give one of [alertmanager email jsm pagerduty slack sns teams webhook]`: {Type: "pager"},
		"secret: missing: a receiver of type pagerduty needs it":                                                       {Type: receiver.PagerDuty},
		"secret: an integration key has 32 characters, this has 7: take the key of":                                    {Type: receiver.PagerDuty, Secret: "hunter2"},
		"url: give Alertmanager's address without /api/v2/alerts":                                                      {Type: receiver.Alertmanager, URL: "http://hunter2:9093/api/v2/alerts/"},
		"channel: missing: a bot needs":                                                                                {Type: receiver.Slack, Secret: "xoxb"},
		"url: give the URL of an incoming webhook":                                                                     {Type: receiver.Slack},
		"topic: a receiver of type teams does not have it":                                                             {Type: receiver.Teams, URL: "https://x", Topic: "t"},
		"url: not a URL to post to":                                                                                    {Type: receiver.Teams, URL: "hunter2"},
		"topic: not a topic's ARN":                                                                                     {Type: receiver.SNS, Topic: "on-call"},
		"server: \"smtp\": write host:port":                                                                            {Type: receiver.Email, Server: "smtp", From: "a@b.c", To: []string{"d@e.f"}},
		"from: not an address":                                                                                         {Type: receiver.Email, Server: "smtp:25", From: "a", To: []string{"d@e.f"}},
		"to: not addresses":                                                                                            {Type: receiver.Email, Server: "smtp:25", From: "a@b.c", To: []string{"d"}},
		`secret: not a secret of Standard Webhooks`:                                                                    {Type: receiver.Webhook, URL: "https://x", Secret: "hunter2"},
	} {
		_, err := receiver.New(s)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestRejectionsSayWhatToLookAt: those who use these tools cannot read their logs.
func TestRejectionsSayWhatToLookAt(t *testing.T) {
	t.Parallel()
	for status, advice := range map[int]string{http.StatusBadRequest: "Events API v2", http.StatusInternalServerError: "see its own log"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		n := open(t, receiver.Settings{Type: receiver.PagerDuty, Secret: key32, URL: server.URL})
		r := n.Notify(t.Context(), notice(t, detect.EventFiring, detect.Critical, "k"))
		server.Close()
		if r.Err == nil || !strings.Contains(r.Err.Error(), fmt.Sprint(status)) || !strings.Contains(r.Err.Error(), advice) {
			t.Errorf("%d: %v, want %s", status, r.Err, advice)
		}
	}
}

func TestPeakAgainstThePartitionsLimit(t *testing.T) {
	t.Parallel()
	text := notice(t, detect.EventFiring, detect.Critical, "k").Text()
	for _, want := range []string{"1,500 WCU/s", "1,000"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %s, want %s", text, want)
		}
	}
}

func TestNoticeOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.Key{Text: "k", Type: "S"})
	f.Severity = detect.Critical
	payload, err := json.Marshal(f)
	must.Succeed(t, err)
	n := receiver.NewNotice(store.Notification{ID: "n", Event: "firing", Incident: f.Incident, Fingerprint: f.Fingerprint, Created: time.Now(), Payload: payload}, "", nil)
	if n.Incident.ID != f.Incident || n.Severity() != detect.Critical || !bytes.Equal(n.Document, payload) || n.IncidentDocument != nil {
		t.Errorf("got %+v", n)
	}
}

// TestKeyheatsOwnIncidentsHaveAPlace: notices of incidents about no table say that they
// are about Keyheat itself.
func TestKeyheatsOwnIncidentsHaveAPlace(t *testing.T) {
	t.Parallel()
	f := casebook.NewFinding(casebook.CollectionStopped, detect.Target{}, sample.Key{})
	f.Severity, f.State, f.FirstSeen, f.LastSeen = detect.Critical, detect.Firing, time.Unix(0, 0), time.Unix(44, 0)
	incident, err := json.Marshal(casebook.Incidents([]detect.Finding{f})[0])
	must.Succeed(t, err)
	finding, err := json.Marshal(f)
	must.Succeed(t, err)
	payload, err := json.Marshal(detect.Payload{Incident: incident, Finding: finding})
	must.Succeed(t, err)
	n := receiver.NewNotice(store.Notification{ID: "id", Event: "firing", Incident: f.Incident, Fingerprint: f.Fingerprint, Created: time.Unix(45, 0), Payload: payload}, "", nil)
	if n.Table() != "Keyheat itself" {
		t.Errorf("it is about %q", n.Table())
	}
	if text := n.Text(); !strings.HasPrefix(text, "[CRITICAL] Keyheat itself: ") || strings.Contains(text, "Where:") {
		t.Errorf("the text is %s", text)
	}
}
