package say_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
)

// TestReports holds the sentences of reports about a period, its collectors and its
// coverage to a golden file.
func TestReports(t *testing.T) {
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	hot := detect.KeyRef{Target: detect.Target{Table: "orders"}, Key: "user#42"}
	table := detect.KeyRef{Target: detect.Target{Table: "orders", Index: "by-day"}}
	var text strings.Builder
	for _, c := range []struct {
		name string
		say.Outline
	}{
		{"nothing was seen", say.Outline{Blind: true}},
		{"calm", say.Outline{}},
		{"calm with gaps", say.Outline{Gaps: 1}},
		{"open incidents that never fired", say.Outline{Warm: 2, Worst: hot, Utilization: new(0.9)}},
		{"two fired", say.Outline{Hot: 2, Worst: hot, Utilization: new(2.6)}},
		{"one still fires", say.Outline{Hot: 3, Firing: 1, Worst: table, Gaps: 2}},
		{"collection stopped", say.Outline{Hot: 1, Firing: 1, Worst: hot, Gaps: 2, Stopped: &noon}},
	} {
		fmt.Fprintf(&text, "%s:\n%s\n", c.name, c.Describe(func(t time.Time) string { return t.Format(time.DateTime) }))
	}
	for _, c := range []struct {
		name string
		say.CollectorFault
	}{
		{"a sound collector", say.CollectorFault{}},
		{"a silent collector", say.CollectorFault{Silent: true}},
		{"a collector that fails", say.CollectorFault{Failing: true, Reason: "partition orders/3: not authorized."}},
		{"all at once", say.CollectorFault{Silent: true, Failing: true, Refused: []string{"a", "b", "c", "d", "e", "f"}, Bad: 0.123}},
	} {
		fmt.Fprintf(&text, "%s:\n%s\n", c.name, c.CollectorFault)
	}
	fmt.Fprintf(&text, "coverage of files:\n%s\ncoverage of a quiet table:\n%s\nwithout CloudWatch:\n%s\n", say.FileCoverage, say.StaleCoverage, say.ExplainCoverage(nil))
	fmt.Fprintln(&text, say.Cut("gaps"))
	fmt.Fprintln(&text, say.CollectionStopped("2026-11-22 12:00:00"))
	for _, n := range []*int{nil, new(0), new(1), new(2)} {
		fmt.Fprintln(&text, say.CollectorsWrote(n))
	}
	rejected := map[sample.RejectReason]int64{"syntax": 2, "duplicate": 1000}
	fmt.Fprintf(&text, "%s\n%s\n", say.FileSamples(1, nil, nil), say.FileSamples(2000, rejected, []string{"A note."}))
	fmt.Fprintf(&text, "%s\n%s\n", say.BlindFiles(""), say.BlindFiles("The file is empty."))
	compareGolden(t, "testdata/report.txt", text.String())
}
