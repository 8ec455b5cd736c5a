package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// rules are the alert rules, by group.
type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert               string
			Labels, Annotations map[string]string
		}
	}
}

func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, yaml.Unmarshal(text, into))
}

// TestEachAlertHasItsSection holds alerts to the sections of the runbook and the sections
// to the alerts: an alert that nobody explains wakes somebody for nothing.
func TestEachAlertHasItsSection(t *testing.T) {
	t.Parallel()
	var file rules
	readYAML(t, "prometheus/rules.yaml", &file)
	page, err := os.ReadFile("../docs/RUNBOOK.md")
	must(t, err)
	var sections []string
	for _, m := range regexp.MustCompile(`(?m)^## (Keyheat.+)$`).FindAllStringSubmatch(string(page), -1) {
		sections = append(sections, m[1])
	}
	var alerts []string
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			alerts = append(alerts, r.Alert)
			link := "https://github.com/keyheat/keyheat/blob/main/docs/RUNBOOK.md#" + strings.ToLower(r.Alert)
			if r.Annotations["runbook_url"] != link || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s: the annotations are %v, the section is %s", r.Alert, r.Annotations, link)
			}
			if s := r.Labels["severity"]; s != "warning" && s != "critical" {
				t.Errorf("%s has the severity %q", r.Alert, s)
			}
		}
	}
	if !slices.Equal(alerts, sections) || len(alerts) > 10 || len(file.Groups) != 2 {
		t.Errorf("the alerts of %d groups are\n%q\nthe sections\n%q", len(file.Groups), alerts, sections)
	}
}

// TestEachAlertFiresAndIsQuiet: each alert has one case in which it fires and one in which
// it does not.
func TestEachAlertFiresAndIsQuiet(t *testing.T) {
	t.Parallel()
	var file rules
	readYAML(t, "prometheus/rules.yaml", &file)
	var tests struct {
		Tests []struct {
			Name  string
			Rules []struct {
				Alertname string
				Expected  []any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	readYAML(t, "prometheus/rules_test.yaml", &tests)
	fires, quiet := make(map[string]bool), make(map[string]bool)
	for _, c := range tests.Tests {
		for _, r := range c.Rules {
			if len(r.Expected) > 0 {
				fires[r.Alertname] = true
			} else {
				quiet[r.Alertname] = true
			}
		}
	}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if !fires[r.Alert] || !quiet[r.Alert] {
				t.Errorf("%s: a firing case %t, a quiet case %t", r.Alert, fires[r.Alert], quiet[r.Alert])
			}
		}
	}
}

// TestRulesInPromtool runs the rules' unit tests.
func TestRulesInPromtool(t *testing.T) {
	t.Parallel()
	promtool := prometheusProgram(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"check", "config", "scrape.yaml"}, {"test", "rules", "rules_test.yaml"}} {
		c := exec.CommandContext(t.Context(), promtool, args...)
		c.Dir = "prometheus"
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// prometheusProgram returns the path of one of Prometheus' programs. Without it the test
// skips, and fails in CI.
func prometheusProgram(t *testing.T, name string) string {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "../scripts/ensure-prometheus").Output()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("Prometheus cannot be had here: see scripts/ensure-prometheus")
	}
	return filepath.Join(strings.TrimSpace(string(folder)), name)
}
