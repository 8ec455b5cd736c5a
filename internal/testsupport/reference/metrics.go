package reference

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Metric is a row of docs/METRICS.md.
type Metric struct {
	Name, Type string
	Labels     []string
}

// CheckMetrics fails unless the page has between the marks of a program the table of every
// metric of Keyheat in its registry. On a mismatch write what is printed between the marks.
func CheckMetrics(t *testing.T, page, mark string, registry prometheus.Registerer) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	have, found := between(string(text), mark)
	if want := metricsTable(t, registry); !found || have != want {
		t.Errorf("%s lacks the metrics of %s:\n%s", filepath.Base(page), mark, want)
	}
}

// between returns the text between a page's marks.
func between(page, mark string) (text string, found bool) {
	_, rest, _ := strings.Cut(page, "<!-- "+mark+" begins -->\n")
	text, _, found = strings.Cut(rest, "<!-- "+mark+" ends -->")
	return strings.TrimSpace(text), found
}

// description finds the parts of a metric's description, which prometheus only prints.
var description = regexp.MustCompile(`^Desc\{fqName: "(.*)", help: "(.*?)"(?:, unit: ".*?")?, constLabels: \{(.*)\}, variableLabels: \{(.*)\}\}$`)

// constLabel finds the name of a constant label.
var constLabel = regexp.MustCompile(`(\w+)="`)

// metricsTable returns a Markdown table of the metrics of Keyheat. A label with one value
// per metric, such as the input, is a label like others.
func metricsTable(t *testing.T, registry prometheus.Registerer) string {
	t.Helper()
	kinds := kindsOf(t, registry)
	descriptions := make(chan *prometheus.Desc)
	go func() {
		registry.(prometheus.Collector).Describe(descriptions)
		close(descriptions)
	}()
	var rows []string
	for d := range descriptions {
		parts := description.FindStringSubmatch(d.String())
		if parts == nil {
			t.Fatalf("prometheus prints a description in another way: %s", d)
		}
		name, help := parts[1], parts[2]
		if !strings.HasPrefix(name, "keyheat_") {
			continue
		}
		var labels []string
		for _, l := range constLabel.FindAllStringSubmatch(parts[3], -1) {
			labels = append(labels, "`"+l[1]+"`")
		}
		for l := range strings.SplitSeq(parts[4], ",") {
			if l != "" {
				labels = append(labels, "`"+l+"`")
			}
		}
		slices.Sort(labels)
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", name, kind(kinds, name), strings.Join(labels, ", "), help))
	}
	slices.Sort(rows)
	head := []string{"| metric | type | labels | meaning |", "| --- | --- | --- | --- |"}
	return strings.Join(append(head, slices.Compact(rows)...), "\n")
}

// kindsOf returns the types of the metrics that have a value by now.
func kindsOf(t *testing.T, registry prometheus.Registerer) map[string]string {
	t.Helper()
	families, err := registry.(prometheus.Gatherer).Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, f := range families {
		all[f.GetName()] = strings.ToLower(f.GetType().String())
	}
	return all
}

// kind returns a metric's type. A vector without a value is a counter or a gauge.
func kind(known map[string]string, name string) string {
	switch {
	case known[name] != "":
		return known[name]
	case strings.HasSuffix(name, "_total"):
		return "counter"
	}
	return "gauge"
}

// row finds a row of docs/METRICS.md.
var row = regexp.MustCompile("(?m)^\\| `(keyheat_\\w+)` \\| (\\w+) \\| ([^|]*) \\|")

// ReadMetrics returns the metrics that a page lists, by name. A label of one program's
// metric counts for the other program's of the same name.
func ReadMetrics(t *testing.T, page string) map[string]Metric {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]Metric)
	for _, r := range row.FindAllStringSubmatch(string(text), -1) {
		m := Metric{Name: r[1], Type: r[2], Labels: all[r[1]].Labels}
		for l := range strings.SplitSeq(r[3], ",") {
			if l = strings.Trim(l, " `"); l != "" && !slices.Contains(m.Labels, l) {
				m.Labels = append(m.Labels, l)
			}
		}
		all[m.Name] = m
	}
	if len(all) == 0 {
		t.Fatalf("%s lists no metric", page)
	}
	return all
}
