package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/alert/silence"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/internal/web/live"
	"github.com/keyheat/keyheat/internal/web/overview"
	"github.com/keyheat/keyheat/store"
)

// frame is the common part of all pages.
type frame struct {
	Title, Page string
	// Added are the links to pages of the program's own.
	Added []link
	Now   time.Time
	// Live pages refresh themselves where there is a script.
	Live bool
	// Gaps were noticed in the last day; Lagging partitions are far behind.
	Gaps    []store.Gap
	Lagging []store.Watermark
	// Nothing reports that no collector was ever heard of. Silent is the time since
	// when none has written; zero while one does.
	Nothing bool
	Silent  time.Time
	// Failing are the receivers whose newest attempt failed, in the last day.
	Failing []store.Receiver
	// Ahead is the table whose samples are furthest ahead of the database's clock; nil if
	// none are. AheadBy is by how much.
	Ahead   *store.AheadSecond
	AheadBy string
	// Unreadable names the active silences that cannot be read, with the fault of each.
	Unreadable []string
}

// The banner shows the gaps of a day, and partitions that lag by more than a minute.
const (
	gapsShown = 24 * time.Hour
	lagShown  = time.Minute
)

// failingShown is how long the banner shows a receiver that was not tried again: nothing
// waits for it, or it is configured no more.
const failingShown = 24 * time.Hour

func (s *Site) frame(ctx context.Context, title, page string) (frame, error) {
	f := frame{Title: title, Page: page, Added: s.added, Now: time.Now(), Live: true}
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
	receivers, err := s.store.Receivers(ctx)
	if err != nil {
		return f, err
	}
	for _, r := range receivers {
		if r.Failing() && f.Now.Sub(r.Attempted) < failingShown {
			f.Failing = append(f.Failing, r)
		}
	}
	active, err := silence.List(ctx, s.store, store.SilenceQuery{State: store.SilenceActive})
	if err != nil {
		return f, err
	}
	if _, wrong := silence.NewSet(active); wrong != nil {
		f.Unreadable = strings.Split(wrong.Error(), "\n")
	}
	now, err := s.store.Now(ctx)
	if err != nil {
		return f, err
	}
	if err := s.lookAhead(ctx, &f, now); err != nil {
		return f, err
	}
	return f, s.listen(ctx, &f, now)
}

// lookAhead finds out whether seconds ahead of the database's clock are stored.
func (s *Site) lookAhead(ctx context.Context, f *frame, now time.Time) error {
	ahead, err := s.store.FindAhead(ctx, now)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	f.Ahead, f.AheadBy = &ahead, wording.Span(ahead.Second.Sub(now))
	return err
}

// listen finds out whether anybody collects.
func (s *Site) listen(ctx context.Context, f *frame, now time.Time) error {
	writers, err := s.store.Writers(ctx)
	if err != nil {
		return err
	}
	f.Nothing = len(writers) == 0
	if since, silent := store.SilentSince(writers, now); silent {
		f.Silent = since
	}
	return nil
}

// row is an incident in the list.
type row struct {
	overview.Row
	// Where is the account and Region of the table.
	Where, Todo string
	// Load is the size of the load, and OfLimit its ratio to the limit, as the rest of a
	// sentence.
	Load, OfLimit string
	// Bar is nil where the load is not one partition's.
	Bar *bar
	// Silenced is the silence of the incident; nil for none.
	Silenced *detect.Silenced
}

type section struct {
	overview.Section
	Rows []row
}

type overviewPage struct {
	frame
	P        *overview.Page
	Sentence string
	Sections []section
	// Time chooses the incidents that were open in it.
	Time   heatmap.TimeControl
	States []choice
	// Narrowed are the filters that no field of the form shows, and Kept the parameters
	// that the form keeps.
	Narrowed []choice
	Kept     []parameter
	Orders   []order
	// Severities are the choices of a field.
	Severities []string
}

type parameter struct{ Name, Value string }

// order is a way to sort.
type order struct{ Value, Word string }

var orders = []order{{overview.Worst, "worst first"}, {overview.Newest, "newest first"}, {overview.Table, "table"}, {overview.Key, "key"}}

// choice is a link that chooses a value.
type choice struct {
	Word, Link string
	Chosen     bool
}

func (s *Site) overview(ctx context.Context, r *http.Request) (any, error) {
	q, err := overview.ParseQuery(r.URL.Query())
	if err != nil {
		return nil, badRequest{err}
	}
	asked, now := r.URL.Query(), time.Now()
	shown, err := heatmap.ParseRange(asked, now, heatmap.Range{})
	if err != nil {
		return nil, badRequest{err}
	}
	q.Since, q.Until = shown.From, shown.To
	page := &overviewPage{Orders: orders, Severities: severities, Time: heatmap.NewTimeControl("/", q.Others(), asked, shown, "Any time", now)}
	page.Time.Compared = nil
	if page.frame, err = s.frame(ctx, "Hot keys", "findings"); err != nil {
		return nil, err
	}
	if page.P, err = overview.Load(ctx, s.store, q); err != nil {
		return nil, err
	}
	page.Sentence = page.P.Now.Sentence(page.Nothing, page.Silent)
	active, err := s.activeSilences(ctx)
	if err != nil {
		return nil, err
	}
	for _, of := range page.P.Sections {
		page.Sections = append(page.Sections, section{of, rows(of.Rows, active)})
	}
	page.addChoices(q)
	return page, nil
}

