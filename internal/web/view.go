package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

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

func readView(row store.TargetDocument) (detect.Table, error) {
	var t detect.Table
	if err := json.Unmarshal(row.Document, &t); err != nil {
		return t, fmt.Errorf("stored view of %s: %w", row.Name(), err)
	}
	t.DropPast(time.Now())
	return t, nil
}

type tablePage struct {
	frame
	heatFigure
	// Numbers are of the time that the page shows.
	Numbers []heatmap.Number
	// Worst is the worst open finding of the table, and Said its words; nil for none.
	Worst    *detect.Finding
	Said     say.Brief
	T        detect.Table
	V        *detect.View
	Findings map[sample.Text]string
}

// table returns the page of a table: of the first in order where the account or the
// Region is not given.
func (s *Site) table(ctx context.Context, r *http.Request) (any, error) {
	asked := r.URL.Query()
	if asked.Get("rows") == "" {
		asked.Set("rows", strconv.Itoa(tableRowsShown))
	}
	q, m, err := s.heat(ctx, asked)
	if err != nil {
		return nil, err
	}
	views, err := s.store.TableViews(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(views, func(v store.TargetDocument) bool { return v.Target == m.Target })
	if i < 0 {
		return nil, errNoTable
	}
	t, err := readView(views[i])
	if err != nil {
		return nil, err
	}
	if t.View == nil { // its keys were not counted
		return nil, errNoTable
	}
	page := &tablePage{T: t, V: t.View}
	if page.frame, err = s.frame(ctx, asked, keytext(m.Table), "tables"); err != nil {
		return nil, err
	}
	page.heatFigure = drawHeat(&page.frame, "/table", asked, q, m)
	return page, s.fillTable(ctx, page)
}

const tableRowsShown = 15

func (s *Site) fillTable(ctx context.Context, page *tablePage) (err error) {
	m := page.M
	page.Numbers = heatmap.Numbers(m)
	if n, known := coverageNumber(page.T.CloudWatch); known {
		page.Numbers = append(page.Numbers, n)
	}
	if page.Worst, err = s.worstFinding(ctx, m.Target); err != nil {
		return err
	}
	if page.Worst != nil {
		page.Said = say.New(page.Worst)
	}
	page.Findings, err = heatmap.Findings(ctx, s.store, m.Target)
	return err
}

// coverageNumber is the part of the real load that the samples show, if it is known.
func coverageNumber(c *detect.TableCloudWatch) (n heatmap.Number, known bool) {
	share, of, known := strings.Cut(say.Coverage(c), " ")
	return heatmap.Number{Name: "Coverage", Value: share, Text: of + " are in the samples, by CloudWatch"}, known
}

// worstFinding returns the most severe finding of a table or index that is open: one that
// fires before one that is pending, then the most utilised; nil for none.
func (s *Site) worstFinding(ctx context.Context, of sample.Target) (*detect.Finding, error) {
	heads, err := s.store.FindingHeads(ctx, of, 1)
	if err != nil || len(heads) == 0 || heads[0].State == string(detect.Resolved) {
		return nil, err
	}
	stored, err := s.store.Finding(ctx, heads[0].Fingerprint)
	if err != nil {
		return nil, err
	}
	f, err := decode(stored)
	return &f, err
}
