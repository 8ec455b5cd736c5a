// Package web shows what is stored: pages for people, rendered here, and the
// same findings as JSON for programs.
//
// Pages need nothing but this server: no script from elsewhere, no font, no
// CDN. They work without any script: one follows them as they change, see package live,
// one draws the heatmap, whose keys are also in a table, and one moves the sliders of a
// finding's page. Only silences can be changed here, by operators: see package admin.
//
// The JSON API:
//
//	/api/v1/findings                 {"findings":[…]}, the most utilised first;
//	                                 filters state, severity, table, kind, limit
//	/api/v1/findings/{fingerprint}   {"finding":{…},"history":[…]}
//	/api/v1/findings/{fingerprint}/what-if
//	                                 {"what_if":{…}}, see [whatif.Answer]: the key's
//	                                 load over so many shards, growth times
//	/api/v1/incidents                {"incidents":[…]}, the newest first; filters
//	                                 state, severity, table, cause, limit
//	/api/v1/collectors               {"collectors":[…]}, the newest first
//	/api/v1/tables                   {"tables":[…],"gaps":[…]}; each table with
//	                                 its view, the keys of the last hour
//	/api/v1/heat                     a table's heatmap, see [heatmap.Map]: of table,
//	                                 index, account and region; what is write,
//	                                 read or throttled, from and to are times in
//	                                 RFC 3339, or span, such as 1h, is how long
//	                                 until to or now; rows, of how many keys
//	/api/v1/silences                 {"silences":[…]}, those that end last first;
//	                                 filter state. POST adds one, of matchers,
//	                                 starts_at, ends_at or for, and reason
//	/api/v1/silences/{id}            DELETE ends one now
//
// Findings are in the one form that analyze and webhooks use too; see
// docs/findings.schema.json.
package web

import (
	"embed"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/gzhttp"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/internal/web/live"
	"github.com/keyheat/keyheat/store"
)

//go:embed page/*.html
var pages embed.FS

//go:embed static
var static embed.FS

// Site is the dashboard and its API, an http.Handler for the root of a server.
type Site struct {
	http.Handler
	options Options
	store   *store.Store
	logger  *slog.Logger
	pages   map[string]*template.Template
	streams *live.Streams
	mux     *http.ServeMux
	// added are the links to pages of the program's own.
	added []link
}

// Options is what a site is told beside what is stored.
type Options struct {
	// Policy returns the policy of a table or index; detect's default for all when nil.
	Policy func(detect.Target) detect.Policy
}

// Close ends the streams of pages that are followed: a server that shuts down waits for
// its requests, and these end only so.
func (s *Site) Close() { s.streams.Close() }

// functions are what templates call.
var functions = template.FuncMap{
	"amount":     wording.About,
	"whole":      wording.Count,
	"percent":    percent,
	"kind":       kindName,
	"cloudwatch": func(c detect.Corroborated) string { return cloudWatchWords[c] },
	"subject":    subject,
	"shares":     wording.Shares,
	"meansize":   wording.MeanSize,
	"iso":        func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clock":      func(t time.Time) string { return t.UTC().Format("15:04:05") },
	"moment":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"count":      count,
	"keytext":    keytext,
	"day":        func(t time.Time) string { return t.UTC().Format("2006-01-02") },
	"upper":      strings.ToUpper,
	"class":      verdictClass,
	"ceiling":    ceilingText,
	"share":      sharePercent,
	"at70":       func(f any) reach { return newReach(f, detect.ForecastEarlyShare) },
	"at100":      func(f any) reach { return newReach(f, 1) },

	"tablelink": tableLink, "findingslink": findingsLink, "place": place,
	"distinct": distinctKeys, "period": period,
	"heatlink": heatLink, "findingheat": findingHeatLink, "step": stepWords, "legend": heatmap.Legend,
	"clip":   func(text string) string { return wording.Shorten(text, shownKey) },
	"state":  func(s detect.State) string { return stateWords[s] },
	"effort": wording.Effort, "leaves": func(s detect.Step) string { return wording.Leaves(&s) },
}

