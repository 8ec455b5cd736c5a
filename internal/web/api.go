package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

func (s *Site) apiFindings(ctx context.Context, r *http.Request) (any, error) {
	q, err := findingQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	if err := address.ReadAfter(r.URL.Query(), &q.After); err != nil {
		return nil, err
	}
	limit := q.Limit
	q.Limit++
	rows, err := s.store.Findings(ctx, q)
	if err != nil {
		return nil, err
	}
	rows, next, err := address.Cut(rows, limit, func(f *store.Finding) any {
		return store.FindingPlace{Utilization: f.Utilization, Fingerprint: f.Fingerprint}
	})
	if err != nil {
		return nil, err
	}
	found, err := decodeAll(rows)
	for i := range found {
		say.Tell(&found[i])
	}
	return map[string]any{"findings": found, "next": next}, err
}

type change struct {
	At       time.Time `json:"at"`
	From     string    `json:"from"`
	To       string    `json:"to"`
	Severity string    `json:"severity"`
	// Code is why, and Note the same in words; both are empty where the states say it.
	Code string `json:"code"`
	Note string `json:"note"`
}

func (s *Site) apiFinding(ctx context.Context, r *http.Request) (any, error) {
	f, err := s.loadFinding(ctx, r)
	if err != nil {
		return nil, err
	}
	say.Tell(&f)
	history, err := s.store.FindingHistory(ctx, f.Fingerprint)
	if err != nil {
		return nil, err
	}
	changes := make([]change, len(history))
	for i := range history {
		t := &history[i]
		changes[i] = change{At: t.At, From: t.From, To: t.To, Severity: t.Severity, Code: t.Note, Note: say.Note(t)}
	}
	return map[string]any{"finding": f, "history": changes}, nil
}

