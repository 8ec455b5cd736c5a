package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// views returns the views of tables' keys, by target.
func (s *Site) views(ctx context.Context) (map[sample.Target]detect.Table, error) {
	rows, err := s.store.TableViews(ctx)
	if err != nil {
		return nil, err
	}
	all := make(map[sample.Target]detect.Table, len(rows))
	for _, row := range rows {
		t, err := readView(row)
		if err != nil {
			return nil, err
		}
		all[row.Target] = t
	}
	return all, nil
}

func readView(row store.TableView) (detect.Table, error) {
	var t detect.Table
	if err := json.Unmarshal(row.Document, &t); err != nil {
		return t, fmt.Errorf("stored view of %s: %w", row.Name(), err)
	}
	return t, nil
}

// tablePage is the content of one table's page.
type tablePage struct {
	frame
	T    detect.Table
	V    *detect.View
	Top  []topKey
	Link string
	// Where is the table's account and Region.
	Where string
	// Findings are the fingerprints of keys' findings.
	Findings map[string]string
}

// topKey is one of the keys with the most load, with a bar of its share.
type topKey struct {
	detect.TopKey
	Bar string
	// Finding is the fingerprint of the key's finding; empty without one.
	Finding string
}

// table returns the page of a table: of the first in order where the account or the
// Region is not given.
func (s *Site) table(ctx context.Context, r *http.Request) (any, error) {
	q := r.URL.Query()
	of := sample.Target{Account: q.Get("account"), Region: q.Get("region"), Table: q.Get("table"), Index: q.Get("index")}
	rows, err := s.store.TableViews(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Table != of.Table || row.Index != of.Index ||
			of.Account != "" && row.Account != of.Account || of.Region != "" && row.Region != of.Region {
			continue
		}
		t, err := readView(row)
		if err != nil {
			return nil, err
		}
		if t.View == nil { // its keys were not counted
			break
		}
		page := &tablePage{T: t, V: t.View, Link: findingsLink(row.Target), Where: place(row.Target)}
		if page.Findings, err = heatmap.Findings(ctx, s.store, row.Target); err != nil {
			return nil, err
		}
		for _, k := range t.View.Top {
			page.Top = append(page.Top, topKey{k, fmt.Sprintf("%.1f", 100*min(1, k.Share.Low)), page.Findings[k.Key]})
		}
		page.frame, err = s.frame(ctx, keytext(of.Table), "tables")
		return page, err
	}
	return nil, errNoTable
}
