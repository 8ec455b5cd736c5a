package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/store"
)

const maxReports = 50

type reportsPage struct {
	frame
	Reports []store.Report
	// Schedule is the one that is listed; empty for all.
	Schedule string
	// More reports that there are older ones.
	More bool
}

func (s *Site) reports(ctx context.Context, r *http.Request) (any, error) {
	values := r.URL.Query()
	q := store.ReportQuery{Schedule: values.Get("schedule"), Limit: maxReports + 1}
	shown, err := readTime(values, address.Range{})
	if err != nil {
		return nil, err
	}
	q.From, q.To = shown.From, shown.To
	page := &reportsPage{Schedule: q.Schedule}
	if page.frame, err = s.frame(ctx, values, "Reports", "reports"); err != nil {
		return nil, err
	}
	others := make(url.Values)
	if q.Schedule != "" {
		others.Set("schedule", q.Schedule)
	}
	page.chooseTime("/reports", others, shown, "Any time")
	if page.Reports, err = s.store.Reports(ctx, q); err != nil {
		return nil, err
	}
	if len(page.Reports) == 0 && q.Schedule != "" {
		if err := s.checkSchedule(ctx, q.Schedule); err != nil {
			return nil, err
		}
	}
	page.More = len(page.Reports) > maxReports
	page.Reports = page.Reports[:min(len(page.Reports), maxReports)]
	return page, nil
}

// checkSchedule returns an error, with the nearest name, for a schedule without reports while
// others have some.
func (s *Site) checkSchedule(ctx context.Context, schedule string) error {
	rows, err := s.store.Reports(ctx, store.ReportQuery{})
	if err != nil {
		return err
	}
	var known []string
	for _, r := range rows {
		known = append(known, r.Schedule)
	}
	if len(known) == 0 || slices.Contains(known, schedule) {
		return nil
	}
	slices.Sort(known)
	return badRequest{Err: fmt.Errorf("no report is of the schedule %q%s", schedule, options.Suggest(schedule, slices.Compact(known)))}
}

// showReport serves a stored report in a format, HTML where none is asked for. The HTML
// is a page of its own, under the policy that it names.
func (s *Site) showReport(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
	defer cancel()
	format := report.Format(cmp.Or(r.URL.Query().Get("format"), string(report.HTML)))
	row, body, err := s.report(ctx, r.PathValue("id"), format)
	if err != nil {
		s.showError(w, r, err)
		return
	}
	header := w.Header()
	header.Set("Content-Type", format.MediaType())
	header.Set("Content-Security-Policy", report.ContentSecurityPolicy+"; frame-ancestors 'none'")
	if format != report.HTML {
		name := row.Schedule + "-" + row.Due.UTC().Format("20060102T1504Z") + format.Extension()
		header.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
	}
	_, _ = w.Write(body) //nolint:gosec // made by html/template, or not shown as HTML; the client may be gone
}

func (s *Site) report(ctx context.Context, id string, f report.Format) (store.Report, []byte, error) {
	if err := address.OneOf("format", string(f), report.FormatNames()); err != nil {
		return store.Report{}, nil, err
	}
	row, err := s.store.Report(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		err = errNoReport
	}
	if err != nil {
		return row, nil, err
	}
	report, err := report.Read(row.Document)
	if err != nil {
		return row, nil, fmt.Errorf("stored report %s: %w", row.ID, err)
	}
	var body bytes.Buffer
	err = report.Write(&body, f)
	return row, body.Bytes(), err
}

func summarise(r store.Report) (string, error) {
	var o report.Outline
	err := json.Unmarshal(r.Outline, &o)
	return o.Summary(), err
}

func period(r store.Report) string {
	return strings.Join([]string{r.From.UTC().Format("2006-01-02 15:04"), r.To.UTC().Format("2006-01-02 15:04")}, " to ")
}
