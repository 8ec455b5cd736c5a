package receiver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/notify"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
)

// groupNotice is one of a group of the incidents of the table orders, of which so many
// fire and are over; of an end all are.
func groupNotice(t *testing.T, event detect.Event, key string, firing, over int) *notify.Notice {
	t.Helper()
	f, _, p := payloadOf(t, event, detect.Critical, key)
	p.Group = &detect.Group{
		InGroup:  detect.InGroup{Receiver: "chat", ID: incidentID, Labels: map[string]string{"table": "orders", "labels.team": "checkout", "owner": ""}},
		Severity: detect.Critical, OpenedAt: time.Date(2025, 11, 22, 11, 59, 0, 0, time.UTC), Firing: firing, Over: over, Total: firing + over,
	}
	named := []detect.Finding{f}
	for n := range min(firing+over, detect.GroupMembers) {
		m := detect.GroupMember{Incident: fmt.Sprintf("%032x", n), Finding: f.Fingerprint, Severity: detect.Critical, State: detect.Firing}
		if n > 0 {
			other := f
			other.Key, other.Fingerprint = sample.Text(fmt.Sprintf("%s m#%d", key, n)), m.Incident
			named = append(named, other)
			m.Finding, m.Severity = other.Fingerprint, detect.Warning
		}
		if n >= firing {
			m.State = detect.Resolved
		}
		p.Group.Members = append(p.Group.Members, m)
	}
	return noticeOf(t, event, f.Fingerprint, p, named...)
}

// TestAGroupInEachReceiver: its title, the worst of its incidents, how many there are, and
// one dedup key for all that is told of it.
func TestAGroupInEachReceiver(t *testing.T) {
	box := serveMail(t)
	published := serve(t, snsCheck, snsAnswer)
	toSNS(t, published.url)
	slack := serve(t, func(_ *http.Request, body []byte) string { return slackCheck(body) }, accepted)
	pager, jsm, teams := serve(t, pagerDutyCheck, accepted), serve(t, jsmCheck, accepted), serve(t, teamsCheck, accepted)
	anything := func(*http.Request, []byte) string { return "" }
	manager, webhook := serve(t, anything, accepted), serve(t, anything, accepted)
	const (
		title = `checkout, orders: 17 incidents; worst: orders: `
		now   = "Now: "
		link  = "https://keyheat.example.com/?table=orders"
	)
	member, _, _ := payloadOf(t, detect.EventFiring, detect.Critical, "merchant#7")
	titleOf := func(n int) string {
		f := member
		f.Key = sample.Text(fmt.Sprintf("%s m#%d", member.Key, n))
		return say.Title(&f)
	}
	for _, c := range []struct {
		settings notify.Settings
		got      *fake
		want     []string
	}{
		{notify.Settings{Type: notify.Slack, URL: slack.url}, slack, []string{
			`"[CRITICAL] ` + title, `"text":"` + now, `\nGroup: labels.team checkout, table orders\n`, `\nIncident 1: critical: orders: `, `\nIncident 2: warning: ` + titleOf(1) + `\n`,
			`\nIncidents: and 7 more\n`, `"url":"` + link + `"`, `\nLoad of the worst: ·▁▄·█ `,
		}},
		{notify.Settings{Type: notify.PagerDuty, Secret: key32, URL: pager.url}, pager, []string{
			`"summary":"[CRITICAL] ` + title, `"dedup_key":"` + incidentID, `"severity":"critical"`, `"timestamp":"2025-11-22T11:59:00Z"`, `"Incident 10":"warning: ` + titleOf(9) + `"`, `"Incidents":"and 7 more"`, `"href":"` + link,
		}},
		{notify.Settings{Type: notify.JSM, Secret: "key", URL: jsm.url}, jsm, []string{`"message":"[CRITICAL] ` + title, `"alias":"` + incidentID, `"priority":"P1"`, `Incident 2: warning: `}},
		{notify.Settings{Type: notify.Teams, URL: teams.url}, teams, []string{`"text":"[CRITICAL] ` + title, `"text":"Now: "`, `"text":"Incident 2: "`, `"text":"and 7 more"`, link}},
		{notify.Settings{Type: notify.Alertmanager, URL: manager.url}, manager, []string{
			`"labels":{"alertname":"KeyheatIncident","incident":"` + incidentID + `","severity":"critical","table":"orders","team":"checkout"}`, `"summary":"` + title, `"generatorURL":"` + link, `"startsAt":"2025-11-22T11:59:00Z"`,
		}},
		{notify.Settings{Type: notify.Webhook, URL: webhook.url}, webhook, []string{
			`"title":"` + title, `"group":{"id":"` + incidentID + `","labels":{"labels.team":"checkout","owner":"","table":"orders"},"severity":"critical","opened_at":"2025-11-22T11:59:00Z","firing":17,"over":0,"total":17}`, `"members":[{"incident":"`,
		}},
		{notify.Settings{Type: notify.SNS, Topic: "arn:aws:sns:eu-west-1:111122223333:on-call"}, published, []string{
			url.QueryEscape("\nIncident 2: warning: " + titleOf(1) + "\n"), url.QueryEscape("\n" + now), "StringValue=" + incidentID, "StringValue=orders",
		}},
	} {
		n := open(t, c.settings)
		for _, what := range []*notify.Notice{groupNotice(t, detect.EventFiring, "merchant#7", 17, 0), groupNotice(t, detect.EventUpdated, "merchant#7", 16, 1), groupNotice(t, detect.EventResolved, "merchant#7", 0, 17)} {
			tell(t, n, what)
		}
		requests := c.got.requests()
		for _, want := range c.want {
			if got := string(requests[0].body); !strings.Contains(got, want) {
				t.Errorf("%s has no %s: %s", c.settings.Type, want, got)
			}
		}
		// Of the end there is as much as each tool takes.
		if last := requests[len(requests)-1]; c.settings.Type == notify.Slack && !strings.Contains(string(last.body), "[RESOLVED] checkout, orders: all 17 incidents are over") {
			t.Errorf("at the end %s was told %s", c.settings.Type, last.body)
		}
	}
	var paths []string
	for _, r := range jsm.requests() {
		paths = append(paths, strings.TrimPrefix(r.path, "/v2/alerts"))
	}
	if at := "/" + incidentID + "/"; !slices.Equal(paths, []string{"?", at + "priority?identifierType=alias", at + "message?identifierType=alias", at + "description?identifierType=alias", at + "close?identifierType=alias"}) {
		t.Errorf("Jira Service Management was asked for %q", paths)
	}
	mails := open(t, notify.Settings{Type: notify.Email, Server: box.address, From: "keyheat@example.com", To: []string{"a@example.com"}})
	tell(t, mails, groupNotice(t, detect.EventFiring, "merchant#7", 17, 0))
	if got := box.taken()[0]; !strings.Contains(got, "References: <"+incidentID+"@example.com>") {
		t.Errorf("the mail is %s", got)
	}
}

