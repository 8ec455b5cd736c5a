package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/store"
)

// frame is what every page has.
type frame struct {
	Title, Page string
	Now         time.Time
	// Live pages refresh themselves where there is a script.
	Live bool
	// Gaps were noticed in the last day; Lagging partitions are far behind.
	Gaps    []store.Gap
	Lagging []store.Watermark
	// Nothing reports that no collector was ever heard of. Silent is the time since
	// when none has written; zero while one does.
	Nothing bool
	Silent  time.Time
}

// The banner shows the gaps of a day, and partitions that lag by more than a minute.
const (
	gapsShown = 24 * time.Hour
	lagShown  = time.Minute
)

func (s *Site) frame(ctx context.Context, title, page string) (frame, error) {
	f := frame{Title: title, Page: page, Now: time.Now(), Live: true}
	gaps, err := s.store.Gaps(ctx, store.GapQuery{Limit: 100})
	if err != nil {
		return f, err
	}
	for _, g := range gaps {
		if f.Now.Sub(g.Noticed) < gapsShown {
			f.Gaps = append(f.Gaps, g)
		}
	}
	marks, err := s.store.Watermarks(ctx)
	for _, m := range marks {
		if f.Now.Sub(m.Time) > lagShown && m.Lag > 0 {
			f.Lagging = append(f.Lagging, m)
		}
	}
	if err != nil {
		return f, err
	}
	return f, s.listen(ctx, &f)
}

// listen finds out whether anybody collects.
func (s *Site) listen(ctx context.Context, f *frame) error {
	now, err := s.store.Now(ctx)
	if err != nil {
		return err
	}
	writers, err := s.store.Writers(ctx)
	if err != nil {
		return err
	}
	f.Nothing = len(writers) == 0
	if since, silent := store.Silence(writers, now); silent {
		f.Silent = since
	}
	return nil
}

// row is a finding in the list.
type row struct {
	detect.Finding
	// Where is the table's account and Region.
	Where string
	Value float64
	Unit  string
	Todo  string
	Bar   bar
	// Silenced is the silence of the finding's incident; nil for none.
	Silenced *detect.Silenced
	// Part reports that the finding is one of the same incident as the row above.
	Part bool
}

type findingsPage struct {
	frame
	Filters  []filter
	Filtered bool
	Rows     []row
}

func (s *Site) findings(ctx context.Context, r *http.Request) (any, error) {
	values := r.URL.Query()
	q, err := findingQuery(values)
	if err != nil {
		return nil, err
	}
	page := &findingsPage{Filters: filters(values), Filtered: len(values) > 0}
	if page.frame, err = s.frame(ctx, "Findings", "findings"); err != nil {
		return nil, err
	}
	rows, err := s.store.Findings(ctx, q)
	if err != nil {
		return nil, err
	}
	found := make([]detect.Finding, len(rows))
	for i := range rows {
		if found[i], err = decode(rows[i]); err != nil {
			return nil, err
		}
	}
	silenced, err := s.silencedIncidents(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range detect.ByIncident(found) {
		n := len(page.Rows)
		page.Rows = append(page.Rows, row{
			Finding: *f, Value: figure(f.Kind, f.Peak.Loads).Value, Unit: unit(f.Kind), Todo: todo(*f), Bar: newBar(f), Silenced: silenced[f.Incident],
			Part: n > 0 && page.Rows[n-1].Incident == f.Incident,
		})
	}
	targets := make([]detect.Target, len(page.Rows))
	for i := range page.Rows {
		targets[i] = page.Rows[i].Target
	}
	for i, where := range places(targets) {
		page.Rows[i].Where = where
	}
	return page, nil
}

func decode(row store.Finding) (detect.Finding, error) {
	f, err := detect.ReadFinding(row.Document)
	if err != nil {
		return f, fmt.Errorf("stored finding %s: %w", row.Fingerprint, err)
	}
	return f, nil
}

// todo returns the first sentence of the first step that is something to do. Findings
// that were stored before steps had an effort begin with what does not help.
func todo(f detect.Finding) string {
	for _, step := range f.Advice {
		if step.Effort != "" || step.Action != detect.ActionCapacity {
			sentence, _, cut := strings.Cut(step.Text, ". ")
			if cut {
				sentence += "."
			}
			return sentence
		}
	}
	return ""
}

// filter is a row of links that choose one value of a query's field.
type filter struct {
	Name    string
	Choices []choice
}

type choice struct {
	Word, Link string
	Chosen     bool
}

func filters(values url.Values) []filter {
	all := []filter{newFilter(values, "state", states), newFilter(values, "severity", severities)}
	for _, name := range []string{"account", "region", "table"} {
		if chosen := values.Get(name); chosen != "" {
			all = append(all, newFilter(values, name, []string{chosen}))
		}
	}
	return all
}

func newFilter(values url.Values, name string, known []string) filter {
	f := filter{Name: name}
	for _, word := range append([]string{""}, known...) {
		next := url.Values{}
		for key, v := range values {
			if key != name && len(v) > 0 && v[0] != "" {
				next.Set(key, v[0])
			}
		}
		shown := word
		if word == "" {
			shown = "any " + name
		} else {
			next.Set(name, word)
		}
		link := "/"
		if len(next) > 0 {
			link += "?" + next.Encode()
		}
		f.Choices = append(f.Choices, choice{Word: shown, Link: link, Chosen: values.Get(name) == word})
	}
	return f
}

type tablesPage struct {
	frame
	Tables []tableRow
}

// tableRow is a table in the list.
type tableRow struct {
	tableTotals
	// Where is the table's account and Region.
	Where string
}

func (s *Site) tablesPage(ctx context.Context, _ *http.Request) (any, error) {
	f, err := s.frame(ctx, "Tables", "tables")
	if err != nil {
		return nil, err
	}
	tables, err := s.tables(ctx)
	if err != nil {
		return nil, err
	}
	page, targets := tablesPage{frame: f}, make([]detect.Target, len(tables))
	for i := range tables {
		targets[i] = tables[i].Target
	}
	for i, where := range places(targets) {
		page.Tables = append(page.Tables, tableRow{tables[i], where})
	}
	return page, nil
}

type errorPage struct {
	frame
	Message string
}

// page serves what is loaded as the page of a name, or the page of its error.
func (s *Site) page(name string, load loader) http.HandlerFunc {
	return serve(load, s.showError, func(w http.ResponseWriter, r *http.Request, v any) { s.render(w, r, http.StatusOK, name, v) })
}

func (s *Site) showError(w http.ResponseWriter, r *http.Request, err error) {
	code, message := status(err)
	s.log(r, code, err)
	s.render(w, r, code, "error", errorPage{
		frame{Title: http.StatusText(code), Now: time.Now()}, strings.ToUpper(message[:1]) + message[1:] + ".",
	})
}

// render writes a page whole or not at all.
func (s *Site) render(w http.ResponseWriter, r *http.Request, code int, name string, data any) {
	var page bytes.Buffer
	if err := s.pages[name].Execute(&page, data); err != nil {
		s.log(r, http.StatusInternalServerError, err)
		http.Error(w, "the page could not be rendered: see the reporter's log", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = page.WriteTo(w) // the client is gone
}
