package web_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/incident/silence"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// described is the API with its description.
type described struct {
	*testing.T
	address string
	doc     *openapi3.T
	router  routers.Router
	// called are the operations that were answered with 200, and empty those of their lists
	// that had nothing in every answer.
	called map[string]bool
	empty  map[string]bool
}

// newDescribed serves a store with some of everything, and reads the description that it
// serves.
func newDescribed(t *testing.T) (*described, *store.Store, []detect.Finding) {
	t.Helper()
	s, found := filled(t)
	_, err := silence.Add(t.Context(), s, silence.Request{Matchers: []string{"table=orders"}, For: "2h", Reason: "load test"}, "ada")
	must(t, err)
	fillPipeline(t, s)
	rollUp(t, s)
	addPartitions(t, s)
	d := &described{T: t, address: guard(t, s), called: make(map[string]bool), empty: make(map[string]bool)}
	text, _ := get(t, d.address+"/api/v1/openapi.json", http.StatusOK)
	d.doc, err = openapi3.NewLoader().LoadFromData([]byte(text))
	must(t, err)
	must(t, d.doc.Validate(t.Context()))
	d.router, err = gorillamux.NewRouter(d.doc)
	must(t, err)
	return d, s, found
}

// fillPipeline adds two collectors, what they rejected and what they lost, and two
// receivers.
func fillPipeline(t *testing.T, s *store.Store) {
	t.Helper()
	must(t, s.ReceiverSucceeded(t.Context(), "chat"))
	must(t, s.ReceiverFailed(t.Context(), "pagers", "connection refused", time.Minute))
	for _, id := range []string{"collector-1", "collector-2"} {
		must(t, s.StartWriter(t.Context(), store.Writer{ID: id, Host: "host", Started: time.Now()}))
		partition := store.PartitionID{Source: "kafka:samples", Name: id}
		at, err := s.Claim(t.Context(), id, store.Claim{PartitionID: partition})
		must(t, err)
		must(t, s.Commit(t.Context(), store.Commit{
			Writer: id, Seq: 1, Moves: []store.Move{{PartitionID: partition, Epoch: at.Epoch, From: at.Next, To: "9"}},
			Bad:  []store.BadSample{{Hour: time.Now().Truncate(time.Hour), Source: "kafka:samples", Reason: "syntax", Count: 3, Excerpts: []sample.Text{"{…"}}},
			Gaps: []store.Gap{{Gap: sample.Gap{Source: "kafka:samples", Partition: id, From: "1", To: "4", Reason: "retention was shorter"}}},
		}))
	}
}

// rollUp adds roll-ups of the stored seconds.
func rollUp(t *testing.T, s *store.Store) {
	t.Helper()
	at := time.Now().Add(-time.Minute).Truncate(10 * time.Second)
	w := &sketch.Window{Target: sample.Target{Table: "orders"}, Keys: []sketch.KeyLoad{
		{Hash: 1, Key: sample.KeyString("a"), Low: sketch.Load{Write: 1_500_000}, Throttled: sketch.Load{Write: 300_000}},
		{Hash: 2, Key: sample.KeyString("b"), Low: sketch.Load{Write: 700_000}},
	}}
	body, err := rollup.OfSecond(w, true).MarshalBinary()
	must(t, err)
	l, ok, err := s.AcquireLease(t.Context(), "judge", "test", time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %t, %v", ok, err)
	}
	must(t, s.Judge(t.Context(), l, store.Judgement{Rollups: []store.Rollup{{Target: w.Target, Level: int64(rollup.TenSeconds), Begins: at, Body: body}}}))
}

// call sends a request as an operator, and holds it and its answer to the description.
func (d *described) call(method, path, body string, want int, header ...string) (answer []byte, etag string) {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), method, d.address+path, strings.NewReader(body))
	must(d.T, err)
	r.Header.Set("X-User", "ada")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	must(d.T, err)
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	must(d.T, err)
	if response.StatusCode != want {
		d.Fatalf("%s %s returns %s, want %d: %s", method, path, response.Status, want, answer)
	}
	// Validation reads the body anew, and paths without the host.
	plain, err := http.NewRequestWithContext(d.Context(), method, path, strings.NewReader(body))
	must(d.T, err)
	plain.Header = r.Header
	route, parameters, err := d.router.FindRoute(plain)
	must(d.T, err)
	input := &openapi3filter.RequestValidationInput{Request: plain, PathParams: parameters, Route: route}
	if err := openapi3filter.ValidateRequest(d.Context(), input); (err != nil) != (want == http.StatusBadRequest) {
		d.Errorf("the description says of %s %s, which returns %d: %v", method, path, want, err)
	}
	if route.Operation.Responses.Status(want) == nil {
		d.Errorf("%s %s returns %d, which is not described", method, path, want)
	}
	must(d.T, openapi3filter.ValidateResponse(d.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: response.StatusCode, Header: response.Header, Body: io.NopCloser(bytes.NewReader(answer)),
	}))
	if want == http.StatusOK {
		d.called[method+" "+route.Path] = true
		d.lists(method+" "+route.Path, answer)
	}
	return answer, response.Header.Get("ETag")
}

