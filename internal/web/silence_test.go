package web_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/store"
)

// guarded serves a store behind a proxy that names the user, of whom ada is an operator.
func guard(t *testing.T, s *store.Store) string {
	t.Helper()
	return guardedBy(t, s, admin.Access{
		Operators: []string{"ada"}, UserHeader: "X-User", Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
}

// guardedBy serves a store to those who have access.
func guardedBy(t *testing.T, s *store.Store, access admin.Access) string {
	t.Helper()
	site, err := web.New(s, slog.New(slog.DiscardHandler), web.Options{})
	must(t, err)
	server, err := admin.Open(t.Context(), admin.Options{Address: "127.0.0.1:0", Access: access}, slog.New(slog.DiscardHandler))
	must(t, err)
	server.Handle("/", site)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + server.Addr()
}

// sent is a request of a user.
type sent struct {
	user, method, path string
	kind, body         string
	site               string
}

// to sends it and returns the answer, without following where it leads.
func (q sent) to(t *testing.T, address string) (code int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), q.method, address+q.path, strings.NewReader(q.body))
	must(t, err)
	r.Header.Set("X-User", q.user)
	r.Header.Set("Content-Type", q.kind)
	if q.site != "" {
		r.Header.Set("Sec-Fetch-Site", q.site)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, string(text)
}

const (
	asJSON = "application/json; charset=utf-8"
	asForm = "application/x-www-form-urlencoded"
	apiAt  = "/api/v1/silences"
)

func allSilences(t *testing.T, s *store.Store) []store.Silence {
	t.Helper()
	all, err := s.Silences(t.Context(), store.SilenceQuery{})
	must(t, err)
	return all
}

// TestAnUnreadableSilenceIsOnEveryPage: the pages work, and an operator can expire it.
func TestAnUnreadableSilenceIsOnEveryPage(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		`["tabel=<b>orders</b>"]`: `there is no &#34;tabel&#34;`, `[`: "no matchers",
	} {
		path := filepath.Join(t.TempDir(), "keyheat.db")
		s, err := store.Open(t.Context(), "sqlite:"+path, store.Options{Migrate: true})
		must(t, err)
		defer s.Close()
		n, err := s.AddSilence(t.Context(), store.Silence{
			Matchers: []string{"table=orders"}, StartsAt: time.Now().Add(-time.Minute), EndsAt: time.Now().Add(time.Hour), Author: "ada", Reason: "load test",
		})
		must(t, err)
		db, err := sql.Open("sqlite", path)
		must(t, err)
		_, err = db.ExecContext(t.Context(), `UPDATE silences SET matchers = $1`, stored)
		must(t, errors.Join(err, db.Close()))
		at := guard(t, s)
		pages := func(shown bool) {
			t.Helper()
			for _, path := range []string{"/", "/silences", "/tables", "/reports"} {
				code, body := sent{user: "ada", method: "GET", path: path}.to(t, at)
				if has := strings.Contains(body, "1 active silence cannot be read") && strings.Contains(body, n.ID) && strings.Contains(body, want); code != 200 || has != shown || strings.Contains(body, "<b>orders") {
					t.Errorf("%s: %d, shown: %t, in %s", path, code, has, body)
				}
			}
		}
		pages(true)
		if code, body := (sent{user: "ada", method: "GET", path: apiAt}).to(t, at); code != 200 || !strings.Contains(body, `"matchers":[`) {
			t.Errorf("%d %s", code, body)
		}
		if code, body := (sent{user: "ada", method: "POST", path: "/silences/" + n.ID + "/expire", kind: asForm}).to(t, at); code != http.StatusSeeOther {
			t.Errorf("%d %s", code, body)
		}
		pages(false)
	}
}

