package receiver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/emersion/go-smtp"

	"github.com/keyheat/keyheat/internal/testsupport/must"
)

// request is one that a fake took.
type request struct {
	path string
	head http.Header
	body []byte
}

// fake is a receiver that behaves as its documentation says: it takes what is in
// order, and refuses the rest.
type fake struct {
	url  string
	mu   sync.Mutex
	took []request
}

func (f *fake) requests() []request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]request(nil), f.took...)
}

// serve starts a fake: check returns what is wrong with a request, and answer answers
// one that is in order.
func serve(t *testing.T, check func(r *http.Request, body []byte) string, answer func(w http.ResponseWriter, r *http.Request)) *fake {
	t.Helper()
	f := &fake{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if wrong := check(r, body); wrong != "" {
			t.Errorf("%s %s is refused: %s\n%s", r.Method, r.URL.Path, wrong, body)
			http.Error(w, wrong, http.StatusBadRequest)
			return
		}
		f.mu.Lock()
		f.took = append(f.took, request{r.URL.Path + "?" + r.URL.RawQuery, r.Header, body})
		f.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func accepted(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) }

// strict decodes JSON that has no field beside those of into.
func strict(body []byte, into any) string {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err.Error()
	}
	return ""
}

// slackCheck holds a message to the limits in Slack's "Reference: blocks" and
// "Composition objects".
func slackCheck(body []byte) string {
	var m struct {
		Channel, TS, Text string
		UnfurlLinks       bool `json:"unfurl_links"`
		Blocks            []struct {
			Type     string
			Text     *slackTextObject
			Fields   []slackTextObject
			Elements []struct {
				Type     string
				Text     slackTextObject
				URL      string
				ActionID string `json:"action_id"`
			}
		}
	}
	if wrong := strict(body, &m); wrong != "" {
		return wrong
	}
	if len(m.Blocks) > 50 {
		return "too many blocks"
	}
	for _, b := range m.Blocks {
		switch {
		case b.Type == "header" && (b.Text == nil || b.Text.Type != "plain_text" || b.Text.long(150)):
			return "invalid header"
		case b.Type == "section" && b.Text == nil && len(b.Fields) == 0:
			return "empty section"
		case b.Text != nil && b.Text.long(3000), len(b.Fields) > 10:
			return "invalid section"
		}
		for _, f := range b.Fields {
			if f.long(2000) || f.Type != "plain_text" {
				return "invalid field"
			}
		}
		for _, e := range b.Elements {
			if e.Text.long(75) || len(e.URL) > 3000 {
				return "invalid button"
			}
		}
	}
	return ""
}

type slackTextObject struct {
	Type, Text string
	Emoji      bool
}

// long reports whether a text is empty or too long.
func (o *slackTextObject) long(most int) bool {
	n := utf8.RuneCountInString(o.Text)
	return n == 0 || n > most
}

// pagerDutyCheck holds an event to PagerDuty's "Send an event" of the Events API v2.
func pagerDutyCheck(_ *http.Request, body []byte) string {
	var e struct {
		RoutingKey  string `json:"routing_key"`
		EventAction string `json:"event_action"`
		DedupKey    string `json:"dedup_key"`
		Client      string `json:"client"`
		ClientURL   string `json:"client_url"`
		Links       []struct{ Href, Text string }
		Payload     *struct {
			Summary, Source, Severity, Timestamp, Component, Group, Class string
			CustomDetails                                                 map[string]any `json:"custom_details"`
		}
	}
	if wrong := strict(body, &e); wrong != "" {
		return wrong
	}
	p := e.Payload
	switch {
	case len(body) > 512<<10, len(e.RoutingKey) != 32, e.DedupKey == "", len(e.DedupKey) > 255:
		return "invalid event"
	case e.EventAction == "resolve" && p == nil:
		return ""
	case e.EventAction != "trigger" || p == nil || p.Summary == "" || p.Source == "" || utf8.RuneCountInString(p.Summary) > 1024:
		return "invalid payload"
	case !strings.Contains(" critical error warning info ", " "+p.Severity+" "):
		return "invalid severity"
	}
	return ""
}

