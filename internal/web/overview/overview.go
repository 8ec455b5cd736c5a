// Package overview is the first page as a value: what is hot now in a sentence, and the
// incidents by state, searched, filtered, sorted and cut into pages.
package overview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Bounds of a page.
const (
	// PageSize is how many incidents a page has at most.
	PageSize = 20
	// MaxIncidents is how many are sorted at most, the worst.
	MaxIncidents = 5000
	// maxOthers is how many findings of an incident are listed beside its root.
	maxOthers = 5
)

// Store is what the page is made of; *store.Store has it.
type Store interface {
	IncidentHeads(ctx context.Context, q store.HeadQuery) ([]store.IncidentHead, error)
	Incident(ctx context.Context, id string) (store.Incident, error)
	Finding(ctx context.Context, fingerprint string) (store.Finding, error)
	LastWindow(ctx context.Context, at sample.Target) (time.Time, bool, error)
	Windows(ctx context.Context, q store.WindowQuery) ([]store.Window, error)
	TableViews(ctx context.Context) ([]store.TableView, error)
}

// Page is a page of incidents.
type Page struct {
	Query
	// Counts are how many incidents each state has, whatever page and state are shown.
	Counts map[detect.State]int
	// Cut reports that there are more incidents than [MaxIncidents].
	Cut      bool
	Sections []Section
	// Next is the address of the next page; empty for the last.
	Next string
	// Begins reports that this is the first page.
	Begins bool
	// Now is what is known of this moment.
	Now Now
}

// Section is the incidents of a page in one state.
type Section struct {
	State detect.State
	// Of is how many there are in all.
	Of   int
	Rows []Row
}

// Row is an incident.
type Row struct {
	detect.Incident
	// Root is the finding that it is about.
	Root detect.Finding
	// Others are findings beside the root, and More is how many more there are.
	Others []detect.Finding
	More   int
}

// Load returns the page that a query asks for.
func Load(ctx context.Context, st Store, q Query) (*Page, error) {
	p := &Page{Query: q, Counts: make(map[detect.State]int), Begins: q.after == nil}
	all := q.HeadQuery
	all.State = "" // others are counted
	heads, err := st.IncidentHeads(ctx, all)
	if err != nil {
		return nil, err
	}
	p.Cut = len(heads) == MaxIncidents
	var listed []store.IncidentHead
	for _, h := range heads {
		p.Counts[detect.State(h.State)]++
		if q.State == "" || h.State == q.State {
			listed = append(listed, h)
		}
	}
	if err := p.lay(ctx, st, listed); err != nil {
		return nil, err
	}
	if q.Filtered() {
		if heads, err = st.IncidentHeads(ctx, store.HeadQuery{Limit: MaxIncidents}); err != nil {
			return nil, err
		}
	}
	p.Now, err = loadNow(ctx, st, heads)
	return p, err
}

// lay fills the sections with what the page has of the listed incidents.
func (p *Page) lay(ctx context.Context, st Store, listed []store.IncidentHead) error {
	at := func(h *store.IncidentHead) position { return positionOf(h, p.Sort) }
	slices.SortFunc(listed, func(x, y store.IncidentHead) int { return at(&x).compare(at(&y)) })
	if p.after != nil {
		listed = slices.DeleteFunc(listed, func(h store.IncidentHead) bool { return at(&h).compare(*p.after) <= 0 })
	}
	if len(listed) > PageSize {
		listed = listed[:PageSize]
		var err error
		if p.Next, err = p.next(at(&listed[PageSize-1])); err != nil {
			return err
		}
	}
	for i := range listed {
		row, err := load(ctx, st, &listed[i])
		if errors.Is(err, store.ErrNotFound) {
			continue // pruned since
		}
		if err != nil {
			return err
		}
		state := detect.State(listed[i].State)
		if n := len(p.Sections); n == 0 || p.Sections[n-1].State != state {
			p.Sections = append(p.Sections, Section{State: state, Of: p.Counts[state]})
		}
		last := &p.Sections[len(p.Sections)-1]
		last.Rows = append(last.Rows, row)
	}
	return nil
}

// load returns an incident with its findings.
func load(ctx context.Context, st Store, h *store.IncidentHead) (r Row, err error) {
	stored, err := st.Incident(ctx, h.ID)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(stored.Document, &r.Incident); err != nil {
		return r, fmt.Errorf("stored incident %s: %w", h.ID, err)
	}
	if r.Root, err = finding(ctx, st, stored.Root); err != nil {
		return r, err
	}
	r.Others, r.More, err = Others(ctx, st, stored, stored.Root, maxOthers)
	return r, err
}

// Others returns up to most findings of an incident but one, the most utilised first, and
// how many more there are.
func Others(ctx context.Context, st Store, of store.Incident, but string, most int) (all []detect.Finding, more int, err error) {
	for _, fingerprint := range of.Findings {
		if fingerprint == but {
			continue
		}
		if len(all) == most {
			more++
			continue
		}
		f, err := finding(ctx, st, fingerprint)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		all = append(all, f)
	}
	return all, more, nil
}

func finding(ctx context.Context, st Store, fingerprint string) (detect.Finding, error) {
	stored, err := st.Finding(ctx, fingerprint)
	if err != nil {
		return detect.Finding{}, err
	}
	f, err := detect.ReadFinding(stored.Document)
	if err != nil {
		err = fmt.Errorf("stored finding %s: %w", fingerprint, err)
	}
	return f, err
}
