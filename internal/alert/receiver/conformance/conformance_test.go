// Package conformance holds what receivers are sent to the libraries of those who made
// them, which read it back.
package conformance

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/PagerDuty/go-pagerduty"
	"github.com/slack-go/slack"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/alert/receiver"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

const runbook = "https://wiki.example.com/dynamodb#hot_key"

const hostile = "<!channel> *b* <https://evil.example|x>"

// sent returns the body that a receiver is sent of a hot key that begins to fire.
func sent(t *testing.T, settings receiver.Settings, answer string) []byte {
	t.Helper()
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		_, _ = w.Write([]byte(answer))
	}))
	defer server.Close()
	settings.URL = server.URL
	n, err := receiver.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.Key{Text: hostile, Type: "S"})
	f.Severity, f.FirstSeen, f.LastSeen = detect.Critical, time.Unix(1763812800, 0), time.Unix(1763812860, 0)
	f.Peak.WCU = detect.Figure{Value: 1500, Low: 1490, High: 1510}
	f.Advice = []detect.Step{detect.NewStep(detect.FixShardedKey)}
	document, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	incident := detect.Incident{ID: f.Incident, Target: f.Target, Severity: f.Severity, RunbookURL: runbook}
	p, err := detect.NewPayload(&incident, document)
	if err != nil {
		t.Fatal(err)
	}
	p.Recent = &detect.Recent{From: f.FirstSeen, Unit: "wcu", Limit: 1000, Loads: []*float64{nil, new(1500.0)}}
	payload, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	notice := receiver.NewNotice(store.Notification{ID: "n1", Event: "firing", Incident: f.Incident, Fingerprint: f.Fingerprint, Created: time.Now(), Payload: payload}, "https://keyheat.example.com", nil)
	if r := n.Notify(t.Context(), notice); r.Err != nil {
		t.Fatal(r.Err)
	}
	return got
}

func TestSlackReadsItsBlocks(t *testing.T) {
	body := sent(t, receiver.Settings{Type: receiver.Slack}, "ok")
	var m slack.WebhookMessage
	if err := json.Unmarshal(body, &m); err != nil || m.Blocks == nil {
		t.Fatalf("%v: %s", err, body)
	}
	var types []string
	for _, b := range m.Blocks.BlockSet {
		types = append(types, string(b.BlockType()))
		switch b := b.(type) {
		case *slack.HeaderBlock:
			if err := b.Text.Validate(); err != nil || b.Text.Type != slack.PlainTextType || !strings.Contains(b.Text.Text, "<!channel>") {
				t.Errorf("header %+v (%v)", b.Text, err)
			}
		case *slack.SectionBlock:
			for _, field := range b.Fields {
				if err := field.Validate(); err != nil || field.Type != slack.PlainTextType {
					t.Errorf("field %+v (%v)", field, err)
				}
			}
		case *slack.ActionBlock:
			for i, address := range []string{"https://keyheat.example.com/findings/", runbook} {
				if button, is := b.Elements.ElementSet[i].(*slack.ButtonBlockElement); !is || !strings.HasPrefix(button.URL, address) {
					t.Errorf("button %+v, want %s", b.Elements.ElementSet[i], address)
				}
			}
		default:
			t.Errorf("a block that the library does not know: %T", b)
		}
	}
	if got := strings.Join(types, " "); got != "header section section actions" {
		t.Errorf("blocks %s", got)
	}
	if strings.Contains(m.Text, "<") {
		t.Errorf("text %q", m.Text)
	}
}

func TestPagerDutyReadsItsEvent(t *testing.T) {
	body := sent(t, receiver.Settings{Type: receiver.PagerDuty, Secret: strings.Repeat("a", 32)}, "{}")
	var e pagerduty.V2Event
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	if e.Action != "trigger" || e.RoutingKey != strings.Repeat("a", 32) || e.Payload == nil || e.Payload.Severity != "critical" || e.Payload.Source != "orders" || len(e.Links) != 2 {
		t.Errorf("event %+v", e)
	}
	// And their own client, which checks what the API answers, sends it on.
	var path string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.Path
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte(`{"status":"success","dedup_key":"x","message":"Event processed"}`))
	}))
	defer server.Close()
	c := pagerduty.NewClient("", pagerduty.WithV2EventsAPIEndpoint(server.URL))
	if _, err := c.ManageEventWithContext(t.Context(), &e); err != nil || path != "/v2/enqueue" {
		t.Errorf("%s: %v", path, err)
	}
}
