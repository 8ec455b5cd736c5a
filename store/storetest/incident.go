package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var incidents = []obligation{
	{"an incident is stored and replaced whole", incidentReplaced},
	{"incidents are chosen by what a query names", incidentsChosen},
	{"incidents of a page are read with one query, and so are their findings", incidentsOfAPage},
	{"heads of incidents are in the order of a list, and searched by table and key", incidentHeads},
	{"open incidents and findings are counted and named by table", openHeads},
	{"an incident's history is in the order of writing", incidentHistory},
	{"an incident is written under the judge's lease", incidentGuarded},
	{"a notification names its incident", incidentNotified},
	{"old incidents are pruned with their findings", incidentsPruned},
}

// incident is a firing one of two findings.
func incident(id string) store.Incident {
	return store.Incident{
		ID: id, Case: "hot_key", Subject: "key_writes", Target: byStatus, Severity: "critical", State: "firing", OpenedAt: noon, FiredAt: noon.Add(time.Second),
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
	resolved.Table, resolved.Severity, resolved.Case, resolved.Subject = "carts", "warning", "few_values", "keys"
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
		{"case", store.IncidentQuery{Case: "few_values"}, []string{"resolved"}},
		{"subject", store.IncidentQuery{Subject: "keys"}, []string{"resolved"}},
		{"finding", store.IncidentQuery{Finding: "firing-2"}, []string{"firing"}},
		{"account", store.IncidentQuery{Account: "1"}, []string{"pending"}},
		{"Region", store.IncidentQuery{Region: "eu-west-1"}, []string{"pending", "resolved"}},
		{"another Region", store.IncidentQuery{Account: "1", Region: "us-west-2"}, nil},
		{"both", store.IncidentQuery{Table: "carts", State: "firing"}, nil},
		{"the newest", store.IncidentQuery{Limit: 1}, []string{"pending"}},
		{"behind it", store.IncidentQuery{After: store.IncidentPlace{LastSeen: pending.LastSeen, ID: "pending"}}, []string{"firing", "resolved"}},
		{"at one time, by name", store.IncidentQuery{After: store.IncidentPlace{LastSeen: incident("").LastSeen, ID: "fire"}}, []string{"firing", "resolved"}},
		{"behind the last", store.IncidentQuery{After: store.IncidentPlace{LastSeen: noon, ID: "resolved"}}, nil},
	} {
		var got []string
		for _, i := range value[[]store.Incident](t)(s.Incidents(t.Context(), c.query)) {
			got = append(got, i.ID)
		}
		equal(t, c.name, got, c.want)
	}
	// A list has the findings of each of its incidents, in order, and none of another's.
	bare := store.Incident{ID: "bare", OpenedAt: noon, LastSeen: noon.Add(-time.Hour), Document: []byte(`{}`)}
	judge(t, s, store.Judgement{Incidents: []store.Incident{bare}})
	equal(t, "with findings", value[[]store.Incident](t)(s.Incidents(t.Context(), store.IncidentQuery{})),
		[]store.Incident{pending, incident("firing"), resolved, bare})
	equal(t, "one that did not fire", value[store.Incident](t)(s.Incident(t.Context(), "pending")), pending)
}

