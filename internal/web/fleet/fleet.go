// Package fleet is the list of all tables and indexes as a value: the present heat of
// each, its hottest key, its throttling, its open incidents, and its last hour. It takes
// the same number of queries for any number of tables.
package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

const (
	// PageSize is how many rows a page has at most.
	PageSize = 25
	// lately is the length of the present: so much before the end of the newest roll-up
	// of any table. Seconds are closed for all tables at once.
	lately = 30 * time.Second
	// stale is the age from which that roll-up no longer describes the present.
	stale = 2 * time.Minute
	// throttling is the time over which throttled requests are added up.
	throttling = 5 * time.Minute
	// maxFindings is in how many open findings keys are looked for, the most utilised.
	maxFindings = 5000
)

// Page is a page of the list.
type Page struct {
	Query
	Rows []Row
	// Of is how many rows the search finds, and All how many there are.
	Of, All int
	// Begins reports that this is the first page, and Next is the address of the next one;
	// empty for the last.
	Begins bool
	Next   string
}

// Row is a table or an index.
type Row struct {
	sample.Target
	// View describes its keys; nil before the first view.
	View *detect.View
	// Coverage is CloudWatch's estimate of the samples' share of the real load; nil if
	// unknown.
	Coverage *detect.TableCloudWatch
	// Now is nil where the last seconds were not counted.
	Now *Now
	// Hot is the key with that second; without one now, the key with the highest of the
	// last hour; nil where there is none.
	Hot *Hot
	// Throttled are the throttled requests of the last minutes; nil if nothing was
	// counted in them.
	Throttled       *Refused
	Firing, Pending int64
	// Alert is the worst firing finding of a key, unless it is of the hottest key; nil for
	// none.
	Alert *store.FindingHead
	Trend chart.Trend
	// Past is the row in a chosen time; nil where none is chosen.
	Past *Past
}

// Now describes the last counted seconds.
type Now struct {
	// Utilization is the highest second of a key, as a share of a partition's limit.
	Utilization float64
	// Below reports that no key was hot enough to be listed: none had more than that.
	// Quiet reports that there was no load.
	Below, Quiet bool
}

// Hot is a hot key.
type Hot struct {
	heatmap.Peak
	// Finding is the fingerprint of the key's open finding; empty without one.
	Finding string
	// Now reports that this is of the last counted seconds.
	Now bool
}

// Refused is the throttled part of a load.
type Refused struct {
	// Requests counts attempts, and Share is their part of all the Attempts.
	Requests, Attempts int64
	Share              float64
}

// Load returns the page that a query asks for.
func Load(ctx context.Context, st *store.Store, q Query, now time.Time) (*Page, error) {
	var rows []Row
	var end time.Time
	var err error
	if q.Range.Chosen {
		rows, err = loadOpen(ctx, st, q.Range)
	} else {
		rows, end, err = loadRows(ctx, st, now)
	}
	if err != nil {
		return nil, err
	}
	p := &Page{Query: q, Begins: q.after == nil, All: len(rows)}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return !q.finds(&r) })
	p.Of = len(rows)
	var next *string
	if p.Rows, next, err = address.Page(rows, PageSize, q.after, func(r *Row) place { return placeOf(r, q.Sort) }); err != nil {
		return nil, err
	}
	if next != nil {
		p.Next = q.Link(*next)
	}
	if q.Range.Chosen {
		return p, addPast(ctx, st, p.Rows, q.Range)
	}
	if err := addTrends(ctx, st, p.Rows, end); err != nil {
		return nil, err
	}
	return p, nameFindings(ctx, st, p.Rows)
}

// addTrends adds the hour up to end to the rows of a page, and its hottest key where none
// is hot now.
func addTrends(ctx context.Context, st *store.Store, rows []Row, end time.Time) error {
	of := make([]heatmap.TrendSubject, len(rows))
	for i := range rows {
		of[i].Target = rows[i].Target
	}
	hours, err := heatmap.LoadTrends(ctx, st, heatmap.TrendHour, of, end)
	for i, h := range hours {
		rows[i].Trend = h.Trend
		if rows[i].Hot == nil && h.Peak != nil {
			rows[i].Hot = &Hot{Peak: *h.Peak}
		}
	}
	return err
}

