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
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// errNoTable is the error for a table without a stored view.
var errNoTable = errors.New("no view of this table is stored")

// views returns what tables' keys look like, by target.
func (s *Site) views(ctx context.Context) (map[sample.Target]detect.Table, error) {
	rows, err := s.store.TableViews(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[sample.Target]detect.Table, len(rows))
	for _, row := range rows {
		t, err := viewed(row)
		if err != nil {
			return nil, err
		}
		all[row.Target] = t
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

// verdictClass returns the CSS class of a verdict on a key design.
func verdictClass(v detect.DesignVerdict) string {
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

// ceilingText returns a ceiling in words.
func ceilingText(units *float64, unit string) string {
	if units == nil {
		return "not limited by a key"
	}
	return amount(*units) + " " + unit + "/s"
}

// tableLink returns where a table's own page is.
func tableLink(table, index string) string {
	return "/table?" + url.Values{"table": {table}, "index": {index}}.Encode()
}

// distinctKeys writes a count, or "about" before an estimate.
func distinctKeys(f detect.Figure) string {
	if f.Low == f.High {
		return amount(f.Value)
	}
	digits := math.Pow(10, max(0, math.Floor(math.Log10(max(1, f.Value)))-2))
	return "about " + amount(math.Round(f.Value/digits)*digits)
}

// sharePercent writes a share with enough digits to tell small ones apart.
func sharePercent(share float64) string {
	if share < 0.1 {
		return fmt.Sprintf("%.2g%%", 100*share)
	}
	return percent(share)
}

// reach is when a key's growth reaches a share of the limit, or the text instead.
type reach struct {
	When *detect.Crossing
	Else string
}

// newReach reads a forecast, or a pointer to one.
func newReach(forecast any, share float64) reach {
	f, ok := forecast.(detect.Forecast)
	if p, is := forecast.(*detect.Forecast); is && p != nil {
		f, ok = *p, true
	}
	if !ok {
		return reach{Else: "unknown"}
	}
	w := reach{When: f.At100, Else: "not within the forecast"}
	if share < 1 {
		w.When = f.At70
	}
	kind := detect.HotKeyWrite
	if f.Unit == "rcu" {
		kind = detect.HotKeyRead
	}
	if f.Level >= share*limit(kind) {
		w.Else = "already reached"
	}
	return w
}
