package web

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/partitions"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/internal/web/fleet"
	"github.com/keyheat/keyheat/internal/web/manual"
	"github.com/keyheat/keyheat/internal/web/overview"
	"github.com/keyheat/keyheat/internal/web/status"
	"github.com/keyheat/keyheat/store"
)

type frame struct {
	Title, Page string
	Added       []link
	Now         time.Time
	// Live pages refresh themselves where there is a script.
	Live bool
	// Time is the time control, without a path on a page that has no history.
	Time address.TimeControl
	// asked are the parameters of the address that choose a time.
	asked url.Values
	status.Status
}

func (s *Site) frame(ctx context.Context, asked url.Values, title, page string) (f frame, err error) {
	f = frame{Title: title, Page: page, Added: s.added, Now: time.Now(), Live: true, asked: address.TimeValues(asked)}
	f.Status, err = status.Load(ctx, s.store, s.options.Receivers())
	return f, err
}

// AddTime returns a link with the time that the page's address chooses.
func (f frame) AddTime(link string) string { return address.CarryTime(link, f.asked) }

// TimeParameters returns the parameters of the chosen time, which a form keeps.
func (f frame) TimeParameters() []address.Parameter { return address.Parameters(f.asked) }

// chooseTime adds the control of a time. of are the other parameters of the address.
func (f *frame) chooseTime(path string, of url.Values, r address.Range, byDefault string) {
	f.Time = address.NewTimeControl(path, of, f.asked, r, byDefault, f.Now)
}

func readTime(asked url.Values, byDefault address.Range) (address.Range, error) {
	return address.ParseRange(asked, time.Now(), byDefault)
}

// statusWait is how long a page that needs no data waits for the status in its header.
const statusWait = time.Second

// stillFrame is the frame of a page that is not followed, and needs no data: its status is
// unknown if the database does not answer soon.
func (s *Site) stillFrame(ctx context.Context, asked url.Values, title, page string) frame {
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	f, err := s.frame(ctx, asked, title, page)
	if err != nil {
		f.Status = status.Status{}
	}
	f.Live = false
	return f
}

type overviewPage struct {
	frame
	P        *overview.Page
	Sentence string
	// Calm is the proof that no key is near a limit; nil unless the sentence says so.
	Calm *fleet.Calm
	// Active are the silences that go on.
	Active silenceIDs
	// Open counts the incidents that were open in the chosen time; empty without one.
	Open   string
	States []address.Choice
	// Narrowed are the filters that no field of the form shows, and Kept the parameters
	// that the form keeps.
	Narrowed   []address.Choice
	Kept       []address.Parameter
	Orders     []order
	Severities []string
}

func (s *Site) overview(ctx context.Context, r *http.Request) (any, error) {
	q, err := overview.ParseQuery(r.URL.Query())
	if err != nil {
		return nil, badRequest{Err: err}
	}
	if q.Range, err = readTime(r.URL.Query(), address.Range{}); err != nil {
		return nil, err
	}
	page := &overviewPage{Orders: orders, Severities: severities}
	if page.frame, err = s.frame(ctx, r.URL.Query(), "Hot keys", "findings"); err != nil {
		return nil, err
	}
	page.chooseTime("/", q.Others(), q.Range, "Any time")
	if page.P, err = overview.Load(ctx, s.store, q); err != nil {
		return nil, err
	}
	if q.Range.Chosen {
		page.Open = say.OpenIncidents(page.P.Open)
	}
	page.P.Now.Bounded = len(page.LowerBounds()) > 0
	page.P.Now.NoSamples = page.NoSamples()
	page.Sentence = page.P.Now.Sentence(page.Nothing, page.Silent)
	if page.P.Now.IsCalm() && page.Silent.IsZero() && page.P.Now.NoSamples == "" {
		if page.Calm, err = fleet.LoadCalm(ctx, s.store, page.Now); err != nil {
			return nil, err
		}
	}
	if page.Active, err = s.activeSilences(ctx); err != nil {
		return nil, err
	}
	page.addChoices(q)
	return page, nil
}

func (p *overviewPage) addChoices(q overview.Query) {
	all := 0
	for _, n := range p.P.Counts {
		all += n
	}
	choose := func(word, link string, chosen bool) address.Choice {
		return address.Choice{Word: word, Link: link, Chosen: chosen}
	}
	p.States = []address.Choice{choose("All "+wording.Count(int64(all)), q.Link("state", ""), q.State == "")}
	for _, state := range []detect.State{detect.Firing, detect.Pending, detect.Resolved} {
		word := stateWords[state] + " " + wording.Count(int64(p.P.Counts[state]))
		p.States = append(p.States, choose(word, q.Link("state", string(state)), q.State == string(state)))
	}
	p.Kept = p.TimeParameters()
	for _, name := range []string{"state", "account", "region", "table"} {
		value := q.Value(name)
		if value == "" {
			continue
		}
		p.Kept = append(p.Kept, address.Parameter{Name: name, Value: value})
		if name != "state" {
			p.Narrowed = append(p.Narrowed, choose(name+" "+keytext(value), q.Link(name, ""), false))
		}
	}
}