// TestAHostileKeyInAGroupIsText: members' titles are what others wrote, too.
func TestAHostileKeyInAGroupIsText(t *testing.T) {
	t.Parallel()
	for _, event := range []detect.Event{detect.EventFiring, detect.EventUpdated, detect.EventResolved} {
		n := groupNotice(t, event, hostile, 3, 2)
		inert(t, "the text", n.Text())
		for _, f := range n.Facts() {
			if strings.ContainsAny(f.Value, "\n\r") || len(f.Value) > 1000 {
				t.Errorf("%s is %q", f.Name, f.Value)
			}
		}
	}
}

// TestWebhooksOfGroupsFollowTheSchema: what is posted of a group is what the documents say.
func TestWebhooksOfGroupsFollowTheSchema(t *testing.T) {
	t.Parallel()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile("../../../docs/findings.schema.json#/$defs/message")
	if err != nil {
		t.Fatal(err)
	}
	f := serve(t, func(*http.Request, []byte) string { return "" }, accepted)
	n := open(t, notify.Settings{Type: notify.Webhook, URL: f.url})
	tell(t, n, groupNotice(t, detect.EventFiring, "merchant#7", 17, 0))
	tell(t, n, groupNotice(t, detect.EventResolved, "merchant#7", 0, 2))
	for _, r := range f.requests() {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.body))
		if err == nil {
			err = schema.Validate(document)
		}
		if err != nil {
			t.Errorf("%s: %v", r.body, err)
		}
	}
}

// TestAGroupOfWhatIsNotKept: a group can be told of whose worst finding is not stored any
// more.
func TestAGroupOfWhatIsNotKept(t *testing.T) {
	t.Parallel()
	n := noticeOf(t, detect.EventFiring, "f", detect.Payload{
		Incident: json.RawMessage(`{"id":"i","severity":"warning"}`), Finding: json.RawMessage(`null`),
		Group: &detect.Group{InGroup: detect.InGroup{Labels: map[string]string{"table": "orders"}}, Severity: detect.Warning, Firing: 2, Total: 2, Members: []detect.GroupMember{{Severity: detect.Warning, State: detect.Firing}}},
	})
	if n.Title != "orders: 2 incidents" || n.Severity() != detect.Warning || n.Incidents() != 2 || !strings.Contains(n.Text(), "\nIncident 1: warning\nIncidents: and 1 more\n") {
		t.Errorf("%q: %s", n.Title, n.Text())
	}
}

// TestAnotherLifeIsAnotherMessageOfASlackBot: of one that is rewritten nobody hears.
func TestAnotherLifeIsAnotherMessageOfASlackBot(t *testing.T) {
	t.Parallel()
	f := serve(t, func(_ *http.Request, body []byte) string { return slackCheck(body) }, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"ok":true,"channel":"C42","ts":"1732276800.000100"}`))
	})
	n := open(t, notify.Settings{Type: notify.Slack, Secret: "xoxb-token", Channel: "C0123456789", URL: f.url})
	for _, event := range []detect.Event{detect.EventUpdated, detect.EventResolved, detect.EventFiring} {
		what := groupNotice(t, event, "merchant#7", 2, 1)
		what.Receipt = "C42 1732276800.000100"
		tell(t, n, what)
	}
	var paths []string
	for _, r := range f.requests() {
		paths = append(paths, r.path)
	}
	if !slices.Equal(paths, []string{"/chat.update?", "/chat.update?", "/chat.postMessage?"}) {
		t.Errorf("asked for %q", paths)
	}
}
