package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/store"
)

// errNoTable is answered for a table of which nothing is stored.
var errNoTable = errors.New("nothing is stored of this table")

// views are what tables' keys look like, by table and index.
func (s *Site) views(ctx context.Context) (map[[2]string]detect.Table, error) {
	rows, err := s.store.TableViews(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[[2]string]detect.Table, len(rows))
	for _, row := range rows {
		t, err := viewed(row)
		if err != nil {
			return nil, err
		}
		all[[2]string{row.Table, row.Index}] = t
	}
	return all, nil
}

func viewed(row store.TableView) (detect.Table, error) {
	var t detect.Table
	if err := json.Unmarshal(row.Document, &t); err != nil {
		return t, fmt.Errorf("stored view of %s %s: %w", row.Table, row.Index, err)
	}
	return t, nil
}

// tablePage is what one table's keys look like.
type tablePage struct {
	frame
	T    detect.Table
	V    *detect.View
	Top  []topKey
	Link string
}

// topKey is one of the keys with the most load, with a bar of its share.
type topKey struct {
	detect.TopKey
	Bar string
}

func (s *Site) showTable(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := bounded(r)
	defer cancel()
	page, err := s.table(ctx, r.URL.Query().Get("table"), r.URL.Query().Get("index"))
	if err != nil {
		s.showError(w, r, err)
		return
	}
	s.render(w, r, http.StatusOK, "table", page)
}

func (s *Site) table(ctx context.Context, table, index string) (*tablePage, error) {
	rows, err := s.store.TableViews(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Table != table || row.Index != index {
			continue
		}
		t, err := viewed(row)
		if err != nil {
			return nil, err
		}
		page := &tablePage{T: t, V: t.View, Link: "/?" + url.Values{"table": {table}}.Encode()}
		for _, k := range t.View.Top {
			page.Top = append(page.Top, topKey{k, fmt.Sprintf("%.1f", 100*min(1, k.Share.Low))})
		}
		page.frame, err = s.frame(ctx, table, "tables")
		return page, err
	}
	return nil, errNoTable
}

// mood is the colour of a verdict on a key design.
func mood(v detect.DesignVerdict) string {
	switch v {
	case detect.DesignExcellent, detect.DesignGood:
		return "calm"
	case detect.DesignWatch:
		return "warning"
	case detect.DesignUnjudged:
		return "plain"
	}
	return "critical"
}

// carries is a ceiling in words.
func carries(units *float64, unit string) string {
	if units == nil {
		return "no key bounds it"
	}
	return amount(*units) + " " + unit + "/s"
}

// tableLink is where a table's own page is.
func tableLink(table, index string) string {
	return "/table?" + url.Values{"table": {table}, "index": {index}}.Encode()
}

// distinctKeys tells an estimate from a count.
func distinctKeys(f detect.Figure) string {
	if f.Low == f.High {
		return amount(f.Value)
	}
	digits := math.Pow(10, max(0, math.Floor(math.Log10(max(1, f.Value)))-2))
	return "about " + amount(math.Round(f.Value/digits)*digits)
}

// sharePercent is a share with enough digits to tell small ones apart.
func sharePercent(share float64) string {
	if share < 0.1 {
		return fmt.Sprintf("%.2g %%", 100*share)
	}
	return percent(share)
}

// when is when a key's growth reaches a share of the limit, or what is said
// instead.
type when struct {
	When *detect.Crossing
	Else string
}

// newWhen reads a forecast, or a pointer to one.
func newWhen(forecast any, share float64) when {
	f, ok := forecast.(detect.Forecast)
	if p, is := forecast.(*detect.Forecast); is && p != nil {
		f, ok = *p, true
	}
	if !ok {
		return when{Else: "not known"}
	}
	w := when{When: f.At100, Else: "not foreseen"}
	if share < 1 {
		w.When = f.At70
	}
	kind := detect.HotKeyWrite
	if f.Unit == "rcu" {
		kind = detect.HotKeyRead
	}
	if f.Level >= share*limit(kind) {
		w.Else = "already there"
	}
	return w
}
