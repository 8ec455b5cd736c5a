package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/shardkey"
)

func read(t *testing.T, text string) (*policies, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return readPolicies(path)
}

func TestPolicies(t *testing.T) {
	t.Parallel()
	p, err := read(t, `
policy: {warning: 0.7, exclude: [healthcheck]}
tables:
  orders:
    headroom: 2
    min_units: 50
    severity: warning
    suffix: "BASE.7"
    exclude: ["test-*", "a"]
    facts:
      billing: PROVISIONED
      wcu: 100
      lsis: [by-date]
      pk: [customer]
      indexes:
        by-status: {pk: [status], wcu: 10}
  carts: {}
`)
	if err != nil {
		t.Fatal(err)
	}
	dot := shardkey.DotNumber()
	want := detect.Policy{Warning: 0.7, Headroom: 2, MinUnits: 50, Severest: detect.Warning, Suffix: &dot, Exclude: []string{"test-*", "a"}}
	if got := p.detectPolicy("orders", "by-status"); !reflect.DeepEqual(got, want) {
		t.Errorf("orders: %+v, want %+v", got, want)
	}
	general := detect.Policy{Warning: 0.7, Headroom: detect.DefaultHeadroom, MinUnits: detect.DefaultMinUnits, Exclude: []string{"healthcheck"}}
	for _, table := range []string{"carts", "unheard of"} {
		if got := p.detectPolicy(table, ""); !reflect.DeepEqual(got, general) {
			t.Errorf("%s: %+v, want %+v", table, got, general)
		}
		if facts := p.detectFacts(table); facts != nil {
			t.Errorf("%s has the facts %+v, of which nothing is said", table, facts)
		}
	}
	facts := &detect.TableFacts{
		Billing: detect.BillingProvisioned, WCU: 100, LSIs: []string{"by-date"}, PK: []string{"customer"},
		Indexes: map[string]detect.IndexFacts{"by-status": {PK: []string{"status"}, WCU: 10}},
	}
	if got := p.detectFacts("orders"); !reflect.DeepEqual(got, facts) {
		t.Errorf("facts %+v, want %+v", got, facts)
	}
}

// Every form that shardkey knows can be written as its example.
func TestFormsAreWrittenAsExamples(t *testing.T) {
	t.Parallel()
	for _, want := range shardkey.Forms() {
		if got, err := parseForm(want.String()); err != nil || got != want {
			t.Errorf("%s is %+v, %v", want, got, err)
		}
	}
	for _, wrong := range []string{"BASE", "7BASE", "BASE7", "base#7", "BASE#8", "BASE#17", "", "X#7"} {
		if form, err := parseForm(wrong); err == nil {
			t.Errorf("%q is taken for %+v", wrong, form)
		}
	}
}

func TestWrongPoliciesSayWhatToDo(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"policy: {warning: 80}":                           "policy.yaml:1: policy.warning: 80: give a share",
		"policy: {min_units: -1}":                         "policy.min_units: -1: give units a second",
		"policy: {severity: loud}":                        `policy.severity: "loud": give critical, warning or info`,
		"policy: {suffix: \"#7\"}":                        `policy.suffix: "#7": write the shard 7 of BASE`,
		"policy: {exclude: [\"[\"]}":                      "policy.exclude: excluded key",
		"tables: {a: {headroom: 0.5}}":                    "tables.a.headroom: 0.5: give 1 to 100",
		"tables: {a: {facts: {billing: FREE}}}":           `tables.a.facts.billing: "FREE": give PAY_PER_REQUEST or PROVISIONED`,
		"tables: {a: {facts: {wcu: -1}}}":                 "tables.a.facts.wcu: -1",
		"tables: {a: {facts: {sk: [b]}}}":                 "tables.a.facts.pk: a sort key without",
		"tables: {a: {facts: {indexes: {i: {rcu: -1}}}}}": "tables.a.facts.indexes.i.rcu: -1",
		"tables: {a: {warnings: 1}}":                      `unknown key "tables.a.warnings": did you mean "warning"`,
		"store: {}":                                       `unknown key "store"`,
	} {
		if _, err := read(t, text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", text, err, says)
		}
	}
}
