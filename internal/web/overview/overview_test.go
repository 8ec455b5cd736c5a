package overview_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/web/overview"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TestSentence has what is known of the last seconds, and what the page says first.
func TestSentence(t *testing.T) {
	t.Parallel()
	orders := sample.Target{Table: "orders"}
	hot := &store.IncidentHead{Target: orders, Key: "user#42", Utilization: 2.6}
	warm := &store.IncidentHead{Target: orders, Key: "user#7", Utilization: 0.9}
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name   string
		now    overview.Now
		nobody bool
		since  time.Time
		want   string
	}{
		{"nobody collects", overview.Now{}, true, time.Time{}, "No samples have arrived yet: start a collector."},
		{"nothing was counted", overview.Now{}, false, time.Time{}, "A collector is there, but no second was counted yet: nothing could be judged."},
		{"collection stopped", overview.Now{Counted: true}, false, noon, "Nothing could be judged since 12:00:00 UTC, when the last collector wrote."},
		{"and something fired", overview.Now{Counted: true, Open: 2, Worst: hot, Over: 1}, false, noon, "Nothing could be judged since 12:00:00 UTC, when the last collector wrote: 2 incidents fired then."},
		{"calm", overview.Now{Counted: true}, false, time.Time{}, "No key is near the limit of a partition."},
		{
			"two keys are hot, and requests are refused", overview.Now{Counted: true, Open: 2, Over: 2, Worst: hot, Loser: orders, Refused: 0.38},
			false, time.Time{}, "2 keys are over the limit now; “user#42” in orders is the worst, 260% of the limit at its peak.",
		},
		{
			"the worst is no key", overview.Now{Counted: true, Open: 2, Over: 2, Worst: &store.IncidentHead{}, Loser: orders, Refused: 0.38},
			false, time.Time{}, "2 keys are over the limit now; DynamoDB refuses 38% of the writes to orders.",
		},
		{
			"few are refused", overview.Now{Counted: true, Open: 1, Over: 1, Loser: orders, Refused: 0.001, Reads: true},
			false, time.Time{}, "1 key is over the limit now; DynamoDB refuses less than 1% of the reads of orders.",
		},
		{
			"nothing is refused", overview.Now{Counted: true, Open: 1, Over: 1, Worst: hot}, false, time.Time{},
			"1 key is over the limit now; “user#42” in orders is the worst, 260% of the limit at its peak.",
		},
		{
			"more tables than are looked at", overview.Now{Counted: true, Open: 30, Over: 25, Loser: orders, Refused: 0.5, More: true},
			false, time.Time{}, "At least 25 keys are over the limit now; DynamoDB refuses 50% of the writes to orders, the most among the hottest tables.",
		},
		{
			"it fires on for a while", overview.Now{Counted: true, Open: 1, Worst: hot}, false, time.Time{},
			"1 incident fires, but no key was over the limit in the last seconds; “user#42” in orders is the worst, 260% of the limit at its peak.",
		},
		{
			"one warms up", overview.Now{Counted: true, Pending: 1, Nearest: warm}, false, time.Time{},
			"No key is over the limit now; “user#7” in orders is the nearest, 90% of the limit at its peak.",
		},
	} {
		if got := c.now.Sentence(c.nobody, c.since); got != c.want {
			t.Errorf("%s:\n%s, want\n%s", c.name, got, c.want)
		}
	}
}
