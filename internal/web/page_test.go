package web_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/store"
)

// TestAddedPages are as all others: in the site's frame, linked from every page, followed,
// and behind what guards the site.
func TestAddedPages(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "sqlite:"+t.TempDir()+"/keyheat.db", store.Options{Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	site, err := web.New(st, slog.New(slog.DiscardHandler), web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fails := false
	err = site.Add(web.Page{
		Path: "/extra", Title: "Extra", Content: `{{define "head"}}<meta name="extra">{{end}}{{define "main"}}<h1>{{.Data}}</h1>{{end}}`,
		Load: func(context.Context, *http.Request) (any, error) {
			if fails {
				return nil, errors.New("no data")
			}
			return "<loaded>", nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Add(web.Page{Path: "/broken", Title: "Broken", Content: "{{define"}); err == nil {
		t.Error("a template that is none is taken")
	}
	changes := 0
	site.Handle("POST /extra/change", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { changes++ }))
	server := httptest.NewServer(site)
	defer server.Close()
	defer site.Close()
	ask := func(method, path string, header http.Header) (int, http.Header, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for name, values := range header {
			r.Header[name] = values
		}
		answer, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
			event := make([]byte, 4096) // a stream does not end
			n, err := io.ReadAtLeast(answer.Body, event, len("event: changed"))
			if err != nil {
				t.Fatal(err)
			}
			return answer.StatusCode, answer.Header, string(event[:n])
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, answer.Header, string(body)
	}
	code, header, body := ask(http.MethodGet, "/extra", nil)
	for _, want := range []string{"<h1>&lt;loaded&gt;</h1>", `<meta name="extra">`, `<a href="/extra" aria-current="page">Extra</a>`, "Extra · Keyheat"} {
		if code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%d, without %q: %s", code, want, body)
		}
	}
	if !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the policy is %q", header.Get("Content-Security-Policy"))
	}
	if _, _, home := ask(http.MethodGet, "/", nil); !strings.Contains(home, `<a href="/extra">Extra</a>`) || strings.Contains(home, `name="extra"`) {
		t.Errorf("the first page is %s", home)
	}
	if _, _, stream := ask(http.MethodGet, "/extra", http.Header{"Accept": {"text/event-stream"}}); !strings.HasPrefix(stream, "event: changed") {
		t.Errorf("the stream begins with %q", stream)
	}
	for site, want := range map[string]int{"same-origin": http.StatusOK, "cross-site": http.StatusForbidden} {
		if code, _, _ := ask(http.MethodPost, "/extra/change", http.Header{"Sec-Fetch-Site": {site}}); code != want {
			t.Errorf("a change from %s is answered with %d", site, code)
		}
	}
	if changes != 1 {
		t.Errorf("%d changes are made", changes)
	}
	fails = true
	if code, _, body := ask(http.MethodGet, "/extra", nil); code != http.StatusInternalServerError || strings.Contains(body, "no data") {
		t.Errorf("an error is answered with %d, %s", code, body)
	}
}
