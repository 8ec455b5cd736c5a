package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var findings = []obligation{
	{"a finding is kept and replaced whole", findingKept},
	{"findings are chosen and ordered by utilisation", findingsChosen},
	{"history is appended", findingHistory},
	{"an unknown finding is not found", findingUnknown},
}

func finding(fingerprint string, utilization float64) store.Finding {
	return store.Finding{
		Fingerprint: fingerprint, Case: "hot_item", Subject: "key_writes", Target: sample.Target{Table: "orders", Index: ""}, Key: "user#42",
		Severity: "critical", State: "firing", Utilization: utilization,
		FirstSeen: noon, LastSeen: noon.Add(time.Minute), Document: []byte(`{"case": "hot_item"}`),
	}
}

func findingKept(t *testing.T, s *store.Store) {
	want := finding("f", 1.25)
	for range 2 {
		judge(t, s, store.Judgement{Findings: []store.Finding{want}})
		got := value[store.Finding](t)(s.Finding(t.Context(), "f"))
		near(t, "updated", got.UpdatedAt)
		got.UpdatedAt = time.Time{}
		equal(t, "finding", got, want)
		want.State, want.Severity, want.Utilization, want.Document = "resolved", "warning", 0.5, []byte(`{}`)
	}
}

func findingsChosen(t *testing.T, s *store.Store) {
	warm, other, cool := finding("warm", 0.9), finding("other", 3), finding("cool", 0.1)
	warm.Severity, cool.State, other.Table = "warning", "resolved", "carts"
	other.Case, other.Subject = "near_limit", "key_reads"
	warm.Account, warm.Region, cool.Account, cool.Region = "1", "eu-west-1", "2", "eu-west-1"
	judge(t, s, store.Judgement{Findings: []store.Finding{cool, finding("hot", 2), warm, other}})
	for _, c := range []struct {
		name  string
		query store.FindingQuery
		want  []string
	}{
		{"all", store.FindingQuery{}, []string{"other", "hot", "warm", "cool"}},
		{"limit", store.FindingQuery{Limit: 2}, []string{"other", "hot"}},
		{"state", store.FindingQuery{State: "firing"}, []string{"other", "hot", "warm"}},
		{"severity", store.FindingQuery{Severity: "warning"}, []string{"warm"}},
		{"table", store.FindingQuery{Table: "carts"}, []string{"other"}},
		{"case", store.FindingQuery{Case: "hot_item"}, []string{"hot", "warm", "cool"}},
		{"subject", store.FindingQuery{Subject: "key_writes"}, []string{"hot", "warm", "cool"}},
		{"account", store.FindingQuery{Account: "2"}, []string{"cool"}},
		{"Region", store.FindingQuery{Region: "eu-west-1"}, []string{"warm", "cool"}},
		{"another Region", store.FindingQuery{Account: "1", Region: "us-west-2"}, nil},
		{"both", store.FindingQuery{Table: "orders", State: "firing"}, []string{"hot", "warm"}},
		{"behind one", store.FindingQuery{After: store.FindingPlace{Utilization: 2, Fingerprint: "hot"}}, []string{"warm", "cool"}},
		{"behind one that is gone", store.FindingQuery{After: store.FindingPlace{Utilization: 2, Fingerprint: "a"}}, []string{"hot", "warm", "cool"}},
	} {
		var got []string
		for _, f := range value[[]store.Finding](t)(s.Findings(t.Context(), c.query)) {
			got = append(got, f.Fingerprint)
		}
		equal(t, c.name, got, c.want)
	}
}

func findingHistory(t *testing.T, s *store.Store) {
	first := store.Transition{Of: "f", At: noon, From: "", To: "pending", Severity: "warning", Note: "silenced", About: "s", Until: noon}
	second := store.Transition{Of: "f", At: noon, From: "pending", To: "firing", Severity: "critical"}
	third := store.Transition{Of: "f", At: noon, From: "firing", To: "resolved", Severity: "critical"}
	judge(t, s, store.Judgement{Transitions: []store.Transition{first, {Of: "g", At: noon}, second}})
	judge(t, s, store.Judgement{Transitions: []store.Transition{third}})
	equal(t, "history", value[[]store.Transition](t)(s.FindingHistory(t.Context(), "f")),
		[]store.Transition{first, second, third})
}

func findingUnknown(t *testing.T, s *store.Store) {
	if _, err := s.Finding(t.Context(), "nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown finding returns %v, want ErrNotFound", err)
	}
	equal(t, "history", value[[]store.Transition](t)(s.FindingHistory(t.Context(), "nobody")), nil)
}