// jsmCheck holds a request to the alert API that Jira Service Management took over
// from Opsgenie.
func jsmCheck(r *http.Request, body []byte) string {
	if r.Header.Get("Authorization") != "GenieKey key" {
		return "no key"
	}
	if strings.HasSuffix(r.URL.Path, "/priority") {
		var p struct{ Priority string }
		wrong := strict(body, &p)
		if r.Method != http.MethodPut || r.URL.Query().Get("identifierType") != "alias" || !strings.Contains(" P1 P2 P3 P4 P5 ", " "+p.Priority+" ") {
			return "invalid priority"
		}
		return wrong
	}
	for field, most := range map[string]int{"message": 130, "description": 15000} {
		if strings.HasSuffix(r.URL.Path, "/"+field) {
			var changed map[string]string
			wrong := strict(body, &changed)
			if r.Method != http.MethodPut || r.URL.Query().Get("identifierType") != "alias" || len(changed) != 1 || changed[field] == "" || len(changed[field]) > most {
				return "invalid " + field
			}
			return wrong
		}
	}
	if r.Method != http.MethodPost {
		return "405"
	}
	if strings.HasSuffix(r.URL.Path, "/close") {
		if r.URL.Query().Get("identifierType") != "alias" {
			return "no alias"
		}
		return strict(body, &struct{ Source, Note, User string }{})
	}
	var a struct {
		Message, Alias, Description, Entity, Source, Priority string
		Tags                                                  []string
		Details                                               map[string]string
	}
	if wrong := strict(body, &a); wrong != "" {
		return wrong
	}
	if a.Message == "" || len(a.Message) > 130 || len(a.Alias) > 512 || len(a.Description) > 15000 || len(a.Entity) > 512 || len(a.Source) > 100 {
		return "invalid alert"
	}
	return ""
}

// teamsCheck holds a message to what a workflow takes: one Adaptive Card, in 28 KB.
func teamsCheck(_ *http.Request, body []byte) string {
	var m struct {
		Type        string
		Attachments []struct {
			ContentType string
			Content     struct {
				Schema        string `json:"$schema"`
				Type, Version string
				Body          []struct {
					Type    string
					Inlines []struct{ Type, Text, Weight, Size, Color string }
				}
				Actions []struct{ Type, Title, URL string }
			}
		}
	}
	if wrong := strict(body, &m); wrong != "" {
		return wrong
	}
	if len(body) > 28<<10 || m.Type != "message" || len(m.Attachments) != 1 || m.Attachments[0].Content.Type != "AdaptiveCard" {
		return "invalid card"
	}
	for _, b := range m.Attachments[0].Content.Body {
		for _, run := range b.Inlines {
			if b.Type != "RichTextBlock" || run.Type != "TextRun" { // of a TextBlock Teams renders Markdown
				return "a text that is interpreted"
			}
		}
	}
	return ""
}

// mailbox is a mail server that keeps what it takes.
type mailbox struct {
	address string
	refuse  int
	mu      sync.Mutex
	mails   []string
}

func (m *mailbox) taken() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.mails...)
}

// NewSession implements smtp.Backend.
func (m *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{mailbox: m}, nil }

type session struct{ mailbox *mailbox }

func (*session) Reset()                               {}
func (*session) Logout() error                        { return nil }
func (*session) Mail(string, *smtp.MailOptions) error { return nil }
func (*session) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (s *session) Data(r io.Reader) error {
	body, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mailbox.mu.Lock()
	defer s.mailbox.mu.Unlock()
	if s.mailbox.refuse != 0 {
		return &smtp.SMTPError{Code: s.mailbox.refuse, EnhancedCode: smtp.EnhancedCode{s.mailbox.refuse / 100, 0, 0}, Message: "canary-of-the-server"}
	}
	s.mailbox.mails = append(s.mailbox.mails, string(body))
	return nil
}

func serveMail(t *testing.T) *mailbox {
	t.Helper()
	m := &mailbox{}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Succeed(t, err)
	m.address = l.Addr().String()
	server := smtp.NewServer(m)
	server.Domain = "localhost"
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		_ = l.Close() // which ends Serve also when it had not begun
		<-done
	})
	return m
}
