package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/store"
)

var reports = []obligation{
	{"a report is stored once for a due time, whoever makes it", reportOnce},
	{"a schedule is due from when it was seen as it is", scheduleSeen},
	{"reports are listed by due time and read whole", reportsRead},
	{"a due time stays done when its report is deleted", reportPruned},
	{"a report and its notifications are one transaction", reportNotified},
	{"what happened to incidents is read by when it happened", incidentTransitions},
}

func report(schedule string, day int) store.Report {
	due := noon.AddDate(0, 0, day)
	return store.Report{ID: schedule + due.Format("-02"), Schedule: schedule, Due: due, From: due.AddDate(0, 0, -1), To: due,
		Outline: []byte("{\"hot\":0}\x00"), Document: []byte(`{"version":1}`)}
}

func see(t *testing.T, s *store.Store, name, spec string) store.ReportSchedule {
	t.Helper()
	return value[store.ReportSchedule](t)(s.SeeSchedule(t.Context(), name, spec))
}

func put(t *testing.T, s *store.Store, r store.Report) bool {
	t.Helper()
	return value[bool](t)(s.PutReport(t.Context(), r, nil))
}

func reportOnce(t *testing.T, s *store.Store) {
	see(t, s, "daily", "0 9 * * *")
	var stored atomic.Int32
	var g sync.WaitGroup
	for range 8 {
		g.Go(func() {
			ok, err := s.PutReport(t.Context(), report("daily", 1), nil)
			if err != nil {
				t.Error(err)
			}
			if ok {
				stored.Add(1)
			}
		})
	}
	g.Wait()
	equal(t, "stored", stored.Load(), int32(1))
	equal(t, "an earlier one", put(t, s, report("daily", 0)), false)
	equal(t, "a later one", put(t, s, report("daily", 2)), true)
	equal(t, "without a schedule", put(t, s, report("other", 1)), false)
	equal(t, "the last", see(t, s, "daily", "0 9 * * *").LastDue, report("daily", 2).Due)
	equal(t, "kept", len(value[[]store.Report](t)(s.Reports(t.Context(), store.ReportQuery{}))), 2)
}

func scheduleSeen(t *testing.T, s *store.Store) {
	first := see(t, s, "daily", "0 9 * * *")
	near(t, "since", first.Since)
	equal(t, "nothing was made", first.LastDue, time.Time{})
	time.Sleep(5 * soon)
	again := see(t, s, "daily", "0 9 * * *")
	equal(t, "since", again.Since, first.Since)
	if !again.Now.After(first.Now) {
		t.Errorf("the clock stands at %s", again.Now)
	}
	put(t, s, report("daily", 1))
	changed := see(t, s, "daily", "0 10 * * *")
	if !changed.Since.After(first.Since) {
		t.Errorf("a changed schedule is due from %s on, as before", changed.Since)
	}
	equal(t, "what was made stays made", changed.LastDue, report("daily", 1).Due)
}

func reportsRead(t *testing.T, s *store.Store) {
	see(t, s, "daily", "")
	see(t, s, "weekly", "")
	for day := range 3 {
		put(t, s, report("daily", day))
	}
	put(t, s, report("weekly", 1))
	list := func(q store.ReportQuery) (ids []string) {
		for _, r := range value[[]store.Report](t)(s.Reports(t.Context(), q)) {
			if r.Document != nil {
				t.Errorf("the list holds the document of %s", r.ID)
			}
			ids = append(ids, r.ID)
		}
		return ids
	}
	equal(t, "all", list(store.ReportQuery{}), []string{"daily-23", "daily-22", "weekly-22", "daily-21"})
	equal(t, "of a schedule", list(store.ReportQuery{Schedule: "daily", Limit: 1}), []string{"daily-23"})
	equal(t, "of a time", list(store.ReportQuery{Schedule: "daily", From: report("daily", 1).From, To: report("daily", 1).To}), []string{"daily-22"})
	must(t, s.MarkFiled(t.Context(), "daily-21"))
	equal(t, "unfiled", list(store.ReportQuery{Schedule: "daily", Unfiled: true}), []string{"daily-23", "daily-22"})

	got := value[store.Report](t)(s.Report(t.Context(), "daily-22"))
	near(t, "made", got.Made)
	got.Made = time.Time{}
	want := report("daily", 1)
	want.Outline = []byte("{\"hot\":0}\uFFFD")
	equal(t, "report", got, want)
	near(t, "filed", value[store.Report](t)(s.Report(t.Context(), "daily-21")).Filed)
	if _, err := s.Report(t.Context(), "daily-0\x00"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown report is %v", err)
	}
	if err := s.MarkFiled(t.Context(), "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("filing an unknown report is %v", err)
	}
}

func reportPruned(t *testing.T, s *store.Store) {
	see(t, s, "daily", "")
	put(t, s, report("daily", 1))
	equal(t, "pruned while young", prune(t, s, store.Retention{})["reports"], int64(0))
	equal(t, "pruned", prune(t, s, store.Retention{Reports: soon})["reports"], int64(1))
	equal(t, "made again", put(t, s, report("daily", 1)), false)
}

func reportNotified(t *testing.T, s *store.Store) {
	see(t, s, "daily", "")
	for range 2 {
		_, err := s.PutReport(t.Context(), report("daily", 1), []store.Notification{{ID: "n", Event: "report", Route: "r", Payload: []byte("{}")}})
		must(t, err)
	}
	due := value[[]store.Notification](t)(s.DueNotifications(t.Context(), "r", 0))
	if len(due) != 1 || due[0].Event != "report" {
		t.Errorf("due are %+v", due)
	}
}

func incidentTransitions(t *testing.T, s *store.Store) {
	step := func(minute int, from, to string) store.Transition {
		return store.Transition{Of: "i", At: noon.Add(time.Duration(minute) * time.Minute), From: from, To: to, Severity: "critical", Note: "repeated"}
	}
	judge(t, s, store.Judgement{IncidentTransitions: []store.Transition{
		step(0, "", "pending"), step(1, "pending", "firing"), step(2, "firing", "resolved"),
	}})
	got := value[[]store.Transition](t)(s.IncidentTransitions(t.Context(), noon.Add(time.Minute), noon.Add(2*time.Minute), 0))
	equal(t, "in the period", got, []store.Transition{step(1, "pending", "firing")})
	equal(t, "at most", len(value[[]store.Transition](t)(s.IncidentTransitions(t.Context(), noon, noon.Add(time.Hour), 2))), 2)
}