func incidentOwners(rows []overview.Row) []string {
	return wording.Owners(rows, func(r *overview.Row) detect.Target { return r.Root.Target })
}

func (s *Site) loadFinding(ctx context.Context, r *http.Request) (f detect.Finding, err error) {
	stored, err := s.store.Finding(ctx, r.PathValue("fingerprint"))
	if err != nil {
		return f, err
	}
	return decode(stored)
}

func decodeAll(rows []store.Finding) (all []detect.Finding, err error) {
	all = make([]detect.Finding, len(rows))
	for i, row := range rows {
		if all[i], err = decode(row); err != nil {
			return nil, err
		}
	}
	return all, nil
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
	load = s.inTurn(s.checkNames(load))
	once := serve(load, s.showError, func(w http.ResponseWriter, r *http.Request, v any) { s.render(w, r, http.StatusOK, name, v) })
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if !wantsStream(r) {
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
			if err := s.pages[name].ExecuteTemplate(&content, "health", v); err != nil {
				return "", err
			}
			err = s.pages[name].ExecuteTemplate(&content, "main", v)
			return content.String(), err
		})
	}
}

// inTurn lets a loader wait for its client's turn. One that had none in its time gets the answer
// of a database that is away.
func (s *Site) inTurn(load loader) loader {
	return func(ctx context.Context, r *http.Request) (any, error) {
		end, err := s.turns.Wait(ctx, clientOf(r))
		if err != nil {
			return nil, store.ErrUnavailable
		}
		defer end()
		return load(ctx, r)
	}
}

func (s *Site) showError(w http.ResponseWriter, r *http.Request, err error) {
	code, message := answerTo(err)
	s.log(r, code, err)
	page := errorPage{frame: frame{Title: http.StatusText(code), Added: s.added, Now: time.Now()}, Message: strings.ToUpper(message[:1]) + message[1:]}
	if !strings.HasSuffix(message, "?") {
		page.Message += "."
	}
	if code < http.StatusInternalServerError { // else the database has failed already
		page.frame = s.stillFrame(r.Context(), nil, page.Title, "") // not at a time that may be the error
	}
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

type statusPage struct {
	frame
	D status.Details
	// Lost is what was not counted of the page's time. Kept reports that rejected samples of
	// the whole time are kept.
	Lost status.Lost
	Kept bool
	// Maps are the tables whose partitions are known, or are being learned.
	Maps []partitions.Table
	// MoreMaps is set where Maps are the first of more.
	MoreMaps *string
}

const statusTime = 24 * time.Hour

func (s *Site) statusPage(ctx context.Context, r *http.Request) (any, error) {
	now := time.Now().UTC()
	shown, err := readTime(r.URL.Query(), address.Range{From: now.Add(-statusTime), To: now, Live: true})
	if err != nil {
		return nil, err
	}
	f, err := s.frame(ctx, r.URL.Query(), "Status", "status")
	if err != nil {
		return nil, err
	}
	page := &statusPage{frame: f, Kept: !shown.From.Before(now.Add(-status.LostKept))}
	page.chooseTime("/status", nil, shown, "Last 24 h")
	if page.D, err = status.LoadDetails(ctx, s.store, &f.Status, s.options.Receivers()); err != nil {
		return nil, err
	}
	if page.Lost, err = status.LoadLost(ctx, s.store, shown.From, shown.To); err != nil {
		return nil, err
	}
	page.Maps, page.MoreMaps, err = s.listPartitions(ctx, url.Values{"limit": {"100"}})
	return page, err
}

type docsPage struct {
	frame
	Documents []manual.Page
	D         *manual.Page
}

// showDocument shows one of all documents, or their list. They are readable without the
// database, too: the status is unknown then.
func (s *Site) showDocument(w http.ResponseWriter, r *http.Request, all []manual.Page, one *manual.Page) {
	title, name := "Documentation", "docs"
	if one != nil {
		title, name = one.Title, "document"
	}
	s.render(w, r, http.StatusOK, name, docsPage{s.stillFrame(r.Context(), r.URL.Query(), title, "docs"), all, one})
}

// Page is a page that a program adds to the site.
type Page struct {
	// Path is its address, such as "/demo", and Title the text of its link.
	Path, Title string
	// Content defines the template main, below the site's header, and may define head,
	// for the page's head. Load's result is their data, as .Data.
	Content string
	Load    func(ctx context.Context, r *http.Request) (any, error)
}

type added struct {
	frame
	Data any
}

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
		f, err := s.frame(ctx, r.URL.Query(), p.Title, p.Path)
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
