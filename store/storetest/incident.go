package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var incidents = []obligation{
	{"an incident is stored and replaced whole", incidentReplaced},
	{"incidents are chosen by what a query names", incidentsChosen},
	{"an incident's history is in the order of writing", incidentHistory},
	{"an incident is written under the judge's lease", incidentGuarded},
	{"a notification names its incident", incidentNotified},
	{"old incidents are pruned with their findings", incidentsPruned},
}

// incident is a firing one of two findings.
func incident(id string) store.Incident {
	return store.Incident{
		ID: id, Cause: "hot_key", Target: byStatus, Severity: "critical", State: "firing", OpenedAt: noon, FiredAt: noon.Add(time.Second),
		LastSeen: noon.Add(time.Minute), Revision: 1, Root: id + "-1", Findings: []string{id + "-1", id + "-2"},
		Document: []byte(`{"id":"` + id + `"}`),
	}
}

func incidentReplaced(t *testing.T, s *store.Store) {
	want := incident("a")
	judge(t, s, store.Judgement{Incidents: []store.Incident{want}})
	equal(t, "stored", value[store.Incident](t)(s.Incident(t.Context(), "a")), want)
	want.State, want.ResolvedAt, want.Revision = "resolved", noon.Add(time.Hour), 2
	want.Target, want.Root, want.Findings, want.Document = sample.Target{Account: "1", Table: "carts"}, "a-3", []string{"a-2", "a-3"}, []byte(`{}`)
	judge(t, s, store.Judgement{Incidents: []store.Incident{want}})
	equal(t, "replaced", value[store.Incident](t)(s.Incident(t.Context(), "a")), want)
	if _, err := s.Incident(t.Context(), "unknown"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown incident returns %v, want ErrNotFound", err)
	}
}

func incidentsChosen(t *testing.T, s *store.Store) {
	pending, resolved := incident("pending"), incident("resolved")
	pending.State, pending.FiredAt, pending.LastSeen = "pending", time.Time{}, noon.Add(time.Hour)
	resolved.State, resolved.ResolvedAt, resolved.LastSeen = "resolved", noon.Add(time.Hour), noon
	resolved.Table, resolved.Severity, resolved.Cause = "carts", "warning", "few_values"
	pending.Account, pending.Region, resolved.Account, resolved.Region = "1", "eu-west-1", "2", "eu-west-1"
	judge(t, s, store.Judgement{Incidents: []store.Incident{incident("firing"), pending, resolved}})
	for _, c := range []struct {
		name  string
		query store.IncidentQuery
		want  []string
	}{
		{"all", store.IncidentQuery{}, []string{"pending", "firing", "resolved"}},
		{"state", store.IncidentQuery{State: "firing"}, []string{"firing"}},
		{"severity", store.IncidentQuery{Severity: "warning"}, []string{"resolved"}},
		{"table", store.IncidentQuery{Table: "orders"}, []string{"pending", "firing"}},
		{"cause", store.IncidentQuery{Cause: "few_values"}, []string{"resolved"}},
		{"finding", store.IncidentQuery{Finding: "firing-2"}, []string{"firing"}},
		{"account", store.IncidentQuery{Account: "1"}, []string{"pending"}},
		{"Region", store.IncidentQuery{Region: "eu-west-1"}, []string{"pending", "resolved"}},
		{"another Region", store.IncidentQuery{Account: "1", Region: "us-west-2"}, nil},
		{"both", store.IncidentQuery{Table: "carts", State: "firing"}, nil},
		{"the newest", store.IncidentQuery{Limit: 1}, []string{"pending"}},
	} {
		var got []string
		for _, i := range value[[]store.Incident](t)(s.Incidents(t.Context(), c.query)) {
			got = append(got, i.ID)
		}
		equal(t, c.name, got, c.want)
	}
	equal(t, "one that did not fire", value[store.Incident](t)(s.Incident(t.Context(), "pending")), pending)
}

func incidentHistory(t *testing.T, s *store.Store) {
	all := []store.Transition{
		{Of: "a", At: noon.Add(time.Hour), To: "firing", Severity: "warning", Note: "first"},
		{Of: "a", At: noon, From: "firing", To: "firing", Severity: "critical", Note: "severity rises"},
	}
	judge(t, s, store.Judgement{IncidentTransitions: all[:1]})
	judge(t, s, store.Judgement{IncidentTransitions: append([]store.Transition{{Of: "b", At: noon, To: "pending"}}, all[1])})
	equal(t, "history", value[[]store.Transition](t)(s.IncidentHistory(t.Context(), "a")), all)
	equal(t, "of an unknown one", value[[]store.Transition](t)(s.IncidentHistory(t.Context(), "c")), nil)
}

func incidentGuarded(t *testing.T, s *store.Store) {
	l := lead(t, s, "first")
	must(t, s.ReleaseLease(t.Context(), l))
	lead(t, s, "second")
	err := s.Judge(t.Context(), l, store.Judgement{Incidents: []store.Incident{incident("a")}})
	if !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("the first holder's incident returns %v, want ErrLeaseLost", err)
	}
	equal(t, "incidents", value[[]store.Incident](t)(s.Incidents(t.Context(), store.IncidentQuery{})), nil)
}

func incidentNotified(t *testing.T, s *store.Store) {
	judge(t, s, store.Judgement{Notifications: []store.Notification{
		{ID: "1", Fingerprint: "f", Route: "r", Incident: "a"}, {ID: "2", Fingerprint: "f", Route: "q"},
	}})
	all := value[[]store.Notification](t)(s.Notifications(t.Context(), "f"))
	if len(all) != 2 || all[0].Incident != "a" || all[1].Incident != "" {
		t.Errorf("notifications are %+v, want the first of incident a", all)
	}
}

func incidentsPruned(t *testing.T, s *store.Store) {
	judge(t, s, store.Judgement{
		Incidents:           []store.Incident{incident("a")},
		IncidentTransitions: []store.Transition{{Of: "a", At: noon.AddDate(-1, 0, 0)}},
	})
	equal(t, "young", prune(t, s, store.Retention{Targets: soon}), store.Pruned{})
	equal(t, "pruned", prune(t, s, store.Retention{Findings: soon, History: soon, Targets: soon}),
		store.Pruned{Incidents: 1, History: 1, Targets: 1})
	equal(t, "left", value[[]store.Incident](t)(s.Incidents(t.Context(), store.IncidentQuery{Finding: "a-1"})), nil)
	judge(t, s, store.Judgement{Incidents: []store.Incident{{ID: "a", OpenedAt: noon, LastSeen: noon, Document: []byte(`{}`)}}})
	equal(t, "findings of the new one", value[store.Incident](t)(s.Incident(t.Context(), "a")).Findings, nil)
}
