// Package overview is the first page as a value: the present heat in a sentence, and the
// incidents by state, searched, filtered, sorted and cut into pages.
package overview

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// Bounds of a page.
const (
	// PageSize is how many incidents a page has at most.
	PageSize = 20
	// maxIncidents is how many are sorted at most, the worst.
	maxIncidents = 5000
	// maxOthers is how many findings of an incident are listed beside its root.
	maxOthers = 5
)

// Page is a page of incidents.
type Page struct {
	Query
	// Counts are how many incidents each state has, whatever page and state are shown.
	Counts map[detect.State]int
	// Cut reports that there are more incidents than maxIncidents.
	Cut      bool
	Sections []Section
	// Next is the address of the next page; empty for the last.
	Next string
	// Begins reports that this is the first page.
	Begins bool
	Now    Now
	// Open counts the incidents of the chosen time, in any state.
	Open say.OpenCount
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
	Root detect.Finding
	// Others are findings beside the root, and More is how many more there are.
	Others []detect.Finding
	More   int
	// Recent is the recent load of the root's key; nil where it is not about one key.
	Recent *heatmap.Recent
}

// Load returns the page that a query asks for.
func Load(ctx context.Context, st *store.Store, q Query) (*Page, error) {
	p := &Page{Query: q, Counts: make(map[detect.State]int), Begins: q.after == nil}
	all := q.HeadQuery
	all.State = "" // others are counted
	heads, err := p.loadHeads(ctx, st, all)
	if err != nil {
		return nil, err
	}
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
	if q.IsFiltered() {
		if heads, err = st.IncidentHeads(ctx, store.HeadQuery{Limit: maxIncidents}); err != nil {
			return nil, err
		}
	}
	p.Now, err = loadNow(ctx, st, heads)
	return p, err
}

// loadHeads returns the incidents of a query that were open in the page's time, and counts them.
func (p *Page) loadHeads(ctx context.Context, st *store.Store, q store.HeadQuery) ([]store.IncidentHead, error) {
	q.Since = p.Range.From
	heads, err := st.IncidentHeads(ctx, q)
	p.Cut = len(heads) == maxIncidents
	if to := p.Range.To; !to.IsZero() {
		heads = slices.DeleteFunc(heads, func(h store.IncidentHead) bool { return h.OpenedAt.After(to) })
	}
	p.Open = say.OpenCount{Cut: p.Cut}
	for _, h := range heads {
		if p.Open.Incidents++; h.Severity == string(detect.Critical) {
			p.Open.Critical++
		}
	}
	return heads, err
}

func (p *Page) lay(ctx context.Context, st *store.Store, listed []store.IncidentHead) error {
	listed, next, err := address.Page(listed, PageSize, p.after, func(h *store.IncidentHead) position { return positionOf(h, p.Sort) })
	if err != nil {
		return err
	}
	if next != nil {
		p.Next = p.Link(address.After, *next)
	}
	rows, err := load(ctx, st, listed)
	if err != nil {
		return err
	}
	for i := range listed {
		row, ok := rows[listed[i].ID]
		if !ok {
			continue // pruned since
		}
		state := detect.State(listed[i].State)
		if n := len(p.Sections); n == 0 || p.Sections[n-1].State != state {
			p.Sections = append(p.Sections, Section{State: state, Of: p.Counts[state]})
		}
		last := &p.Sections[len(p.Sections)-1]
		last.Rows = append(last.Rows, *row)
	}
	return p.addTrends(ctx, st)
}

func (p *Page) addTrends(ctx context.Context, st *store.Store) error {
	var rows []*Row
	var of []heatmap.TrendSubject
	for i := range p.Sections {
		for n := range p.Sections[i].Rows {
			row := &p.Sections[i].Rows[n]
			if key := keyOf(&row.Root); key.Text != "" {
				rows = append(rows, row)
				of = append(of, heatmap.TrendSubject{Target: row.Root.Target, Key: key, Reads: row.Root.InReads()})
			}
		}
	}
	recent, err := heatmap.LoadTrends(ctx, st, heatmap.TrendQuarter, of, time.Now())
	for i := range recent {
		rows[i].Recent = &recent[i]
	}
	return err
}

// keyOf returns the key whose load a finding is about: the fullest of its key shards. It is
// zero for a finding about a whole table.
func keyOf(f *detect.Finding) sample.Key {
	key := f.KeyRef
	switch {
	case f.Subject.OfPipeline() || f.Subject.OfTable():
		return sample.Key{}
	case f.Sharding != nil && !f.Subject.OfKey():
		key.Key = f.Sharding.Hottest
	}
	return key.PartitionKey()
}

// load returns the incidents of a page that are stored with their roots, by ID, with
// their findings.
func load(ctx context.Context, st *store.Store, listed []store.IncidentHead) (map[string]*Row, error) {
	ids := make([]string, len(listed))
	for i := range listed {
		ids[i] = listed[i].ID
	}
	incidents, err := st.IncidentsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	found, err := findings(ctx, st, ids, 1+maxOthers)
	if err != nil {
		return nil, err
	}
	rows := make(map[string]*Row, len(incidents))
	for _, stored := range incidents {
		r := found[stored.ID]
		if r == nil || r.Root.Fingerprint != stored.Root {
			continue
		}
		if err := json.Unmarshal(stored.Document, &r.Incident); err != nil {
			return nil, fmt.Errorf("stored incident %s: %w", stored.ID, err)
		}
		rows[stored.ID] = r
	}
	return rows, nil
}

// Others returns up to most findings of an incident but one, its root and then the most
// utilised, and how many more there are.
func Others(ctx context.Context, st *store.Store, incident, but string, most int) (all []detect.Finding, more int, err error) {
	found, err := findings(ctx, st, []string{incident}, 1+most)
	if err != nil {
		return nil, 0, err
	}
	r := found[incident]
	if r == nil {
		return nil, 0, nil
	}
	stored := 1 + len(r.Others) + r.More
	all = slices.DeleteFunc(append([]detect.Finding{r.Root}, r.Others...), func(f detect.Finding) bool { return f.Fingerprint == but })
	all = all[:min(len(all), most)]
	return all, max(0, stored-1-len(all)), nil
}

// findings returns findings of incidents by ID, at most so many of each: the root, or the
// most utilised where it is not stored, and the others.
func findings(ctx context.Context, st *store.Store, ids []string, most int) (map[string]*Row, error) {
	rows, err := st.IncidentFindings(ctx, ids, most)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*Row)
	for _, stored := range rows {
		f, err := detect.ReadFinding(stored.Document)
		if err != nil {
			return nil, fmt.Errorf("stored finding %s: %w", stored.Fingerprint, err)
		}
		if r := found[stored.Incident]; r == nil {
			found[stored.Incident] = &Row{Root: f, More: stored.Of - 1}
		} else {
			r.Others, r.More = append(r.Others, f), r.More-1
		}
	}
	return found, nil
}