// lists notes which lists of an answer have anything.
func (d *described) lists(operation string, answer []byte) {
	var all map[string]json.RawMessage
	must(d.T, json.Unmarshal(answer, &all))
	for name, value := range all {
		if of := operation + " " + name; string(value) == "[]" {
			if _, known := d.empty[of]; !known {
				d.empty[of] = true
			}
		} else {
			d.empty[of] = false
		}
	}
}

// TestTheAPIIsAsDescribed calls every operation of the OpenAPI document, and holds every
// answer to its schema; and there is no route that the document does not have.
func TestTheAPIIsAsDescribed(t *testing.T) {
	t.Parallel()
	d, _, found := newDescribed(t)
	heat := "table=orders&span=5m"
	i := slices.IndexFunc(found, func(f detect.Finding) bool { return f.Key == hostile && f.Subject == detect.KeyWrites })
	finding := "/api/v1/findings/" + found[i].Fingerprint
	for _, c := range []struct {
		path string
		want int
	}{
		{"/api/v1/openapi.json", 200},
		{"/api/v1/findings", 200}, {"/api/v1/findings?state=firing&severity=critical&table=orders&case=hot_key&subject=key_writes&limit=3", 200},
		{"/api/v1/findings?state=hot", 400}, {"/api/v1/findings?limit=0", 400}, {"/api/v1/findings?limit=1001", 400},
		{finding, 200}, {"/api/v1/findings/absent", 404},
		{finding + "/what-if", 200}, {finding + "/what-if?shards=8&growth=2.5", 200}, {finding + "/what-if?shards=201", 400}, {finding + "/what-if?growth=0", 400}, {finding + "/what-if?growth=NaN", 400}, {finding + "/what-if?growth=1e9", 400}, {finding + "/what-if?shards=0", 400},
		{"/api/v1/findings/absent/what-if", 404},
		{"/api/v1/incidents", 200}, {"/api/v1/incidents?case=hot_key&state=firing", 200}, {"/api/v1/incidents?severity=bad", 400},
		{"/api/v1/collectors", 200}, {"/api/v1/receivers", 200}, {"/api/v1/tables", 200}, {"/api/v1/gaps?source=kafka:samples", 200},
		{"/api/v1/bad-samples", 200}, {"/api/v1/bad-samples?source=kafka:samples", 200},
		{"/api/v1/heat?" + heat, 200}, {"/api/v1/heat?what=read&rows=5&" + heat, 200}, {"/api/v1/heat?what=throttled&" + heat, 400}, {"/api/v1/heat?span=1h", 400}, {"/api/v1/heat?rows=151&" + heat, 400},
		{"/api/v1/partitions", 200}, {"/api/v1/partitions?table=orders", 200},
		{"/api/v1/silences", 200}, {"/api/v1/silences?state=active", 200}, {"/api/v1/silences?state=over", 400},
	} {
		d.call(http.MethodGet, c.path, "", c.want)
	}
	added, _ := d.call(http.MethodPost, apiAt, `{"matchers":["table=~carts"],"for":"1h","reason":"test"}`, 200)
	var answer struct{ Silence store.Silence }
	must(t, json.Unmarshal(added, &answer))
	d.call(http.MethodDelete, apiAt+"/"+answer.Silence.ID, "", 200)
	d.call(http.MethodDelete, apiAt+"/absent", "", 404)

	var documented []string
	for path, item := range d.doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	slices.Sort(documented)
	for _, operation := range documented {
		if !d.called[operation] {
			t.Errorf("%s is described, and was not called", operation)
		}
	}
	for list, empty := range d.empty {
		if empty {
			t.Errorf("%s had nothing in it", list)
		}
	}
	site, err := web.New(nil, slog.New(slog.DiscardHandler), web.Options{})
	must(t, err)
	served := slices.DeleteFunc(site.Routes(), func(pattern string) bool { return !strings.Contains(pattern, " /api/") })
	if !slices.Equal(served, documented) {
		t.Errorf("served are\n%s\ndescribed are\n%s", strings.Join(served, "\n"), strings.Join(documented, "\n"))
	}
}

