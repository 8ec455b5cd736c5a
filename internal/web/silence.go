package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/incident/silence"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/store"
)

const maxBody = 64 << 10

func (s *Site) apiSilences(ctx context.Context, r *http.Request) (any, error) {
	state := r.URL.Query().Get("state")
	if err := address.OneOf("state", state, silence.States()); err != nil {
		return nil, err
	}
	all, err := s.store.Silences(ctx, store.SilenceQuery{State: state})
	if err != nil {
		return nil, err
	}
	page, next, err := address.Paginate(r.URL.Query(), all, func(n *store.Silence) address.Place { return address.Place{At: n.EndsAt, Names: []string{n.ID}} })
	return map[string]any{"silences": page, "next": next}, err
}

func (s *Site) apiAddSilence(ctx context.Context, r *http.Request) (any, error) {
	// A form of another site cannot be of this type.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, errNoJSON
	}
	var asked silence.Request
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(&asked); err != nil {
		return nil, badRequest{Err: fmt.Errorf("the body: %w", err)}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, badRequest{Err: errors.New("the body goes on after the silence: send one")}
	}
	added, err := s.add(ctx, asked)
	if err != nil {
		return nil, err
	}
	return map[string]any{"silence": added}, nil
}

func (s *Site) add(ctx context.Context, asked silence.Request) (added store.Silence, err error) {
	added, err = silence.Add(ctx, s.store, asked, author(ctx))
	if wrong, is := errors.AsType[silence.Invalid](err); is {
		err = badRequest{Err: wrong}
	}
	return added, err
}

func author(ctx context.Context) string { return cmp.Or(admin.User(ctx), "unknown") }

func (s *Site) apiExpireSilence(ctx context.Context, r *http.Request) (any, error) {
	id := r.PathValue("id")
	if err := s.expire(ctx, id); err != nil {
		return nil, err
	}
	return map[string]string{"expired": id}, nil
}

func (s *Site) expire(ctx context.Context, id string) error {
	err := s.store.ExpireSilence(ctx, id, author(ctx))
	if errors.Is(err, store.ErrNotFound) {
		return errNoSilence
	}
	return err
}

type silencesPage struct {
	frame
	Silences []store.Silence
	// Operates reports that the reader may change them.
	Operates   bool
	Severities []string
	// Form is the reader's input, and Wrong its fault.
	Form  url.Values
	Wrong string
}

func (s *Site) silences(ctx context.Context, r *http.Request) (any, error) {
	return s.silencesPage(ctx, r.URL.Query())
}

func (s *Site) silencesPage(ctx context.Context, asked url.Values) (page *silencesPage, err error) {
	page = &silencesPage{Operates: admin.Operates(ctx), Severities: []string{string(detect.Critical), string(detect.Warning)}}
	shown, err := readTime(asked, address.Range{})
	if err != nil {
		return nil, err
	}
	if page.frame, err = s.frame(ctx, asked, "Silences", "silences"); err != nil {
		return nil, err
	}
	page.chooseTime("/silences", nil, shown, "Any time")
	page.Silences, err = s.store.Silences(ctx, store.SilenceQuery{From: shown.From, To: shown.To})
	return page, err
}

func (s *Site) addSilence(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		s.showError(w, r, badRequest{Err: fmt.Errorf("the form: %w", err)})
		return
	}
	_, err := s.add(ctx, readRequest(r.PostForm))
	if wrong, is := errors.AsType[badRequest](err); is {
		s.showForm(ctx, w, r, wrong)
		return
	}
	s.answerChange(w, r, err)
}

func readRequest(form url.Values) silence.Request {
	q := silence.Request{For: form.Get("for"), Reason: form.Get("reason")}
	for _, name := range silence.Names() {
		if v := strings.TrimSpace(form.Get(name)); v != "" {
			q.Matchers = append(q.Matchers, silence.Matcher{Name: name, Op: "=", Value: v}.String())
		}
	}
	for line := range strings.Lines(form.Get("matchers")) {
		if line = strings.TrimSpace(line); line != "" {
			q.Matchers = append(q.Matchers, line)
		}
	}
	return q
}

func (s *Site) showForm(ctx context.Context, w http.ResponseWriter, r *http.Request, wrong badRequest) {
	page, err := s.silencesPage(ctx, nil)
	if err != nil {
		s.showError(w, r, err)
		return
	}
	page.Form, page.Wrong, page.Live = r.PostForm, wrong.Error(), false
	s.render(w, r, http.StatusBadRequest, "silences", page)
}

func (s *Site) expireSilence(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	s.answerChange(w, r, s.expire(ctx, r.PathValue("id")))
}

func (s *Site) answerChange(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		s.showError(w, r, err)
		return
	}
	http.Redirect(w, r, "/silences", http.StatusSeeOther)
}

// findIncident finds out whether the incident of a page's finding is silenced.
func (s *Site) findIncident(ctx context.Context, page *findingPage) error {
	row, err := s.store.Incident(ctx, page.F.Incident)
	if errors.Is(err, store.ErrNotFound) {
		return nil // it was pruned
	}
	if err != nil {
		return err
	}
	i, err := decodeIncident(row)
	if err != nil {
		return err
	}
	active, err := s.activeSilences(ctx)
	if err != nil {
		return err
	}
	page.Silenced = active.Still(i.Silenced)
	page.MaySilence = admin.Operates(ctx) && i.State != detect.Resolved
	return nil
}

type silenceIDs map[string]bool

func (s *Site) activeSilences(ctx context.Context) (silenceIDs, error) {
	rows, err := s.store.Silences(ctx, store.SilenceQuery{State: store.SilenceActive})
	active := make(silenceIDs, len(rows))
	for _, n := range rows {
		active[n.ID] = true
	}
	return active, err
}

// Still returns the silence of an incident unless it has ended since the judge looked.
func (active silenceIDs) Still(by *detect.Silenced) *detect.Silenced {
	if by == nil || !active[by.By] {
		return nil
	}
	return by
}

func decodeIncident(row store.Incident) (i detect.Incident, err error) {
	if err = json.Unmarshal(row.Document, &i); err != nil {
		err = fmt.Errorf("stored incident %s: %w", row.ID, err)
	}
	return i, err
}
