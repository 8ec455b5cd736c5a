package browser

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/daemon/admin"
	"github.com/keyheat/keyheat/internal/incident/silence"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/internal/web"
	"github.com/keyheat/keyheat/store"
)

// operated returns the address of a site on this machine alone, whose readers are operators.
func operated(t *testing.T, s *store.Store) string {
	t.Helper()
	site, err := web.New(s, slog.New(slog.DiscardHandler), web.Options{})
	must(t, err)
	server, err := admin.Open(t.Context(), admin.Options{Address: "127.0.0.1:0"}, slog.New(slog.DiscardHandler))
	must(t, err)
	server.Handle("/", site)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx) }()
	t.Cleanup(func() { site.Close(); cancel(); must(t, <-done) })
	return "http://" + server.Addr()
}

// TestOperators has pages with what operators write and read: silences in each state, a
// finding that can be silenced, reports, and a report itself.
func TestOperators(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 30)
	for _, r := range []silence.Request{
		{Matchers: []string{`table=~"audit-.*"`, "labels.tier!=1"}, For: "2h", Reason: "the yearly audit reads every trail at once"},
		{Matchers: []string{"table=orders-00"}, StartsAt: "24h", For: "8h", Reason: "load test <b>of</b> the new checkout"},
		{Matchers: []string{`labels.service="` + longKey[:200] + `"`}, For: "1s", Reason: longKey[:300]},
	} {
		_, err := silence.Add(t.Context(), w.store, r, "ada@example.com")
		must(t, err)
	}
	for day, id := range []string{"oldest", "middle", "newest"} {
		to := time.Now().AddDate(0, 0, day-2)
		rows, err := report.Load(t.Context(), w.store, report.Request{Name: "daily", Zone: "Europe/Berlin", From: to.AddDate(0, 0, -1), To: to})
		must(t, err)
		report, err := report.New(rows)
		must(t, err)
		document, err := json.Marshal(report)
		must(t, err)
		outline, err := json.Marshal(report.Outline())
		must(t, err)
		_, err = w.store.SeeSchedule(t.Context(), "daily", "")
		must(t, err)
		_, err = w.store.PutReport(t.Context(), store.Report{
			ID: id, Schedule: "daily", Due: to, From: report.From, To: report.To, Outline: outline, Document: document,
		}, nil)
		must(t, err)
	}
	address := operated(t, w.store)
	for name, path := range map[string]string{
		"silences": "/silences", "finding": "/findings/" + w.finding(t, hostile).Fingerprint, "reports": "/reports", "report": "/reports/newest", "missing": "/findings/none",
	} {
		t.Run(name, func(t *testing.T) {
			w.attend(t)
			b := newTab(t, address)
			b.expected = "404"
			b.looks("operator-"+name, path)
		})
	}
}
