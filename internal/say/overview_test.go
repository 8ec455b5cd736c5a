package say_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
)

// TestOverview holds the sentences of the first page to a golden file.
func TestOverview(t *testing.T) {
	t.Parallel()
	orders := sample.Target{Table: "orders"}
	hot := &say.Named{Target: orders, Key: "user#42", Utilization: 2.6}
	warm := &say.Named{Target: orders, Key: "user#7", Utilization: 0.9}
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	var text strings.Builder
	for _, c := range []struct {
		name   string
		now    say.Present
		nobody bool
		since  time.Time
	}{
		{"nobody collects", say.Present{}, true, time.Time{}},
		{"nothing was counted", say.Present{}, false, time.Time{}},
		{"collection stopped", say.Present{Counted: true}, false, noon},
		{"and something fired", say.Present{Counted: true, Open: 2, Worst: hot, Over: 1}, false, noon},
		{"no samples come", say.Present{Counted: true, NoSamples: say.NoSamples(noon, noon.Add(30*time.Minute))}, false, time.Time{}},
		{"none for a day, and something fires", say.Present{Counted: true, Open: 2, NoSamples: say.NoSamples(noon, noon.Add(26*time.Hour))}, false, time.Time{}},
		{"calm", say.Present{Counted: true}, false, time.Time{}},
		{"calm, by lower bounds", say.Present{Counted: true, Bounded: true}, false, time.Time{}},
		{
			"two keys are hot, and requests are refused", say.Present{Counted: true, Open: 2, Over: 2, Worst: hot, Loser: orders, Refused: 0.38},
			false, time.Time{}},
		{
			"the worst is no key", say.Present{Counted: true, Open: 2, Over: 2, Worst: &say.Named{}, Loser: orders, Refused: 0.38},
			false, time.Time{}},
		{
			"few are refused", say.Present{Counted: true, Open: 1, Over: 1, Loser: orders, Refused: 0.001, Reads: true},
			false, time.Time{}},
		{
			"nothing is refused", say.Present{Counted: true, Open: 1, Over: 1, Worst: hot}, false, time.Time{}},
		{
			"more tables than are looked at", say.Present{Counted: true, Open: 30, Over: 25, Loser: orders, Refused: 0.5, More: true},
			false, time.Time{}},
		{
			"it fires on for a while", say.Present{Counted: true, Open: 1, Worst: hot}, false, time.Time{}},
		{
			"its samples come late", say.Present{Counted: true, Open: 1, Over: 1, Worst: hot, AsOf: noon}, false, time.Time{}},
		{
			"the newest second is no longer the present", say.Present{Counted: true, Open: 2, Worst: hot, AsOf: noon}, false, time.Time{}},
		{
			"one warmed up, and no newer second is counted", say.Present{Counted: true, Pending: 1, Nearest: warm, AsOf: noon}, false, time.Time{}},
		{
			"one warms up", say.Present{Counted: true, Pending: 1, Nearest: warm}, false, time.Time{}},
		{
			"one is over the limit, and pending", say.Present{Counted: true, Over: 1, Pending: 1, Nearest: hot}, false, time.Time{}},
	} {
		fmt.Fprintf(&text, "%s:\n%s\n", c.name, c.now.Sentence(c.nobody, c.since))
	}
	for _, c := range []struct {
		name  string
		count say.OpenCount
	}{
		{"incidents of a time", say.OpenCount{Incidents: 12, Critical: 3}},
		{"one", say.OpenCount{Incidents: 1}},
		{"more than are counted", say.OpenCount{Incidents: 5000, Critical: 1200, Cut: true}},
		{"none", say.OpenCount{}},
	} {
		fmt.Fprintf(&text, "%s:\n%s\n", c.name, say.OpenIncidents(c.count))
	}
	compareGolden(t, "testdata/overview.txt", text.String())
}
