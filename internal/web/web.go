// Package web serves the stored data: pages for people, rendered here, and the same
// findings as JSON for programs.
//
// Pages need nothing but this server: no script from elsewhere, no font, no CDN. They
// work without any script: one script follows them as they change, one
// tells of a heatmap's cells, whose keys are also in a table, and one moves the sliders of a
// finding's page. Operators can change silences here, and nothing else: see package
// admin.
//
// The JSON API is described by the OpenAPI document of package openapi, at
// /api/v1/openapi.json. Findings have the same form as in analyze and webhooks; see
// docs/findings.schema.json.
package web

import (
	"embed"
	"errors"
	"fmt"
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
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/docs"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/daemon"
	"github.com/keyheat/keyheat/internal/partitions"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/internal/web/manual"
	"github.com/keyheat/keyheat/internal/web/status"
	"github.com/keyheat/keyheat/rollup"
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
	streams *streams
	turns   *daemon.Turns
	mux     *http.ServeMux
	added   []link
}

// Options are a site's settings beside the stored data.
type Options struct {
	// Policy returns the policy of a table or index; detect's default for all when nil.
	Policy func(detect.Target) detect.Policy
	// Receivers returns the names of the receivers that are told of incidents; none when nil.
	Receivers func() []string
}

// Close ends the streams of pages that are followed: a server that shuts down waits for
// its requests, and these end only so.
func (s *Site) Close() { s.streams.Close() }

var functions = template.FuncMap{
	"amount":         wording.About,
	"whole":          wording.Count,
	"percent":        percent,
	"part":           wording.Part,
	"oflimit":        ofLimit,
	"found":          say.Name,
	"tablecompared":  say.TableCloudWatch,
	"details":        func(f detect.Finding) []say.Line { return say.Details(&f) },
	"tableload":      func(t detect.Table) []say.Line { return say.TableLoad(&t) },
	"design":         say.Design,
	"whatif":         say.WhatIf,
	"whatifseconds":  say.WhatIfSeconds,
	"effective":      say.EffectivePartitions,
	"unknownload":    say.UnknownLoad,
	"silencedeffect": func() string { return say.SilencedEffect },
	"empty":          func() say.EmptyParts { return say.Empty },
	"subject":        subject,
	"note":           say.Note,
	"requests":       func(f detect.Finding) []say.Line { return say.Requests(&f) },
	"figures":        func(f detect.Finding) []say.Line { return say.Figures(&f) },
	"overseconds":    wording.OverSeconds,
	"iso":            func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clock":          func(t time.Time) string { return t.UTC().Format("15:04:05") },
	"moment":         func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") },
	"field":          func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") },
	"count":          wording.Plural,
	"keytext":        templateKeytext,
	"day":            func(t time.Time) string { return t.UTC().Format("2006-01-02") },
	"upper":          strings.ToUpper,
	"class":          verdictClass,
	"ceiling":        say.Ceiling,
	"share":          sharePercent,

	"partition":      func(s partition.State, r detect.PartitionRange) string { return say.PartitionName(s, &r) },
	"forecasts":      say.ForecastScore,
	"split":          func(s detect.PartitionSplit) string { return say.DescribeSplit(&s) },
	"mapstate":       say.MapState,
	"walk":           say.Walk,
	"late":           say.Lateness,
	"busykeys":       say.BusyKeys,
	"mapclass":       mapClass,
	"mapevidence":    func(v partition.View) string { return say.Partitions(&v) },
	"partitionslink": partitionsLink,

	"hotlink": hotLink, "tablepage": tablePageLink, "coverage": say.Coverage, "said": say.NewRow, "loadoflimit": wording.LoadOfLimit, "owners": incidentOwners,
	"fullest":     func(t *partitions.Table) string { return say.FullestPartition(t.State, t.Partitions) },
	"bar":         func(share detect.Figure) string { return fmt.Sprintf("%.1f", 100*min(1, share.Low)) },
	"heataround":  func(m *chart.Map, at time.Time) string { return heatmap.LinkAround(indexValues(m.Target), m, at) },
	"heatsummary": heatmap.Summary,
	"rowid":       func(of detect.Target) string { return "t-" + indexValues(of).Encode() },

	"tablelink": tableLink, "findingslink": findingsLink, "place": wording.Owner,
	"distinct": say.DistinctKeys, "period": period, "summarise": summarise,
	"heatlink": heatLink, "findingheat": findingHeatLink, "step": func(seconds int64) string { return rollup.Level(seconds).String() },
	"clip":           func(text string) string { return wording.Shorten(text, shownKey) },
	"state":          func(s detect.State) string { return stateWords[s] },
	"imperative":     func(f detect.Finding, s detect.Step) string { return say.Imperative(&f, &s) },
	"stepwhy":        func(f detect.Finding, s detect.Step) string { return say.StepWhy(&f, &s) },
	"health":         newHealth,
	"offset":         status.DescribeOffset,
	"span":           func(from, to time.Time) string { return wording.Span(to.Sub(from)) },
	"duration":       wording.Span,
	"mebibytes":      func(bytes int64) string { return wording.About(float64(bytes)/(1<<20)) + " MiB" },
	"recent":         func(now, t time.Time) bool { return now.Sub(t) < 24*time.Hour },
	"hour":           func(t time.Time) string { return t.UTC().Format("15:04") },
	"collectorstate": status.NewCollectorState,
	"guide":          func(section string) string { return strings.ReplaceAll(section, "-", " ") },
}

