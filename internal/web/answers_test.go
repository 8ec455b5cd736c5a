package web_test

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"golang.org/x/crypto/bcrypt"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/incident/silence"
	"github.com/keyheat/keyheat/internal/testsupport/pgtest"
	"github.com/keyheat/keyheat/store"
)

// operation is one of the document's.
type operation struct {
	method, path string
	*openapi3.Operation
}

// operations returns every operation of the document.
func (d *described) operations() (all []operation) {
	for path, item := range d.doc.Paths.Map() {
		for method, o := range item.Operations() {
			all = append(all, operation{method, path, o})
		}
	}
	return all
}

// request is a valid request for an operation, which a test spoils.
type request struct {
	address, path string
	query         url.Values
	raw           string // is added to the query as it is
	header        http.Header
	host, body    string
}

// valid returns a request that the operation accepts. A new parameter that an operation
// requires needs a value here.
func (d *described) valid(o operation, s *store.Store, fingerprint string) request {
	d.Helper()
	r := request{address: d.address, path: o.path, query: url.Values{}, header: http.Header{"X-User": {"ada"}}}
	if o.OperationID == "partitions" { // without a table it lists
		r.query.Set("table", "orders")
	}
	for _, p := range o.Parameters {
		if !p.Value.Required {
			continue
		}
		switch name := p.Value.In + " " + p.Value.Name; name {
		case "path fingerprint":
			r.path = strings.ReplaceAll(r.path, "{fingerprint}", fingerprint)
		case "path id":
			n, err := silence.Add(d.Context(), s, silence.Request{Matchers: []string{"table=~" + o.OperationID}, For: "1h", Reason: "test"}, "ada")
			must(d.T, err)
			r.path = strings.ReplaceAll(r.path, "{id}", n.ID)
		case "query table":
			r.query.Set("table", "orders")
		default:
			d.Fatalf("%s %s requires the parameter %s: give its value here", o.method, o.path, name)
		}
	}
	if o.RequestBody != nil {
		r.header.Set("Content-Type", "application/json")
		r.body = `{"matchers":["table=~carts"],"for":"1h","reason":"test"}`
	}
	return r
}

// hold sends a request and holds the answer to the document. It returns the status.
func (d *described) hold(o operation, r request) int {
	d.Helper()
	query := r.query.Encode() + r.raw
	sent, err := http.NewRequestWithContext(d.Context(), o.method, r.address+r.path+"?"+query, strings.NewReader(r.body))
	must(d.T, err)
	sent.Header, sent.Host = r.header, r.host
	answer, err := http.DefaultClient.Do(sent)
	must(d.T, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	must(d.T, err)
	name := o.method + " " + r.path + "?" + query + ": " + answer.Status
	described := o.Responses.Status(answer.StatusCode)
	if described == nil {
		d.Errorf("%.300s is not described: %.200s", name, body)
		return answer.StatusCode
	}
	if len(described.Value.Content) == 0 {
		if len(body) > 0 {
			d.Errorf("%.300s has a body that is not described: %.200s", name, body)
		}
		return answer.StatusCode
	}
	plain, err := http.NewRequestWithContext(d.Context(), o.method, r.path, strings.NewReader(r.body))
	must(d.T, err)
	route, _, err := d.router.FindRoute(plain)
	must(d.T, err)
	input := &openapi3filter.RequestValidationInput{Request: plain, Route: route}
	if err := openapi3filter.ValidateResponse(d.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(body)),
	}); err != nil {
		d.Errorf("%.300s (%s) is not as described: %.500s", name, answer.Header.Get("Content-Type"), err)
	}
	return answer.StatusCode
}

