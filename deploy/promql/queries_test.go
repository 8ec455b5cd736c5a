// Package promql holds the alert rules and the dashboards to the programs' metrics, with
// Prometheus' own parser.
package promql

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

// row finds a metric in docs/METRICS.md, which tests of both programs hold to their
// registries.
var row = regexp.MustCompile("(?m)^\\| `(keyheat_\\w+)` \\| (\\w+) \\| ([^|]*) \\|")

// readMetrics returns the labels of every series that the programs export, by name.
func readMetrics(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/METRICS.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{"up": nil, "process_resident_memory_bytes": nil, "process_cpu_seconds_total": nil, "process_start_time_seconds": nil}
	for _, r := range row.FindAllStringSubmatch(string(page), -1) {
		name, kind := r[1], r[2]
		var labels []string
		for l := range strings.SplitSeq(r[3], ",") {
			if l = strings.Trim(l, " `"); l != "" {
				labels = append(labels, l)
			}
		}
		if kind != "histogram" {
			all[name] = append(all[name], labels...)
			continue
		}
		all[name+"_bucket"] = append(all[name+"_bucket"], append(slices.Clone(labels), "le")...)
		all[name+"_sum"] = append(all[name+"_sum"], labels...)
		all[name+"_count"] = append(all[name+"_count"], labels...)
	}
	return all
}

// target are the labels that Prometheus adds to every series.
var target = []string{"job", "instance"}

// check returns what is wrong with a query.
func check(metrics map[string][]string, query string) (faults []string) {
	expression, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		return []string{err.Error()}
	}
	var known []string // the labels of the query's series
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		selector, is := node.(*parser.VectorSelector)
		if !is {
			return nil
		}
		own, exported := metrics[selector.Name]
		if !exported {
			faults = append(faults, "no program exports "+selector.Name)
		}
		own = append(slices.Clone(own), target...)
		known = append(known, own...)
		for _, m := range selector.LabelMatchers {
			if m.Name != labels.MetricName && !slices.Contains(own, m.Name) {
				faults = append(faults, fmt.Sprintf("%s has no label %s", selector.Name, m.Name))
			}
		}
		return nil
	})
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		var grouping []string
		switch n := node.(type) {
		case *parser.AggregateExpr:
			grouping = n.Grouping
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				grouping = slices.Concat(n.VectorMatching.MatchingLabels, n.VectorMatching.Include)
			}
		}
		for _, label := range grouping {
			if !slices.Contains(known, label) {
				faults = append(faults, "no series of the query has the label "+label)
			}
		}
		return nil
	})
	return faults
}

// usedLabel finds the labels in templates: of alerts and of legends.
var usedLabel = regexp.MustCompile(`\$labels\.(\w+)|\{\{\s*(\w+)\s*\}\}`)

func TestRules(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	metrics, checked := readMetrics(t), 0
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			checked++
			for _, fault := range check(metrics, r.Expr) {
				t.Errorf("%s: %s", r.Alert, fault)
			}
		}
	}
	if checked < 8 {
		t.Errorf("only %d rules were checked", checked)
	}
}

// panel is a panel of a dashboard, or a row of them.
type panel struct {
	Title      string
	Datasource struct{ UID string }
	Targets    []struct{ Expr, LegendFormat string }
	Panels     []panel
}

func TestDashboards(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../grafana/*.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q, %v", files, err)
	}
	metrics := readMetrics(t)
	ids := make(map[string]bool)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			UID, Title string
			Panels     []panel
			Templating struct {
				List []struct {
					Name, Type string
					Query      any
				}
			}
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if d.UID == "" || ids[d.UID] || d.Title == "" {
			t.Errorf("%s: the uid is %q", file, d.UID)
		}
		ids[d.UID] = true
		variables := []string{"$__rate_interval", "5m", "$__range", "1h"}
		for _, v := range d.Templating.List {
			if v.Type == "query" {
				variables = append(variables, "$"+v.Name, "x")
				checkVariable(t, metrics, file, fmt.Sprint(v.Query))
			}
		}
		if n := checkPanels(t, metrics, strings.NewReplacer(variables...), file, d.Panels); n < 6 {
			t.Errorf("%s: only %d queries were checked", file, n)
		}
	}
}

// labelValues finds the metric and the label of a variable's query.
var labelValues = regexp.MustCompile(`label_values\((\w+)(?:\{.*\})?, ?(\w+)\)`)

func checkVariable(t *testing.T, metrics map[string][]string, file, query string) {
	t.Helper()
	m := labelValues.FindStringSubmatch(query)
	if m == nil || !slices.Contains(append(slices.Clone(metrics[m[1]]), target...), m[2]) {
		t.Errorf("%s: the variable %s", file, query)
	}
}

func checkPanels(t *testing.T, metrics map[string][]string, variables *strings.Replacer, file string, all []panel) (queries int) {
	t.Helper()
	for _, p := range all {
		for _, q := range p.Targets {
			queries++
			for _, fault := range check(metrics, variables.Replace(q.Expr)) {
				t.Errorf("%s: %s: %s", filepath.Base(file), p.Title, fault)
			}
			for _, l := range usedLabel.FindAllStringSubmatch(q.LegendFormat, -1) {
				if label := l[1] + l[2]; !slices.Contains(target, label) && !strings.Contains(q.Expr, label) {
					t.Errorf("%s: %s: the legend's label %s is not in the query", filepath.Base(file), p.Title, label)
				}
			}
		}
		queries += checkPanels(t, metrics, variables, file, p.Panels)
	}
	return queries
}

// TestFaultsAreFound: a check that accepts everything would be worth nothing.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	metrics := map[string][]string{"keyheat_a": {"table"}}
	for query, want := range map[string]string{
		`sum by (table) (keyheat_a{table="x"})`: "",
		`sum by (`:                              "parse error",
		`keyheat_b`:                             "no program exports keyheat_b",
		`keyheat_a{key="x"}`:                    "keyheat_a has no label key",
		`sum by (key) (keyheat_a)`:              "no series of the query has the label key",
		`keyheat_a + on (key) keyheat_a`:        "no series of the query has the label key",
	} {
		got := strings.Join(check(metrics, query), "; ")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}
