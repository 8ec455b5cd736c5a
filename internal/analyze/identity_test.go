package analyze_test

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/analyze"
	"github.com/keyheat/keyheat/internal/settings/tables"
)

const account, other = "123456789012", "210987654321"

// from is one write in a second after noon, of an account and Region.
func from(second int, account, region, key string, wcu int) string {
	return fmt.Sprintf(`{"ts":%d,"table":"orders","pk":%q,"op":"UpdateItem","wcu":%d,"account":%q,"region":%q,"attrs":{"tenant":%q}}`,
		noon.Add(time.Duration(second)*time.Second).UnixMilli(), key, wcu, account, region, key)
}

// TestRegionsAreTablesOfTheirOwn has 700 WCU on one key in each of two Regions, and
// more in another account: only that one is over a limit.
func TestRegionsAreTablesOfTheirOwn(t *testing.T) {
	t.Parallel()
	var lines []string
	for second := range 30 {
		lines = append(lines, from(second, account, "eu-west-1", "k", 700), from(second, account, "us-west-2", "k", 700), from(second, other, "eu-west-1", "k", 1300))
	}
	text := strings.Join(lines, "\n")
	candidate, err := analyze.ParseCandidate("tenant")
	must(t, err)
	r := runWith(t, text, analyze.Options{
		Candidates: []analyze.Candidate{candidate}, WhatIf: []whatif.Question{{Key: "k", Shards: 2, Factor: 1}},
	})
	var hot []string
	for _, f := range r.Findings {
		if f.Subject.OfKey() {
			hot = append(hot, fmt.Sprintf("%s %s %.0f", f.Name(), f.Severity, f.Peak.WCU.Value))
		}
	}
	if want := []string{other + "/eu-west-1/orders critical 1300"}; !slices.Equal(hot, want) {
		t.Errorf("hot keys %q, want %q", hot, want)
	}
	var names, candidates, answers []string
	for i := range r.Tables {
		names = append(names, fmt.Sprintf("%s %.0f", r.Tables[i].Name(), r.Tables[i].WCU))
	}
	for i := range r.Candidates {
		candidates = append(candidates, r.Candidates[i].Name())
	}
	for i := range r.WhatIf {
		answers = append(answers, fmt.Sprintf("%s %.0f", r.WhatIf[i].Name(), r.WhatIf[i].Peak))
	}
	here, there, staging := account+"/eu-west-1/orders", account+"/us-west-2/orders", other+"/eu-west-1/orders"
	for what, pair := range map[string][2][]string{
		"tables":     {names, {here + " 21000", there + " 21000", staging + " 39000"}},
		"candidates": {candidates, {here, there, staging}},
		"what-if":    {answers, {here + " 700", there + " 700", staging + " 1300"}},
	} {
		if slices.Sort(pair[0]); !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: %q, want %q", what, pair[0], pair[1])
		}
	}
	rows, err := csv.NewReader(strings.NewReader(run(t, text, analyze.FormatCSV))).ReadAll()
	must(t, err)
	head := rows[0]
	if a, b := rows[1][slices.Index(head, "account")], rows[1][slices.Index(head, "region")]; a != other || b != "eu-west-1" {
		t.Errorf("the first row is of %s %s", a, b)
	}
	if table := run(t, text, analyze.FormatTable); !strings.Contains(table, other+"/eu-west-1/orders") || strings.Contains(table, "All of") {
		t.Errorf("the tables are not told apart:\n%s", table)
	}
}

// TestWhatAllTablesShareIsSaidOnce leaves an account and a Region out of narrow
// columns where there is no other.
func TestWhatAllTablesShareIsSaidOnce(t *testing.T) {
	t.Parallel()
	text := run(t, from(0, account, "eu-west-1", "k", 1), analyze.FormatTable)
	if !strings.Contains(text, "All of account "+account+", Region eu-west-1.\n") || strings.Contains(text, "/orders") {
		t.Errorf("got\n%s", text)
	}
	if text := run(t, line(0, "orders", "k", 1), analyze.FormatTable); strings.Contains(text, "All of") {
		t.Errorf("of nothing known it says\n%s", text)
	}
	text = run(t, from(0, account, "eu-west-1", "k", 1)+"\n"+from(0, account, "us-west-2", "k", 1), analyze.FormatTable)
	if !strings.Contains(text, "All of account "+account+".\n") || !strings.Contains(text, "us-west-2/orders") {
		t.Errorf("of two Regions of one account it says\n%s", text)
	}
}

// TestEntriesOfARegion takes a rate and a policy from the entry of one Region.
func TestEntriesOfARegion(t *testing.T) {
	t.Parallel()
	section := tables.Default()
	section.Tables = tables.Tables{
		"orders":           {Rate: 0.5, Policy: tables.Policy{Severity: "info"}},
		"eu-west-1/orders": {Rate: 0.1, Policy: tables.Policy{Severity: "warning"}},
	}
	var lines []string
	for second := range 10 {
		for range 30 {
			lines = append(lines, from(second, account, "eu-west-1", "k", 5), from(second, account, "us-west-2", "k", 25))
		}
	}
	r := runWith(t, strings.Join(lines, "\n"), analyze.Options{
		Tables: section.Tables.Decoding(), Policy: section.DetectPolicy, Facts: section.Tables.Facts,
	})
	// Both are 1,500 WCU in truth, told from a sample.
	want := map[string]detect.Severity{"eu-west-1": detect.Warning, "us-west-2": detect.Info}
	for _, f := range r.Findings {
		if f.Subject.OfKey() && (f.Severity != want[f.Region] || math.Abs(f.Peak.WCU.Value-1500) > 75) {
			t.Errorf("%s: %s with %g WCU", f.Name(), f.Severity, f.Peak.WCU.Value)
		}
		if f.Subject.OfKey() {
			delete(want, f.Region)
		}
	}
	if len(want) != 0 {
		t.Errorf("no finding of %v", want)
	}
}
