package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/report"
	"github.com/keyheat/keyheat/store"
)

var monday = time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)

// reported stores reports of a schedule, one a day; the newest is the last.
func reported(t *testing.T, s *store.Store, schedule string, days int) (ids []string) {
	t.Helper()
	_, err := s.SeeSchedule(t.Context(), schedule, "")
	must(t, err)
	for day := range days {
		due := monday.AddDate(0, 0, day)
		summary, err := report.New(report.Rows{
			Request: report.Request{Name: schedule, From: due.AddDate(0, 0, -1), To: due},
			Made:    due, Gaps: []store.Gap{{Noticed: due}},
			Writers: []store.Writer{{ID: "w", Host: hostile, Started: due.Add(-time.Hour), Seen: due.Add(-time.Minute - time.Second)}},
		})
		must(t, err)
		summary.Hot = []report.Incident{{ID: "i", Case: casebook.HotKey, Subject: "key_writes", KeyRef: detect.KeyRef{Key: hostile}, State: detect.Firing}}
		document, err := json.Marshal(summary)
		must(t, err)
		outline, err := json.Marshal(summary.Outline())
		must(t, err)
		id := fmt.Sprintf("%s-%d", schedule, day)
		_, err = s.PutReport(t.Context(), store.Report{ID: id, Schedule: schedule, Due: due, From: summary.From, To: summary.To,
			Outline: outline, Document: document}, nil)
		must(t, err)
		ids = append(ids, id)
	}
	return ids
}

func TestReportsAreListedTheNewestFirst(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	address := serve(t, s)
	if text := open(t, address+"/reports").text(); !strings.Contains(text, "No reports yet") {
		t.Errorf("without reports the page says %q", text)
	}
	reported(t, s, "daily", 30)
	reported(t, s, "other", 30)
	listed := func(path string) (links []string, more bool) {
		p := open(t, address+path)
		for _, a := range p.all("a", "") {
			if link := a.attr("href"); strings.HasPrefix(link, "/reports/") && !strings.Contains(link, "?") {
				links = append(links, strings.TrimPrefix(link, "/reports/"))
			}
		}
		return links, strings.Contains(p.text(), "There are older ones: choose a time.")
	}
	if links, more := listed("/reports"); len(links) != 50 || links[0] != "daily-29" || !more {
		t.Errorf("of 60 reports there are %v, and more: %t", links, more)
	}
	if links, more := listed("/reports?schedule=daily"); len(links) != 30 || links[0] != "daily-29" || more {
		t.Errorf("of one schedule there are %v, and more: %t", links, more)
	}
	if text, _ := get(t, address+"/reports?schedule=dayly", http.StatusBadRequest); !strings.Contains(text, "did you mean") {
		t.Errorf("a misspelt schedule gets %s", text)
	}
}

func TestAReportIsServedUnderItsOwnPolicy(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	address, id := serve(t, s), reported(t, s, "daily", 1)[0]
	text, header := get(t, address+"/reports/"+id, http.StatusOK)
	policy := header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, report.ContentSecurityPolicy) || strings.Contains(policy, "script-src") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if strings.Contains(text, hostile) || !strings.Contains(text, "&lt;script&gt;") || strings.Contains(text, "<script") {
		t.Error("a key is markup")
	}
	for format, beginning := range map[string]string{"markdown": "# Keyheat report", "json": "{\n"} {
		body, header := get(t, address+"/reports/"+id+"?format="+format, http.StatusOK)
		if !strings.HasPrefix(body, beginning) || !strings.HasPrefix(header.Get("Content-Disposition"), `attachment; filename="daily-20261116T0800Z.`) {
			t.Errorf("%s begins with %.20q, as %s", format, body, header.Get("Content-Disposition"))
		}
	}
	get(t, address+"/reports/"+id+"?format=pdf", http.StatusBadRequest)
	if text, _ := get(t, address+"/reports/none", http.StatusNotFound); !strings.Contains(text, "no longer kept") {
		t.Errorf("an unknown report: %s", text)
	}
}