// addChoices adds the links that choose incidents by state, and take other filters away.
func (p *overviewPage) addChoices(q overview.Query) {
	all := 0
	for _, n := range p.P.Counts {
		all += n
	}
	p.States = []choice{{"All " + wording.Count(int64(all)), q.Link("state", ""), q.State == ""}}
	for _, state := range []detect.State{detect.Firing, detect.Pending, detect.Resolved} {
		word := stateWords[state] + " " + wording.Count(int64(p.P.Counts[state]))
		p.States = append(p.States, choice{word, q.Link("state", string(state)), q.State == string(state)})
	}
	for _, name := range []string{"state", "span", "from", "to"} {
		if v := q.Value(name); v != "" {
			p.Kept = append(p.Kept, parameter{name, v})
		}
	}
	for _, f := range []parameter{{"account", q.Account}, {"region", q.Region}, {"table", q.Table}} {
		if f.Value != "" {
			p.Kept = append(p.Kept, f)
			p.Narrowed = append(p.Narrowed, choice{Word: f.Name + " " + keytext(f.Value), Link: q.Link(f.Name, "")})
		}
	}
}

func rows(of []overview.Row, active silenceIDs) []row {
	all, targets := make([]row, len(of)), make([]detect.Target, len(of))
	for i := range of {
		f := &of[i].Root
		all[i] = row{Row: of[i], Todo: say.New(f).Now, Bar: newBar(f), Silenced: active.still(of[i].Incident.Silenced)}
		all[i].Load, _ = wording.Load(f)
		all[i].OfLimit = strings.TrimPrefix(wording.LoadOfLimit(f), all[i].Load)
		targets[i] = f.Target
	}
	for i, where := range places(targets) {
		all[i].Where = where
	}
	return all
}

func decode(row store.Finding) (detect.Finding, error) {
	f, err := detect.ReadFinding(row.Document)
	if err != nil {
		return f, fmt.Errorf("stored finding %s: %w", row.Fingerprint, err)
	}
	return f, nil
}

type errorPage struct {
	frame
	Message string
	// Again reports that the browser loads the page again.
	Again bool
}

// again is after how many seconds a page is loaded again that the database did not answer.
const again = 10

// clientOf names who makes a request: the user, or the remote address where none is known.
func clientOf(r *http.Request) string {
	if user := admin.User(r.Context()); user != "" {
		return "user " + user
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// page serves loaded content as the page of a name, or as the page of its error. A client
// that follows the page gets its stream.
func (s *Site) page(name string, load loader) http.HandlerFunc {
	once := serve(load, s.showError, func(w http.ResponseWriter, r *http.Request, v any) { s.render(w, r, http.StatusOK, name, v) })
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if !live.IsRequested(r) {
			once(w, r)
			return
		}
		s.streams.Serve(w, r, clientOf(r), func(ctx context.Context) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, queryTimeout)
			defer cancel()
			v, err := load(ctx, r)
			if err != nil {
				return "", err
			}
			var content strings.Builder
			err = s.pages[name].ExecuteTemplate(&content, "main", v)
			return content.String(), err
		})
	}
}

func (s *Site) showError(w http.ResponseWriter, r *http.Request, err error) {
	code, message := status(err)
	s.log(r, code, err)
	page := errorPage{frame: frame{Title: http.StatusText(code), Added: s.added, Now: time.Now()}, Message: strings.ToUpper(message[:1]) + message[1:] + "."}
	if code == http.StatusServiceUnavailable && r.Method == http.MethodGet {
		// The page comes back by itself, also where there is no script.
		page.Again = true
		w.Header().Set("Refresh", strconv.Itoa(again))
		w.Header().Set("Retry-After", strconv.Itoa(again))
	}
	s.render(w, r, code, "error", page)
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

// Page is a page that a program adds to the site.
type Page struct {
	// Path is its address, such as "/status", and Title the text of its link.
	Path, Title string
	// Content defines the template main, below the site's header, and may define head,
	// for the page's head. Load's result is their data, as .Data.
	Content string
	Load    func(ctx context.Context, r *http.Request) (any, error)
}

// added is the data of a page that the program adds.
type added struct {
	frame
	Data any
}

// link is a link to a page.
type link struct{ Path, Title string }

// Add adds a page, followed as all are, with a link to it in the header of every page. It
// is called before the site serves.
func (s *Site) Add(p Page) error {
	page, err := template.New("layout.html").Funcs(functions).ParseFS(pages, "page/layout.html")
	if err == nil {
		page, err = page.Parse(p.Content)
	}
	if err != nil {
		return err
	}
	s.pages[p.Path] = page
	s.added = append(s.added, link{p.Path, p.Title})
	s.mux.HandleFunc("GET "+p.Path, s.page(p.Path, func(ctx context.Context, r *http.Request) (any, error) {
		f, err := s.frame(ctx, p.Title, p.Path)
		if err != nil {
			return nil, err
		}
		data, err := p.Load(ctx, r)
		return added{f, data}, err
	}))
	return nil
}

// Handle adds a handler behind the guards of the whole site. The pattern is ServeMux's.
func (s *Site) Handle(pattern string, h http.Handler) { s.mux.Handle(pattern, h) }