func incidentsOfAPage(t *testing.T, s *store.Store) {
	a, b := incident("a"), incident("b")
	a.Root, a.Findings = "a-mild", []string{"a-gone", "a-high", "a-higher", "a-mild", "a-same"}
	var found []store.Finding
	for fingerprint, utilization := range map[string]float64{"a-mild": 1, "a-high": 2, "a-same": 2, "a-higher": 3, "b-1": 9, "b-2": 8, "other": 7} {
		found = append(found, store.Finding{
			Fingerprint: fingerprint, Case: "hot_key", Subject: "key_writes", Target: a.Target, Key: sample.Text("key of " + fingerprint), Severity: "critical", State: "firing",
			Utilization: utilization, FirstSeen: noon, LastSeen: noon, Document: []byte(`{"of":"` + fingerprint + `"}`),
		})
	}
	judge(t, s, store.Judgement{Findings: found, Incidents: []store.Incident{b, a, incident("c")}})
	equal(t, "incidents", value[[]store.Incident](t)(s.IncidentsByID(t.Context(), []string{"b", "unknown", "a"})), []store.Incident{a, b})
	equal(t, "none", value[[]store.Incident](t)(s.IncidentsByID(t.Context(), nil)), nil)
	for most, want := range map[int]string{
		1: "a-mild of 4, b-1 of 2", 3: "a-mild of 4, a-higher of 4, a-high of 4, b-1 of 2, b-2 of 2",
		9: "a-mild of 4, a-higher of 4, a-high of 4, a-same of 4, b-1 of 2, b-2 of 2",
	} {
		var got []string
		for _, f := range value[[]store.IncidentFinding](t)(s.IncidentFindings(t.Context(), []string{"b", "unknown", "a", "c"}, most)) {
			got = append(got, fmt.Sprintf("%s of %d", f.Fingerprint, f.Of))
			stored := value[store.Finding](t)(s.Finding(t.Context(), f.Fingerprint))
			equal(t, "the finding of "+f.Incident, f.Finding, stored)
		}
		equal(t, fmt.Sprintf("at most %d findings of each", most), strings.Join(got, ", "), want)
	}
	equal(t, "of none", value[[]store.IncidentFinding](t)(s.IncidentFindings(t.Context(), nil, 9)), nil)
}

func incidentHeads(t *testing.T, s *store.Store) {
	healed, milder, worst, worse := incident("healed"), incident("milder"), incident("worst"), incident("worse")
	milder.Severity, milder.Table = "warning", "50%_carts"
	pending := incident("pending")
	healed.State, pending.State = "resolved", "pending"
	var found []store.Finding
	for i, of := range []store.Incident{healed, milder, worst, worse, pending} {
		for _, fingerprint := range of.Findings {
			found = append(found, store.Finding{
				Fingerprint: fingerprint, Case: "hot_key", Subject: "key_writes", Target: of.Target, Key: sample.Text("Key " + fingerprint), Severity: of.Severity, State: of.State,
				Utilization: []float64{9, 1, 3, 2, 8}[i], FirstSeen: noon, LastSeen: noon, Document: []byte(`{}`),
			})
		}
	}
	judge(t, s, store.Judgement{Findings: found, Incidents: []store.Incident{healed, milder, worst, worse, pending, incident("bare")}})
	for _, c := range []struct {
		name  string
		query store.HeadQuery
		want  []string
	}{
		{"all", store.HeadQuery{}, []string{"worst", "worse", "bare", "milder", "pending", "healed"}},
		{"state", store.HeadQuery{State: "pending"}, []string{"pending"}},
		{"severity", store.HeadQuery{Severity: "warning"}, []string{"milder"}},
		{"a key of a finding that is not the root", store.HeadQuery{Search: "kEY WORSE-2"}, []string{"worse"}},
		{"a table", store.HeadQuery{Search: "CARTS"}, []string{"milder"}},
		{"what patterns are made of", store.HeadQuery{Search: "50%_"}, []string{"milder"}},
		{"is text", store.HeadQuery{Search: "w_rs"}, nil},
		{"the first", store.HeadQuery{Limit: 1}, []string{"worst"}},
		{"seen at its end or later", store.HeadQuery{Since: worst.LastSeen, Limit: 1}, []string{"worst"}},
		{"seen later than all", store.HeadQuery{Since: worst.LastSeen.Add(1000 * time.Hour)}, nil},
	} {
		var got []string
		for _, h := range value[[]store.IncidentHead](t)(s.IncidentHeads(t.Context(), c.query)) {
			got = append(got, h.ID)
		}
		equal(t, c.name, got, c.want)
	}
	equal(t, "a head", value[[]store.IncidentHead](t)(s.IncidentHeads(t.Context(), store.HeadQuery{Limit: 1}))[0], store.IncidentHead{
		ID: "worst", Target: worst.Target, Severity: "critical", State: "firing", OpenedAt: worst.OpenedAt, LastSeen: worst.LastSeen,
		Root: "worst-1", Case: "hot_key", Subject: "key_writes", Key: "Key worst-1", Utilization: 3,
	})
}

