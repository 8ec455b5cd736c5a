package judge_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/testsupport/scenario"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// orders is the table that the harness's collectors tell of.
var orders = sample.Target{Table: table}

// watching is quick, and looks at what CloudWatch says in every pass.
func watching() judge.Config {
	return watchingUnder(func(*detect.Policy) {})
}

// watchingUnder is watching, under the default policy with a change.
func watchingUnder(change func(*detect.Policy)) judge.Config {
	c := quick()
	c.CloudWatchEvery = time.Nanosecond
	p := detect.DefaultPolicy()
	change(&p)
	c.Policy = func(detect.Target) detect.Policy { return p }
	return c
}

// says writes what CloudWatch says of the first minutes of a test, from its start on:
// what it consumed, and the throttle events of a metric in each.
func says(t *testing.T, s *store.Store, start time.Time, minutes int, consumed float64, throttled detect.Metric, events float64) {
	t.Helper()
	read := store.CloudWatchRead{Target: orders, State: string(corroboration.Read), Through: start.Add(time.Duration(minutes) * time.Minute)}
	var all []store.CloudWatchMinute
	for i := range minutes {
		m := store.CloudWatchMinute{Target: orders, Minute: start.Add(time.Duration(i) * time.Minute), Metrics: map[string]float64{string(corroboration.ConsumedWrite): consumed}}
		if events > 0 {
			m.Metrics[string(throttled)] = events
		}
		all = append(all, m)
	}
	must(t, s.PutCloudWatch(t.Context(), read, all))
}

// found returns the findings of a kind, as they are stored.
func found(t *testing.T, s *store.Store, kind any) (all []detect.Finding) {
	t.Helper()
	rows, err := s.Findings(t.Context(), store.FindingQuery{Limit: 100})
	must(t, err)
	for _, row := range rows {
		f, err := detect.ReadFinding(row.Document)
		must(t, err)
		if scenario.IsAbout(&f, kind) {
			all = append(all, f)
		}
	}
	return all
}

// pages returns the events of all notifications, in order.
func pages(t *testing.T, s *store.Store) string {
	t.Helper()
	rows, err := s.Findings(t.Context(), store.FindingQuery{Limit: 100})
	must(t, err)
	var events []string
	for _, row := range rows {
		told, err := s.Notifications(t.Context(), row.Fingerprint)
		must(t, err)
		for _, n := range told {
			events = append(events, n.Event)
		}
	}
	return strings.Join(events, " ")
}

// TestCloudWatchConfirms: a hot key's finding says what CloudWatch throttled in its
// minutes, and keeps saying it while CloudWatch is away.
func TestCloudWatchConfirms(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := begin()
		c := collect(t, s, "a", 0, start)
		j := run(t, watching(), &probe{Store: s})
		c.commit(30, hot("hot", 1200, 0, 30)...)
		j.quiet(t)
		if f := found(t, s, detect.KeyWrites); len(f) != 1 || f[0].CloudWatch != nil {
			t.Fatalf("before CloudWatch is read there are %+v", f)
		}
		says(t, s, start, 2, 36_000, corroboration.WriteKeyRangeThrottles, 70)
		j.quiet(t)
		confirmed := found(t, s, detect.KeyWrites)[0]
		if w := confirmed.CloudWatch; w == nil || w.Verdict != detect.CloudWatchConfirms || w.Throttles[corroboration.WriteKeyRangeThrottles] != 70 {
			t.Errorf("the finding has %+v", w)
		}
		validFinding(t, s, detect.KeyWrites)
		if f := found(t, s, detect.SubjectPartition); len(f) != 0 {
			t.Errorf("beside the key that fills the partition there is %+v", f)
		}
		must(t, s.PutCloudWatch(t.Context(), store.CloudWatchRead{Target: orders, State: string(corroboration.Failed), Message: "no route"}, nil))
		j.quiet(t)
		equal(t, "the verdict while CloudWatch is away", found(t, s, detect.KeyWrites)[0].CloudWatch.Verdict, detect.CloudWatchConfirms)
		equal(t, "notifications", pages(t, s), "firing")
	})
}

// TestUnconfirmedIsHeld: where the policy wants it, a hot key pages only once
// CloudWatch counts what it throttled.
func TestUnconfirmedIsHeld(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := begin()
		c := collect(t, s, "a", 0, start)
		says(t, s, start, 2, 36_000, "", 0)
		j := run(t, watchingUnder(func(p *detect.Policy) { p.HoldUnconfirmed = true }), &probe{Store: s})
		c.commit(30, hot("hot", 1200, 0, 30)...)
		j.quiet(t)
		held := found(t, s, detect.KeyWrites)[0]
		if held.State != detect.Pending || held.CloudWatch.Verdict != detect.CloudWatchQuiet || pages(t, s) != "" {
			t.Errorf("not throttled, it is %s, by CloudWatch %s, with notifications %q", held.State, held.CloudWatch.Verdict, pages(t, s))
		}
		says(t, s, start, 2, 36_000, corroboration.WriteKeyRangeThrottles, 70)
		j.quiet(t)
		equal(t, "once it is throttled", pages(t, s), "firing")
	})
}

// TestCloudWatchAlone: what CloudWatch alone tells opens an incident, which a restart
// and an outage leave as it is, and which ends when nothing is throttled any more.
func TestCloudWatchAlone(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := begin()
		c := collect(t, s, "a", 0, start)
		j := run(t, watching(), &probe{Store: s})
		c.commit(30, hot("cool", 5, 0, 30)...)
		says(t, s, start, 3, 36_000, corroboration.ReadKeyRangeThrottles, 70)
		j.quiet(t)
		open := incidentWith(t, s, detect.SubjectPartition)
		if open.State != detect.Firing || open.Quality.Source != detect.SourceMinutes {
			t.Fatalf("the incident is %+v", open)
		}
		must(t, s.PutCloudWatch(t.Context(), store.CloudWatchRead{Target: orders, State: string(corroboration.Failed), Message: "no route"}, nil))
		j.quiet(t)
		j.stop()
		j = run(t, watching(), &probe{Store: s})
		j.quiet(t)
		equal(t, "after an outage and a restart", incidentWith(t, s, detect.SubjectPartition).State, detect.Firing)
		equal(t, "notifications", pages(t, s), "firing")

		must(t, s.PutCloudWatch(t.Context(), store.CloudWatchRead{Target: orders, State: string(corroboration.Read), Through: start.Add(20 * time.Minute)}, nil))
		j.quiet(t)
		equal(t, "when it is over", incidentWith(t, s, detect.SubjectPartition).State, detect.Resolved)
		equal(t, "notifications", pages(t, s), "firing resolved")
	})
}

// validFinding holds the stored finding of a kind to the published schema.
func validFinding(t *testing.T, s *store.Store, kind any) {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile("../../docs/findings.schema.json#/$defs/finding")
	must(t, err)
	rows, err := s.Findings(t.Context(), store.FindingQuery{Limit: 100})
	must(t, err)
	rows = slices.DeleteFunc(rows, func(row store.Finding) bool {
		f, err := detect.ReadFinding(row.Document)
		must(t, err)
		return !scenario.IsAbout(&f, kind)
	})
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(rows[0].Document))
	must(t, err)
	must(t, schema.Validate(document))
}