// TestEveryAnswerIsDescribed provokes each kind of answer of each operation of the OpenAPI
// document. Each answer has a status that the document lists, and its type and its schema;
// each status that the document lists was seen.
func TestEveryAnswerIsDescribed(t *testing.T) {
	t.Parallel()
	d, s, found := newDescribed(t)
	fingerprint := found[slices.IndexFunc(found, func(f detect.Finding) bool { return f.Key == hostile })].Fingerprint
	closed, full, broken, away := closedStore(t), fullOfSilences(t), brokenStore(t, fingerprint), awayStore(t)
	locked, lost := lockedSites(t, s)
	at := func(address string) func(*request, operation) {
		return func(r *request, _ operation) { r.address = address }
	}
	set := func(name, value string) func(*request, operation) {
		return func(r *request, _ operation) { r.header.Set(name, value) }
	}
	spoils := map[string]func(*request, operation){
		"nothing":              func(*request, operation) {},
		"known":                set("If-None-Match", "*"),
		"no text":              func(r *request, _ operation) { r.raw = "&x=%00" },
		"a body that is none":  func(r *request, _ operation) { r.body = "{" },
		"a body of a list":     func(r *request, _ operation) { r.body = "[]" },
		"without a body":       func(r *request, _ operation) { r.body = "" },
		"a huge body":          func(r *request, _ operation) { r.body = `{"reason":"` + strings.Repeat("x", 100_000) + `"}` },
		"another type of body": set("Content-Type", "text/plain"),
		"nobody":               at(locked),
		"a reader":             set("X-User", "bob"),
		"another site":         set("Sec-Fetch-Site", "cross-site"),
		"a foreign name":       func(r *request, _ operation) { r.host = "evil.example" },
		"nothing of the name": func(r *request, o operation) {
			r.path = strings.NewReplacer("{fingerprint}", "absent", "{id}", "absent").Replace(o.path)
		},
		"too many":                   at(full),
		"a store that is closed":     at(closed),
		"a document that is broken":  at(broken),
		"settings that are gone":     at(lost),
		"a database that is away":    at(away),
		"a part":                     set("Range", "bytes=0-9"),
		"a part behind the end":      set("Range", "bytes=999999999-"),
		"a part that is none":        set("Range", "bytes=z"),
		"another version":            set("If-Match", `"other"`),
		"a time":                     set("If-Unmodified-Since", time.Unix(0, 0).UTC().Format(http.TimeFormat)),
		"another type of answer":     set("Accept", "text/html"),
		"no compression":             set("Accept-Encoding", "identity;q=0, br"),
		"a condition that is no tag": set("If-None-Match", `W/"`),
	}
	for _, o := range d.operations() {
		seen := map[int]bool{}
		for _, spoil := range spoils {
			r := d.valid(o, s, fingerprint)
			spoil(&r, o)
			seen[d.hold(o, r)] = true
		}
		for _, p := range o.Parameters {
			if p.Value.In != openapi3.ParameterInQuery {
				continue
			}
			for _, value := range []string{
				"", "0", "-1", "1.5", "1e308", "NaN", "Inf", "99999999999999999999", "x", "orders", "firing", "!", "bnVsbA", "e30", "W10", "'", "\x1b[2J", "\u202e",
				"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "290h", "-1h", "1ns", strings.Repeat("9", 5000),
			} {
				r := d.valid(o, s, fingerprint)
				r.query.Set(p.Value.Name, value)
				seen[d.hold(o, r)] = true
			}
		}
		for status := range o.Responses.Map() {
			if code, err := strconv.Atoi(status); err != nil || !seen[code] {
				t.Errorf("%s %s is described with %s, which nothing here provokes", o.method, o.path, status)
			}
		}
	}
}

// closedStore serves a store that was closed.
func closedStore(t *testing.T) string {
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	at := guard(t, s)
	must(t, s.Close())
	return at
}

// fullOfSilences serves a store that takes no more silences.
func fullOfSilences(t *testing.T) string {
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	for range 1000 {
		_, err := silence.Add(t.Context(), s, silence.Request{Matchers: []string{"table=orders"}, For: "1h", Reason: "test"}, "ada")
		must(t, err)
	}
	return guard(t, s)
}

// brokenStore serves a store with a finding whose document is no JSON.
func brokenStore(t *testing.T, fingerprint string) string {
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	l, _, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	must(t, err)
	now := time.Now()
	must(t, s.Judge(t.Context(), l, store.Judgement{Findings: []store.Finding{{
		Fingerprint: fingerprint, Case: "hot_key", Subject: "key_writes", Severity: "critical", State: "firing", FirstSeen: now, LastSeen: now, Document: []byte(`{"finding":`),
	}}}))
	return guard(t, s)
}

// awayStore serves a store whose Postgres was killed.
func awayStore(t *testing.T) string {
	server := pgtest.Run(t)
	s, err := store.Open(t.Context(), server.URL("postgres"), store.Options{Migrate: true})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	must(t, server.Kill())
	return guard(t, s)
}

// lockedSites serves a store to users with a password, once with its settings and once after
// they were removed.
func lockedSites(t *testing.T, s *store.Store) (locked, lost string) {
	hash, err := bcrypt.GenerateFromPassword([]byte("secret"), bcrypt.MinCost)
	must(t, err)
	serve := func() (address, file string) {
		file = filepath.Join(t.TempDir(), "web.yaml")
		must(t, os.WriteFile(file, []byte("basic_auth_users: {ada: "+strconv.Quote(string(hash))+"}\n"), 0o600))
		return guardedBy(t, s, admin.Access{ConfigFile: file, Operators: []string{"ada"}}), file
	}
	locked, _ = serve()
	lost, file := serve()
	get(t, lost, http.StatusUnauthorized) // it has read its settings
	must(t, os.Remove(file))
	return locked, lost
}