// loadRows returns the rows of all tables without their trends, and the end of the
// counted time; now if nothing was counted.
func loadRows(ctx context.Context, st *store.Store, now time.Time) (rows []Row, end time.Time, err error) {
	views, err := st.TableViews(ctx)
	if err != nil {
		return nil, end, err
	}
	of := make(map[sample.Target]*Row)
	row := func(at sample.Target) *Row {
		if of[at] == nil {
			of[at] = &Row{Target: at}
		}
		return of[at]
	}
	for _, v := range views {
		var t detect.Table
		if err := json.Unmarshal(v.Document, &t); err != nil {
			return nil, end, fmt.Errorf("stored view of %s: %w", v.Name(), err)
		}
		r := row(v.Target)
		r.View, r.Coverage = t.View, t.CloudWatch
	}
	served, err := st.ServedSince(ctx, now.Add(-throttling))
	if err != nil {
		return nil, end, err
	}
	for _, t := range served {
		all := t.Requests + t.ThrottledRequests
		row(t.Target).Throttled = &Refused{t.ThrottledRequests, all, detect.Ratio(float64(t.ThrottledRequests), float64(all))}
	}
	open, err := st.OpenIncidents(ctx)
	if err != nil {
		return nil, end, err
	}
	for _, o := range open {
		if o.Table != "" { // what is about the pipeline has none
			r := row(o.Target)
			r.Firing, r.Pending = o.Firing, o.Pending
		}
	}
	if end, err = addNow(ctx, st, row, now); err != nil {
		return nil, end, err
	}
	for _, at := range slices.SortedFunc(maps.Keys(of), sample.Target.Compare) {
		rows = append(rows, *of[at])
	}
	return rows, end, nil
}

// addNow adds the hottest keys of the last counted seconds, and returns the end of these.
func addNow(ctx context.Context, st *store.Store, row func(sample.Target) *Row, now time.Time) (end time.Time, err error) {
	spans, err := st.RollupSpans(ctx, nil, []int64{int64(rollup.TenSeconds)})
	if err != nil {
		return end, err
	}
	for _, s := range spans {
		if until := s.Newest.Add(rollup.TenSeconds.Duration()); until.After(end) {
			end = until
		}
	}
	if now.Sub(end) > stale {
		return now, nil
	}
	rollups, err := st.Heat(ctx, store.HeatQuery{Level: int64(rollup.TenSeconds), From: end.Add(-lately)})
	if err != nil {
		return end, err
	}
	for _, stored := range rollups {
		hot, unlisted, err := heatmap.HottestKey(stored)
		if err != nil {
			return end, err
		}
		r := row(stored.Target)
		if r.Now == nil {
			r.Now = &Now{Below: true}
		}
		switch {
		case hot == nil && r.Now.Below:
			r.Now.Utilization = max(r.Now.Utilization, unlisted)
		case hot != nil && (r.Hot == nil || hot.Utilization >= r.Hot.Utilization):
			r.Hot, r.Now = &Hot{Peak: *hot, Now: true}, &Now{Utilization: hot.Utilization}
		}
	}
	for _, s := range spans {
		if r := row(s.Target); r.Now == nil {
			r.Now = &Now{Quiet: true}
		}
	}
	return end, nil
}

// nameFindings links hot keys to their open findings, and finds the firing keys of rows
// whose hottest key has none.
func nameFindings(ctx context.Context, st *store.Store, rows []Row) error {
	open, err := st.OpenFindings(ctx, maxFindings)
	if err != nil {
		return err
	}
	type of struct {
		at  sample.Target
		key sample.Text
	}
	named := make(map[of]string, len(open))
	worst := make(map[sample.Target]*store.FindingHead)
	for i, f := range open {
		if f.State == string(detect.Firing) && f.Key != "" && worst[f.Target] == nil {
			worst[f.Target] = &open[i]
		}
		if _, known := named[of{f.Target, f.Key}]; !known {
			named[of{f.Target, f.Key}] = f.Fingerprint
		}
	}
	for i := range rows {
		if h := rows[i].Hot; h != nil {
			if h.Finding = named[of{rows[i].Target, h.Key}]; h.Finding == "" {
				rows[i].Alert = worst[rows[i].Target]
			}
		}
	}
	return nil
}

// Calm is the proof that all tables are watched and none is near a limit.
type Calm struct {
	Tables, Indexes int
	// PerSecond is how many requests a second were seen in the last minutes.
	PerSecond float64
	// Through is the end of the counted time; zero if nothing was counted lately.
	Through time.Time
	// Nearest is the row with the key that is nearest to a limit now; nil without load.
	Nearest *Row
}

// LoadCalm returns the proof, in as many queries for any number of tables.
func LoadCalm(ctx context.Context, st *store.Store, now time.Time) (*Calm, error) {
	rows, end, err := loadRows(ctx, st, now)
	if err != nil {
		return nil, err
	}
	c := new(Calm)
	for i := range rows {
		r := &rows[i]
		if r.Index == "" {
			c.Tables++
		} else {
			c.Indexes++
		}
		if r.Throttled != nil {
			c.PerSecond += float64(r.Throttled.Attempts) / throttling.Seconds()
		}
		if r.Now == nil {
			continue
		}
		c.Through = end
		if !r.Now.Quiet && (c.Nearest == nil || r.Now.Utilization > c.Nearest.Now.Utilization) {
			c.Nearest = r
		}
	}
	return c, nil
}