func (s *Site) apiIncidents(ctx context.Context, r *http.Request) (any, error) {
	parameters := r.URL.Query()
	q, err := findingQuery(parameters)
	if err != nil {
		return nil, err
	}
	var after store.IncidentPlace
	if err := address.ReadAfter(parameters, &after); err != nil {
		return nil, err
	}
	rows, err := s.store.Incidents(ctx, store.IncidentQuery{
		State: q.State, Severity: q.Severity, Account: q.Account, Region: q.Region, Table: q.Table,
		Case: q.Case, Subject: q.Subject, After: after, Limit: q.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	rows, next, err := address.Cut(rows, q.Limit, func(i *store.Incident) any { return store.IncidentPlace{LastSeen: i.LastSeen, ID: i.ID} })
	if err != nil {
		return nil, err
	}
	incidents, roots := make([]detect.Incident, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		if incidents[i], err = decodeIncident(row); err != nil {
			return nil, err
		}
		roots[i] = row.Root
	}
	stored, err := s.store.FindingsByFingerprint(ctx, roots)
	if err != nil {
		return nil, err
	}
	found, err := decodeAll(stored)
	return map[string]any{"incidents": say.Incidents(incidents, found), "next": next}, err
}

func (s *Site) apiCollectors(ctx context.Context, r *http.Request) (any, error) {
	collectors, err := s.collectors(ctx)
	if err != nil {
		return nil, err
	}
	page, next, err := address.Paginate(r.URL.Query(), collectors, func(c *detect.Collector) address.Place { return address.Place{At: c.Seen, Names: []string{c.ID}} })
	return map[string]any{"collectors": page, "next": next}, err
}

// collectors returns the known collectors, the newest first. Values that a collector does
// not report are null.
func (s *Site) collectors(ctx context.Context) ([]detect.Collector, error) {
	writers, err := s.store.Writers(ctx)
	if err != nil {
		return nil, err
	}
	watermarks, err := s.store.Watermarks(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]detect.Collector, len(writers))
	for i, w := range writers {
		all[i] = collector(w)
		for _, m := range watermarks {
			if m.Writer == w.ID && !slices.Contains(all[i].Sources, m.Source) {
				all[i].Sources = append(all[i].Sources, m.Source)
			}
		}
		slices.Sort(all[i].Sources)
	}
	return all, nil
}

// receiver is how a receiver answers, in the API's form: times that are not known are
// null.
type receiver struct {
	Name         string     `json:"name"`
	Configured   bool       `json:"configured"` // the settings have it
	Failing      bool       `json:"failing"`
	FailingSince *time.Time `json:"failing_since"`
	LastError    string     `json:"last_error"`
	LastAttempt  *time.Time `json:"last_attempt"`
	LastSuccess  *time.Time `json:"last_success"`
	NextAttempt  *time.Time `json:"next_attempt"`
	Pending      int        `json:"pending"`
	PendingSince *time.Time `json:"pending_since"`
}

func (s *Site) apiReceivers(ctx context.Context, r *http.Request) (any, error) {
	stored, err := s.store.Receivers(ctx)
	if err != nil {
		return nil, err
	}
	known := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	receivers := s.options.Receivers()
	all := make([]receiver, len(stored))
	for i, r := range stored {
		all[i] = receiver{
			Name: r.Route, Configured: slices.Contains(receivers, r.Route), Failing: r.Failing(), LastError: r.LastError, LastAttempt: known(r.Attempted), LastSuccess: known(r.Succeeded),
			Pending: r.Pending, PendingSince: known(r.Oldest),
		}
		if r.Failing() {
			all[i].FailingSince, all[i].NextAttempt = known(r.FailedSince), known(r.NextAttempt)
		}
	}
	page, next, err := address.Paginate(r.URL.Query(), all, func(r *receiver) address.Place { return address.Place{Names: []string{r.Name}} })
	return map[string]any{"receivers": page, "next": next}, err
}

func collector(w store.Writer) detect.Collector {
	c := detect.Collector{
		ID: w.ID, Host: w.Host, Version: w.Version, Seen: w.Seen, State: detect.CollectorState(w.State), Reason: w.Reason,
		Lag: w.Lag, Sources: []string{}, BadShare: w.BadShare, LowerBounds: w.LowerBounds,
	}
	if !w.Stopped.IsZero() {
		c.State, c.Reason = detect.CollectorStopped, ""
	}
	if w.ClockOffset != nil {
		c.ClockOffset = new(w.ClockOffset.Seconds())
	}
	if w.RefusedTables != nil {
		c.RefusedTables = new(int64(len(w.RefusedTables)))
	}
	return c
}

// gap is a range that was not counted, in the API's form: times that are not
// known are left out.
type gap struct {
	sample.Gap
	Since   time.Time `json:"since,omitzero"`
	Until   time.Time `json:"until,omitzero"`
	Noticed time.Time `json:"noticed"`
}

func gaps(rows []store.Gap) []gap {
	all := make([]gap, len(rows))
	for i, g := range rows {
		all[i] = gap{Gap: g.Gap, Since: g.Since, Until: g.Until, Noticed: g.Noticed}
	}
	return all
}

func (s *Site) apiTables(ctx context.Context, r *http.Request) (any, error) {
	tables, err := s.tables(ctx)
	if err != nil {
		return nil, err
	}
	lost, err := s.store.Gaps(ctx, store.GapQuery{})
	if err != nil {
		return nil, err
	}
	page, next, err := address.Paginate(r.URL.Query(), tables, func(t *tableTotals) address.Place {
		return address.Place{Names: []string{t.Table, t.Index, t.Account, t.Region}}
	})
	return map[string]any{"tables": page, "gaps": gaps(lost), "next": next}, err
}

func (s *Site) apiGaps(ctx context.Context, r *http.Request) (any, error) {
	source := r.URL.Query().Get("source")
	lost, err := s.store.Gaps(ctx, store.GapQuery{Source: source})
	if err == nil && len(lost) == 0 {
		err = s.checkSource(ctx, source)
	}
	if err != nil {
		return nil, err
	}
	page, next, err := address.Paginate(r.URL.Query(), gaps(lost), func(g *gap) address.Place {
		return address.Place{At: g.Noticed, Names: []string{g.Source, g.Partition, g.From, g.To}}
	})
	return map[string]any{"gaps": page, "next": next}, err
}

// checkSource returns an error, with the nearest name, for a source that no collector reads: its
// empty list would look as if nothing were lost.
func (s *Site) checkSource(ctx context.Context, source string) error {
	marks, err := s.store.Watermarks(ctx)
	if err != nil || source == "" || len(marks) == 0 {
		return err
	}
	known := make([]string, len(marks))
	for i, m := range marks {
		known[i] = m.Source
	}
	if known = slices.Compact(known); slices.Contains(known, source) {
		return nil
	}
	return badRequest{Err: fmt.Errorf("no collector reads the source %q%s", source, options.Suggest(source, known))}
}

func (s *Site) apiBadSamples(ctx context.Context, r *http.Request) (any, error) {
	source := r.URL.Query().Get("source")
	rows, err := s.store.BadSamples(ctx, store.BadQuery{Source: source})
	if err == nil && len(rows) == 0 {
		err = s.checkSource(ctx, source)
	}
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].Excerpts = append([]sample.Text{}, rows[i].Excerpts...) // in JSON a list, never null
	}
	page, next, err := address.Paginate(r.URL.Query(), rows, func(b *store.BadSample) address.Place {
		return address.Place{At: b.Hour, Names: []string{b.Writer, b.Source, b.Reason}}
	})
	return map[string]any{"bad_samples": page, "next": next}, err
}