// New returns the site over a store.
func New(st *store.Store, logger *slog.Logger, o Options) (*Site, error) {
	if o.Policy == nil {
		o.Policy = func(detect.Target) detect.Policy { return detect.DefaultPolicy() }
	}
	if o.Receivers == nil {
		o.Receivers = func() []string { return nil }
	}
	s := &Site{options: o, store: st, logger: logger, pages: make(map[string]*template.Template), streams: newStreams(), turns: daemon.NewTurns(store.Readers), mux: http.NewServeMux()}
	for _, name := range []string{"findings", "finding", "tables", "table", "partitions", "heat", "reports", "silences", "docs", "document", "status", "error"} {
		page, err := template.New("layout.html").Funcs(functions).ParseFS(pages, "page/layout.html", "page/parts.html", "page/"+name+".html")
		if err != nil {
			return nil, err
		}
		s.pages[name] = page
	}
	files, err := fs.Sub(static, "static")
	if err != nil {
		return nil, err
	}
	for pattern, handler := range s.routes() {
		s.mux.Handle(pattern, handler)
	}
	s.mux.Handle("GET /static/", http.StripPrefix("/static/", cache(http.FileServerFS(files))))
	s.Handler = guard(gzhttp.GzipHandler(s.legible(s.mux)))
	return s, nil
}

func (s *Site) routes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /{$}":                    s.page("findings", s.overview),
		"GET /findings/{fingerprint}": s.page("finding", s.finding),
		"GET /tables":                 s.page("tables", s.tablesPage),
		"GET /table":                  s.page("table", s.table),
		"GET /heat":                   s.page("heat", s.heatPage),
		"GET /heat/cells":             s.api(s.heatCells),
		"GET /partitions":             s.page("partitions", s.partitionsPage),
		"GET /reports":                s.page("reports", s.reports),
		"GET /reports/{id}":           s.showReport,
		"GET /silences":               s.page("silences", s.silences),
		"POST /silences":              s.addSilence,
		"POST /silences/{id}/expire":  s.expireSilence,
		"GET /status":                 s.page("status", s.statusPage),
		"GET /docs/{name...}":         manual.Handler(docs.Files, s.showDocument, s.showError),

		"GET /api/v1/openapi.json":                   s.api(s.apiDocument),
		"GET /api/v1/findings":                       s.api(s.apiFindings),
		"GET /api/v1/findings/{fingerprint}":         s.api(s.apiFinding),
		"GET /api/v1/findings/{fingerprint}/what-if": s.api(s.apiWhatIf),
		"GET /api/v1/incidents":                      s.api(s.apiIncidents),
		"GET /api/v1/collectors":                     s.api(s.apiCollectors),
		"GET /api/v1/receivers":                      s.api(s.apiReceivers),
		"GET /api/v1/tables":                         s.api(s.apiTables),
		"GET /api/v1/gaps":                           s.api(s.apiGaps),
		"GET /api/v1/bad-samples":                    s.api(s.apiBadSamples),
		"GET /api/v1/heat":                           s.api(s.apiHeat),
		"GET /api/v1/partitions":                     s.api(s.apiPartitions),
		"GET /api/v1/silences":                       s.api(s.apiSilences),
		"POST /api/v1/silences":                      s.api(s.apiAddSilence),
		"DELETE /api/v1/silences/{id}":               s.api(s.apiExpireSilence),
	}
}

// policy lets a page load its own style sheet, script and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
	"img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guard sets the browsers' security headers, and rejects requests that another site makes
// with a visitor's rights.
func guard(h http.Handler) http.Handler {
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

// legible rejects requests whose path or parameters no database takes as text: Postgres
// refuses NUL and invalid UTF-8. It does so for the whole site.
func (s *Site) legible(h http.Handler) http.Handler {
	isText := func(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
	wrong := badRequest{Err: errors.New("the address holds what is no text: write it in UTF-8, without NUL")}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		values, err := url.ParseQuery(r.URL.RawQuery)
		ok := err == nil && isText(r.URL.Path)
		for name, of := range values {
			ok = ok && isText(name) && !slices.ContainsFunc(of, func(v string) bool { return !isText(v) })
		}
		switch {
		case ok:
			h.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, "/api/"):
			s.apiError(w, r, wrong)
		default:
			http.Error(w, wrong.Error(), http.StatusBadRequest)
		}
	})
}

func cache(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=300")
		h.ServeHTTP(w, r)
	})
}

const queryTimeout = 10 * time.Second