// TestListsAreWhole: the pages of each list, one entry each, have all of it in its order.
func TestListsAreWhole(t *testing.T) {
	t.Parallel()
	d, _, _ := newDescribed(t)
	for path, list := range map[string]string{
		"/api/v1/findings": "findings", "/api/v1/incidents": "incidents", "/api/v1/collectors": "collectors", "/api/v1/receivers": "receivers", "/api/v1/tables": "tables",
		"/api/v1/gaps": "gaps", "/api/v1/bad-samples": "bad_samples", "/api/v1/silences": "silences",
	} {
		type page map[string]json.RawMessage
		read := func(query string) (entries []json.RawMessage, next string) {
			body, _ := d.call(http.MethodGet, path+"?"+query, "", http.StatusOK)
			var p page
			must(t, json.Unmarshal(body, &p))
			must(t, json.Unmarshal(p[list], &entries))
			must(t, json.Unmarshal(p["next"], &next)) // null leaves it empty
			return entries, next
		}
		whole, next := read("")
		if next != "" || len(whole) == 0 {
			t.Fatalf("%s has %d entries, and then %q", path, len(whole), next)
		}
		var parts []json.RawMessage
		for query := "limit=1"; ; {
			entries, next := read(query)
			parts = append(parts, entries...)
			if len(entries) != 1 {
				t.Fatalf("%s?%s has %d entries", path, query, len(entries))
			}
			if next == "" {
				break
			}
			query = "limit=1&" + url.Values{"after": {next}}.Encode()
		}
		if !slices.EqualFunc(whole, parts, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			t.Errorf("%s: the pages have\n%s\nthe whole has\n%s", path, parts, whole)
		}
		get(t, d.address+path+"?after=%21", http.StatusBadRequest)
	}
}

// TestNothingChanged: who has an answer is told that it has not changed, until it has.
func TestNothingChanged(t *testing.T) {
	t.Parallel()
	d, _, found := newDescribed(t)
	from := time.Now().Add(-5 * time.Minute).UTC()
	heat := url.Values{"table": {"orders"}, "from": {from.Format(time.RFC3339)}, "to": {from.Add(5 * time.Minute).Format(time.RFC3339)}}.Encode()
	for path, item := range d.doc.Paths.Map() {
		if item.Get == nil {
			continue
		}
		path = strings.ReplaceAll(path, "{fingerprint}", found[0].Fingerprint) + "?" + heat
		_, etag := d.call(http.MethodGet, path, "", http.StatusOK)
		for _, known := range []string{etag, `"other", ` + etag, "*"} {
			if body, again := d.call(http.MethodGet, path, "", http.StatusNotModified, "If-None-Match", known); len(body) > 0 || again != etag {
				t.Errorf("%s: %s is answered with %q and %d bytes", path, known, again, len(body))
			}
		}
		// Without compression it is the same answer.
		if _, plain := d.call(http.MethodGet, path, "", http.StatusOK, "Accept-Encoding", "identity"); plain != etag || etag == "" {
			t.Errorf("%s is %q, and uncompressed %q", path, etag, plain)
		}
	}
	_, before := d.call(http.MethodGet, apiAt, "", http.StatusOK)
	d.call(http.MethodPost, apiAt, `{"matchers":["table=~carts"],"for":"1h","reason":"test"}`, http.StatusOK)
	if _, after := d.call(http.MethodGet, apiAt, "", http.StatusOK, "If-None-Match", before); after == before {
		t.Error("a silence was added, and nothing changed")
	}
}

// TestNoSecondsNoAnswer: a finding without stored seconds has a page, and no answer to what
// would be if it had more shards.
func TestNoSecondsNoAnswer(t *testing.T) {
	t.Parallel()
	found := manyFindings(1)
	address, page := serve(t, holding(t, found)), "/findings/"+found[0].Fingerprint
	if text, _ := get(t, address+"/api/v1"+page+"/what-if", http.StatusNotFound); !strings.Contains(text, "not stored") {
		t.Errorf("the answer is %s", text)
	}
	if text, _ := get(t, address+page, http.StatusOK); strings.Contains(text, `id="what-if"`) {
		t.Error("the page asks what cannot be answered")
	}
}