// New returns the site over a store.
func New(st *store.Store, logger *slog.Logger, o Options) (*Site, error) {
	if o.Policy == nil {
		o.Policy = func(detect.Target) detect.Policy { return detect.DefaultPolicy() }
	}
	s := &Site{options: o, store: st, logger: logger, pages: make(map[string]*template.Template), streams: live.New(), mux: http.NewServeMux()}
	for _, name := range []string{"findings", "finding", "tables", "table", "heat", "reports", "silences", "error"} {
		page, err := template.New("layout.html").Funcs(functions).ParseFS(pages, "page/layout.html", "page/"+name+".html")
		if err != nil {
			return nil, err
		}
		s.pages[name] = page
	}
	files, err := fs.Sub(static, "static")
	if err != nil {
		return nil, err
	}
	mux := s.mux
	mux.HandleFunc("GET /{$}", s.page("findings", s.overview))
	mux.HandleFunc("GET /findings/{fingerprint}", s.page("finding", s.finding))
	mux.HandleFunc("GET /tables", s.page("tables", s.tablesPage))
	mux.HandleFunc("GET /table", s.page("table", s.table))
	mux.HandleFunc("GET /heat", s.page("heat", s.heatPage))
	mux.HandleFunc("GET /api/v1/heat", s.api(s.apiHeat))
	mux.HandleFunc("GET /reports", s.page("reports", s.reports))
	mux.HandleFunc("GET /reports/{id}", s.showReport)
	mux.HandleFunc("GET /api/v1/findings", s.api(s.apiFindings))
	mux.HandleFunc("GET /api/v1/findings/{fingerprint}", s.api(s.apiFinding))
	mux.HandleFunc("GET /api/v1/findings/{fingerprint}/what-if", s.api(s.apiWhatIf))
	mux.HandleFunc("GET /api/v1/incidents", s.api(s.apiIncidents))
	mux.HandleFunc("GET /api/v1/collectors", s.api(s.apiCollectors))
	mux.HandleFunc("GET /api/v1/tables", s.api(s.apiTables))
	mux.HandleFunc("GET /silences", s.page("silences", s.silences))
	mux.HandleFunc("POST /silences", s.addSilence)
	mux.HandleFunc("POST /silences/{id}/expire", s.expireSilence)
	mux.HandleFunc("GET /api/v1/silences", s.api(s.apiSilences))
	mux.HandleFunc("POST /api/v1/silences", s.api(s.apiAddSilence))
	mux.HandleFunc("DELETE /api/v1/silences/{id}", s.api(s.apiExpireSilence))
	mux.Handle("GET /static/", http.StripPrefix("/static/", cached(http.FileServerFS(files))))
	s.Handler = guarded(gzhttp.GzipHandler(legible(mux)))
	return s, nil
}

// policy lets a page load its own style sheet, script and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
	"img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guarded sets what browsers are to enforce, and rejects requests that another
// site makes with a visitor's rights.
func guarded(h http.Handler) http.Handler {
	h = http.NewCrossOriginProtection().Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		// Keys can be personal data.
		header.Set("Cache-Control", "no-store")
		h.ServeHTTP(w, r)
	})
}

// legible rejects requests whose path or parameters are no text that a database
// takes, wherever in the site they would be used: Postgres refuses NUL, and what is not
// UTF-8.
func legible(h http.Handler) http.Handler {
	isText := func(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values, err := url.ParseQuery(r.URL.RawQuery)
		ok := err == nil && isText(r.URL.Path)
		for name, of := range values {
			ok = ok && isText(name) && !slices.ContainsFunc(of, func(v string) bool { return !isText(v) })
		}
		if !ok {
			http.Error(w, "the address holds what is no text: write it in UTF-8, without NUL", http.StatusBadRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func cached(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=300")
		h.ServeHTTP(w, r)
	})
}

// queryTimeout bounds the queries of one request.
const queryTimeout = 10 * time.Second
