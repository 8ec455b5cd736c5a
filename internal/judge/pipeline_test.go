package judge_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// watchful is a judge that looks at the pipeline all the time and grants none.
func watchful() judge.Config {
	c := quick()
	c.Pipeline, c.LookEvery = pipeline.Default(), time.Nanosecond
	c.Pipeline.Stopped = time.Millisecond
	return c
}

// pipelineFinding returns the finding with a case about Keyheat itself; none when nothing
// is stored of it.
func pipelineFinding(t *testing.T, s *store.Store, c detect.Case) (f detect.Finding, has bool) {
	t.Helper()
	rows, err := s.Findings(t.Context(), store.FindingQuery{Case: string(c)})
	must(t, err)
	if len(rows) == 0 {
		return f, false
	}
	f, err = detect.ReadFinding(rows[0].Document)
	must(t, err)
	return f, true
}

// TestCollectionThatStopsIsAnIncident: it opens when the last collector has gone, stays
// over a restart of the judge, and is over when one is back; who was told of it is told
// of that.
func TestCollectionThatStopsIsAnIncident(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		is := func(want detect.State) func() bool {
			return func() bool {
				f, has := pipelineFinding(t, s, casebook.CollectionStopped)
				return has && f.State == want
			}
		}
		j := run(t, watchful(), &probe{Store: s})
		j.quiet(t)
		if _, has := pipelineFinding(t, s, casebook.CollectionStopped); has {
			t.Error("there is a finding before there ever was a collector")
		}
		must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "host-1", Started: time.Now()}))
		j.quiet(t)
		if _, has := pipelineFinding(t, s, casebook.CollectionStopped); has {
			t.Error("there is a finding while a collector runs")
		}
		must(t, s.StopWriter(t.Context(), "a"))
		await(t, is(detect.Firing))
		open := incidentWith(t, s, detect.SubjectPipeline)
		if open.State != detect.Firing || open.Severity != detect.Critical || open.Target != (detect.Target{}) || len(open.Notified) != 1 {
			t.Errorf("the incident is %+v", open)
		}

		j.stop()
		back := run(t, watchful(), &probe{Store: s})
		back.quiet(t)
		if !is(detect.Firing)() {
			t.Error("a restart of the judge ends it")
		}
		must(t, s.StartWriter(t.Context(), store.Writer{ID: "b", Host: "host-2", Started: time.Now()}))
		must(t, s.ReportWriter(t.Context(), "b", store.WriterStatus{State: string(detect.CollectorFailing), Reason: "topic orders: it is missing"}))
		back.quiet(t)
		if !is(detect.Firing)() {
			t.Error("a collector that reads nothing ends it")
		}
		must(t, s.ReportWriter(t.Context(), "b", store.WriterStatus{State: string(detect.CollectorRunning)}))
		await(t, is(detect.Resolved))
		over := incidentWith(t, s, detect.SubjectPipeline)
		if over.ID != open.ID || over.State != detect.Resolved || over.Root != open.Root {
			t.Errorf("the incident is %+v, was %+v", over, open)
		}
		told, err := s.Notifications(t.Context(), open.Root)
		must(t, err)
		var events []string
		for _, n := range told {
			events = append(events, n.Event)
		}
		equal(t, "notifications", events, []string{"firing", "resolved"})
	})
}

// TestThePipelinesHealthIsOfFindingsForm: a report and a gap make findings as others
// are, by the published schema, and wait for no policy of hot keys.
func TestThePipelinesHealthIsOfFindingsForm(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		c := collect(t, s, "a", 0, begin())
		must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "host-1", Started: time.Now()}))
		slow := watchful()
		slow.Policy = func(detect.Target) detect.Policy {
			p := detect.DefaultPolicy()
			p.OnHarm, p.For = true, time.Hour
			return p
		}
		run(t, slow, &probe{Store: s})
		c.commit(1, load{0, "k", 1})
		c.lose(store.Gap{Gap: sample.Gap{From: "9", To: "10", Reason: "the records expired"}})
		await(t, func() bool { _, has := pipelineFinding(t, s, casebook.SamplesLost); return has })
		must(t, s.StopWriter(t.Context(), "a"))
		await(t, func() bool { _, has := pipelineFinding(t, s, casebook.CollectionStopped); return has })
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		schema, err := compiler.Compile("../../docs/findings.schema.json#/$defs/finding")
		must(t, err)
		for _, k := range []detect.Case{casebook.SamplesLost, casebook.CollectionStopped} {
			rows, err := s.Findings(t.Context(), store.FindingQuery{Case: string(k)})
			must(t, err)
			document, err := jsonschema.UnmarshalJSON(bytes.NewReader(rows[0].Document))
			must(t, err)
			if err := schema.Validate(document); err != nil {
				t.Errorf("%s: %v", k, err)
			}
			told, err := s.Notifications(t.Context(), rows[0].Fingerprint)
			must(t, err)
			equal(t, "notifications", len(told), 1)
		}
	})
}