func openHeads(t *testing.T, s *store.Store) {
	carts := sample.Target{Table: "carts"}
	first, second, elsewhere, over := incident("first"), incident("second"), incident("elsewhere"), incident("over")
	second.State, elsewhere.Target, over.State = "pending", carts, "resolved"
	hot, hotter, warm, cool := finding("hot", 2), finding("hotter", 3), finding("warm", 4), finding("cool", 5)
	warm.State, cool.State, hotter.Target = "pending", "resolved", carts
	judge(t, s, store.Judgement{
		Incidents: []store.Incident{first, second, elsewhere, over}, Findings: []store.Finding{cool, warm, hot, hotter},
	})
	equal(t, "open incidents", value[[]store.OpenIncidents](t)(s.OpenIncidents(t.Context())),
		[]store.OpenIncidents{{Target: carts, Firing: 1}, {Target: byStatus, Firing: 1, Pending: 1}})
	equal(t, "open incidents by cause", value[[]store.IncidentCount](t)(s.CountIncidents(t.Context())), []store.IncidentCount{
		{State: "firing", Severity: "critical", Case: "hot_key", Incidents: 2}, {State: "pending", Severity: "critical", Case: "hot_key", Incidents: 1},
	})
	head := func(f store.Finding) store.FindingHead {
		return store.FindingHead{Fingerprint: f.Fingerprint, Target: f.Target, Case: f.Case, Subject: f.Subject, Key: f.Key, State: f.State}
	}
	equal(t, "open findings", value[[]store.FindingHead](t)(s.OpenFindings(t.Context(), 0)), []store.FindingHead{head(hotter), head(hot), head(warm)})
	equal(t, "the first", value[[]store.FindingHead](t)(s.OpenFindings(t.Context(), 1)), []store.FindingHead{head(hotter)})
	equal(t, "findings of a target", value[[]store.FindingHead](t)(s.FindingHeads(t.Context(), hot.Target, 10)), []store.FindingHead{head(hot), head(warm), head(cool)})
	equal(t, "the worst", value[[]store.FindingHead](t)(s.FindingHeads(t.Context(), hot.Target, 1)), []store.FindingHead{head(hot)})
}

func incidentHistory(t *testing.T, s *store.Store) {
	all := []store.Transition{
		{Of: "a", At: noon.Add(time.Hour), To: "firing", Severity: "warning", Note: "silenced", About: "s", Until: noon},
		{Of: "a", At: noon, From: "firing", To: "firing", Severity: "critical", Note: "worse", About: "warning"},
	}
	judge(t, s, store.Judgement{IncidentTransitions: all[:1]})
	other := store.Transition{Of: "b", At: noon, To: "pending"}
	judge(t, s, store.Judgement{IncidentTransitions: []store.Transition{other, all[1]}})
	between := func(from, to time.Time) []store.Transition {
		return value[[]store.Transition](t)(s.IncidentTransitions(t.Context(), from, to, 0))
	}
	equal(t, "histories, as they were written", between(noon, noon.Add(2*time.Hour)), []store.Transition{all[0], other, all[1]})
	equal(t, "until a time", between(noon, noon.Add(time.Hour)), []store.Transition{other, all[1]})
	equal(t, "from a time", between(noon.Add(time.Second), noon.Add(2*time.Hour)), all[:1])
	equal(t, "the first", value[[]store.Transition](t)(s.IncidentTransitions(t.Context(), noon, noon.Add(2*time.Hour), 1)), all[:1])
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
		store.Pruned{"incidents": 1, "incident_findings": 2, "incident_history": 1, "targets": 1})
	equal(t, "left", value[[]store.Incident](t)(s.Incidents(t.Context(), store.IncidentQuery{Finding: "a-1"})), nil)
	judge(t, s, store.Judgement{Incidents: []store.Incident{{ID: "a", OpenedAt: noon, LastSeen: noon, Document: []byte(`{}`)}}})
	equal(t, "findings of the new one", value[store.Incident](t)(s.Incident(t.Context(), "a")).Findings, nil)
}