func TestSilencesByTheAPI(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	at := guard(t, s)
	const good = `{"matchers":["table=orders","severity=~\"warning|critical\""],"for":"2h","reason":"load test"}`
	code, body := sent{user: "ada", method: "POST", path: apiAt, kind: asJSON, body: good}.to(t, at)
	var added struct{ Silence store.Silence }
	must(t, json.Unmarshal([]byte(body), &added))
	n := added.Silence
	if code != 200 || n.ID == "" || n.State != store.SilenceActive || n.Author != "ada" || n.Reason != "load test" || n.EndsAt.Sub(n.StartsAt) != 2*time.Hour {
		t.Fatalf("%d %s", code, body)
	}
	var listed struct{ Silences []store.Silence }
	for query, want := range map[string]int{"": 1, "?state=active": 1, "?state=expired": 0} {
		_, body = sent{user: "bob", method: "GET", path: apiAt + query}.to(t, at)
		must(t, json.Unmarshal([]byte(body), &listed))
		if len(listed.Silences) != want || !strings.Contains(body, `"silences":[`) {
			t.Errorf("%s: %s", query, body)
		}
	}
	for name, c := range map[string]struct {
		sent
		code int
		want string
	}{
		"a reader adds":       {sent{user: "bob", method: "POST", path: apiAt, kind: asJSON, body: good}, 403, "only operators"},
		"a reader expires":    {sent{user: "bob", method: "DELETE", path: apiAt + "/" + n.ID}, 403, "only operators"},
		"nobody adds":         {sent{method: "POST", path: apiAt, kind: asJSON, body: good}, 403, "only operators"},
		"another site":        {sent{user: "ada", method: "POST", path: apiAt, kind: asJSON, body: good, site: "cross-site"}, 403, ""},
		"another site's form": {sent{user: "ada", method: "POST", path: apiAt, kind: "text/plain", body: good}, 415, "Content-Type: application/json"},
		"no JSON":             {sent{user: "ada", method: "POST", path: apiAt, kind: asJSON, body: "for=2h"}, 400, "the body: "},
		"two":                 {sent{user: "ada", method: "POST", path: apiAt, kind: asJSON, body: good + good}, 400, "send one"},
		"an unknown field":    {sent{user: "ada", method: "POST", path: apiAt, kind: asJSON, body: `{"author":"eve","for":"2h"}`}, 400, `unknown field \"author\"`},
		"huge":                {sent{user: "ada", method: "POST", path: apiAt, kind: asJSON, body: `{"reason":"` + strings.Repeat("x", 100_000) + `"}`}, 413, "at most 65536 bytes"},
		"of everything":       {sent{user: "ada", method: "POST", path: apiAt, kind: asJSON, body: `{"matchers":["table=~.*"],"for":"2h","reason":"x"}`}, 400, "empty text"},
		"a bad expression":    {sent{user: "ada", method: "POST", path: apiAt, kind: asJSON, body: `{"matchers":["table=~\"a)|(b\""],"for":"2h","reason":"x"}`}, 400, "unexpected )"},
		"an unknown state":    {sent{user: "ada", method: "GET", path: apiAt + "?state=over"}, 400, "pending, active, expired"},
		"an unknown silence":  {sent{user: "ada", method: "DELETE", path: apiAt + "/unknown"}, 404, "no silence of this ID"},
	} {
		if code, body := c.to(t, at); code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	if all := allSilences(t, s); len(all) != 1 || all[0].State != store.SilenceActive {
		t.Errorf("silences are %+v", all)
	}
	for _, want := range []int{200, 404} {
		if code, body := (sent{user: "ada", method: "DELETE", path: apiAt + "/" + n.ID}).to(t, at); code != want {
			t.Errorf("expired: %d %s, want %d", code, body, want)
		}
	}
	audit, err := s.Audit(t.Context(), 0)
	must(t, err)
	if len(audit) != 2 || audit[0].Who != "ada" || audit[0].About != n.ID || audit[1].Who != "ada" {
		t.Errorf("the audit is %+v", audit)
	}
}

// parsed is an answer as a page.
func parsed(t *testing.T, body string) page {
	t.Helper()
	n, err := html.Parse(strings.NewReader(body))
	must(t, err)
	return page{n}
}

// changes counts the forms of a page that change something.
func changes(p page) (n int) {
	for _, form := range p.all("form", "") {
		if form.attr("method") == "post" {
			n++
		}
	}
	return n
}

func TestSilencesOnThePage(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	at := guard(t, s)
	see := func(user string) page {
		_, body := sent{user: user, method: "GET", path: "/silences"}.to(t, at)
		return parsed(t, body)
	}
	if n := changes(see("ada")); n != 1 {
		t.Errorf("an operator sees %d forms on the page without silences", n)
	}
	form := url.Values{"table": {"orders"}, "severity": {"warning"}, "matchers": {"labels.tier!=1\r\n\r\nindex=~\"by-.*\"\r\n"}, "for": {"1h"}, "reason": {hostile}}
	post := sent{user: "ada", method: "POST", path: "/silences", kind: asForm, body: form.Encode()}
	for _, foreign := range []sent{{user: "bob"}, {user: "ada", site: "cross-site"}, {user: "ada", site: "same-site"}} {
		q := post
		q.user, q.site = foreign.user, foreign.site
		if code, body := q.to(t, at); code != http.StatusForbidden || len(allSilences(t, s)) != 0 {
			t.Errorf("%+v: %d %s", foreign, code, body)
		}
	}
	post.site = "same-origin"
	if code, body := post.to(t, at); code != http.StatusSeeOther {
		t.Fatalf("%d %s", code, body)
	}
	n := allSilences(t, s)[0]
	if got := strings.Join(n.Matchers, " "); got != `table="orders" severity="warning" labels.tier!="1" index=~"by-.*"` || n.Author != "ada" || n.Reason != hostile || n.EndsAt.Sub(n.StartsAt) != time.Hour {
		t.Errorf("added is %+v", n)
	}
	p := see("ada")
	if text := p.all("table", "")[0].text(); !strings.Contains(text, hostile) || !strings.Contains(text, "ada") || len(p.scripts()) != 0 {
		t.Errorf("the page says %s", text)
	}
	reader := see("bob")
	if changes(reader) != 0 || changes(p) != 2 {
		t.Errorf("a reader sees %d forms, an operator %d", changes(reader), changes(p))
	}

	form.Set("for", `"><script>`)
	post.body = form.Encode()
	code, body := post.to(t, at)
	p = parsed(t, body)
	if code != http.StatusBadRequest || !strings.Contains(p.all("section", "critical")[0].text(), "is no length of time") || len(p.all("script", "")) != 1 ||
		strings.TrimSpace(p.all("textarea", "")[0].text()) == "" || len(allSilences(t, s)) != 1 {
		t.Errorf("a wrong form: %d %s", code, body)
	}
	for _, field := range p.all("input", "") {
		if name := field.attr("name"); name != "" && field.attr("value") != form.Get(name) {
			t.Errorf("%s is %q again, was %q", name, field.attr("value"), form.Get(name))
		}
	}
	expire := sent{user: "ada", method: "POST", path: "/silences/" + n.ID + "/expire", kind: asForm}
	for _, want := range []int{http.StatusSeeOther, http.StatusNotFound} {
		if code, body := expire.to(t, at); code != want {
			t.Errorf("expired: %d %s, want %d", code, body, want)
		}
	}
	if state := allSilences(t, s)[0].State; state != store.SilenceExpired {
		t.Errorf("the silence is %s", state)
	}
	if n := changes(see("ada")); n != 1 {
		t.Errorf("an expired silence can be expired: %d forms", n)
	}
}

// TestAFindingSaysWhoSilencedIt, and an operator can.
func TestAFindingSaysWhoSilencedIt(t *testing.T) {
	t.Parallel()
	s, found := filled(t)
	at := guard(t, s)
	f := found[0]
	path := "/findings/" + f.Fingerprint
	read := func(user, path string) page {
		code, body := sent{user: user, method: "GET", path: path}.to(t, at)
		if code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, code, body)
		}
		return parsed(t, body)
	}
	if n := len(read("bob", path).all("form", "silence")); n != 0 {
		t.Errorf("a reader sees %d forms", n)
	}
	forms := read("ada", path).all("form", "silence")
	if len(forms) != 1 {
		t.Fatalf("an operator sees %d forms", len(forms))
	}
	form := url.Values{"reason": {"known"}}
	for _, field := range forms[0].all("input", "") {
		if field.attr("value") != "" {
			form.Set(field.attr("name"), field.attr("value"))
		}
	}
	post := sent{user: "ada", method: forms[0].attr("method"), path: forms[0].attr("action"), kind: asForm, body: form.Encode()}
	post.method = strings.ToUpper(post.method)
	if code, body := post.to(t, at); code != http.StatusSeeOther {
		t.Fatalf("%d %s", code, body)
	}
	n := allSilences(t, s)[0]
	if len(n.Matchers) != 1 || n.Matchers[0] != `incident="`+f.Incident+`"` || n.EndsAt.Sub(n.StartsAt) != 2*time.Hour {
		t.Errorf("added is %+v", n)
	}

	// What the judge notes then.
	for _, want := range []bool{true, false} {
		if !want {
			must(t, s.ExpireSilence(t.Context(), n.ID, "ada"))
		}
		i := casebook.Incidents([]detect.Finding{f})[0]
		i.Silenced = &detect.Silenced{By: n.ID, Author: hostile, Reason: "\u202eknown", Until: time.Now().Add(time.Hour)}
		document, err := json.Marshal(i)
		must(t, err)
		l, _, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
		must(t, err)
		must(t, s.Judge(t.Context(), l, store.Judgement{Incidents: []store.Incident{{
			ID: i.ID, Case: string(i.Case), Subject: string(i.Subject), Target: i.Target, Severity: string(i.Severity), State: string(detect.Firing),
			OpenedAt: i.OpenedAt, LastSeen: i.LastSeen, Root: i.Root, Findings: i.Findings, Document: document,
		}}}))
		for _, path := range []string{path, "/"} {
			p := read("bob", path)
			text := p.all("main", "")[0].text()
			if says := strings.Contains(text, " by "+hostile) && strings.Contains(text, "ilenced until"); says != want || strings.Contains(text, "\u202e") || len(p.scripts()) != 0 {
				t.Errorf("%s says: %t, want %t", path, says, want)
			}
		}
	}
}