func (s *Site) apiDocument(context.Context, *http.Request) (any, error) {
	return json.RawMessage(apiDescription()), nil
}

type loader func(ctx context.Context, r *http.Request) (any, error)

func (s *Site) api(load loader) http.HandlerFunc {
	return serve(s.inTurn(s.checkNames(load)), s.apiError, func(w http.ResponseWriter, r *http.Request, v any) { s.writeJSON(w, r, http.StatusOK, v) })
}

// checkNames lets a loader begin only if samples had the table and index of the address: the
// empty list of a misspelt one would look calm.
func (s *Site) checkNames(load loader) loader {
	return func(ctx context.Context, r *http.Request) (any, error) {
		if asked := address.ReadTarget(r.URL.Query()); asked != (sample.Target{}) {
			known, err := s.store.Targets(ctx)
			if err != nil {
				return nil, err
			}
			if err := options.CheckNames(asked, known); err != nil {
				return nil, badRequest{Err: err}
			}
		}
		return load(ctx, r)
	}
}

// serve loads within [queryTimeout], and shows the content or the failure.
func serve(load loader, fail func(http.ResponseWriter, *http.Request, error), show func(http.ResponseWriter, *http.Request, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
		defer cancel()
		v, err := load(ctx, r)
		if err != nil {
			fail(w, r, err)
			return
		}
		show(w, r, v)
	}
}

func (s *Site) apiError(w http.ResponseWriter, r *http.Request, err error) {
	code, message := answerTo(err)
	s.log(r, code, err)
	s.writeJSON(w, r, code, map[string]string{"error": message})
}

func (s *Site) writeJSON(w http.ResponseWriter, r *http.Request, code int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		code = http.StatusInternalServerError
		s.log(r, code, err)
		body = []byte(`{"error":"the stored finding is not valid JSON: see the reporter's log"}`)
	}
	text := wording.InertJSON(string(body)) + "\n"
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if code == http.StatusOK && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		// The tag is weak, because the answer may be compressed. A client that asks with
		// If-None-Match gets 304 if nothing has changed.
		sum := sha256.Sum256([]byte(text))
		w.Header().Set("ETag", `W/"`+hex.EncodeToString(sum[:16])+`"`)
		for _, name := range []string{"Range", "If-Match"} { // an answer is whole, or 304
			r.Header.Del(name)
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
		return
	}
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text) // the client is gone
}

// log logs an error that the client did not cause.
func (s *Site) log(r *http.Request, code int, err error) {
	if code >= http.StatusInternalServerError && r.Context().Err() == nil {
		s.logger.Error("request failed", "path", r.URL.Path, "error", err)
	}
}
