package judge_test

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/store"
)

// steady are small loads every ten seconds from one second to another, exclusive.
func steady(from, to int) (all []load) {
	for second := from; second < to; second += 10 {
		all = append(all, load{second, "user#1", 5})
	}
	return all
}

// TestSamplesThatStopAreAnIncident: it begins though nothing else changes, stays over a
// restart of the judge, is found by a judge that did not see the samples, and ends when
// samples come again.
func TestSamplesThatStopAreAnIncident(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		is := func(want detect.State) func() bool {
			return func() bool {
				f, has := pipelineFinding(t, s, casebook.SamplesStopped)
				return has && f.State == want
			}
		}
		start := time.Now().Add(-80 * time.Minute).Truncate(time.Minute)
		must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "host-1", Started: time.Now()}))
		must(t, s.ReportWriter(t.Context(), "a", store.WriterStatus{State: string(detect.CollectorRunning)}))
		c := collect(t, s, "a", 0, start)
		c.commit(3700, steady(0, 3700)...)
		j := run(t, watchful(), &probe{Store: s})
		j.quiet(t)
		c.commit(3800)
		j.quiet(t)
		if f, has := pipelineFinding(t, s, casebook.SamplesStopped); has {
			t.Errorf("after less than two minutes without a sample there is %+v", f)
		}
		j.stop()
		c.commit(3900) // the next judge has seen none of the samples

		back := run(t, watchful(), &probe{Store: s})
		await(t, is(detect.Firing))
		open := incidentWith(t, s, detect.SubjectPipeline)
		if open.Severity != detect.Warning || open.Target != (detect.Target{}) || !open.OpenedAt.Equal(start.Add(3691*time.Second)) || len(open.Notified) != 1 {
			t.Errorf("the incident is %+v", open)
		}
		back.stop()
		c.commit(3960, steady(3900, 3920)...)

		last := run(t, watchful(), &probe{Store: s})
		last.quiet(t)
		if !is(detect.Firing)() {
			t.Error("a restart of the judge, or a few samples, end it")
		}
		c.commit(4020, steady(3960, 4020)...)
		last.quiet(t)
		c.commit(4080, steady(4020, 4080)...)
		await(t, is(detect.Resolved))
	})
}

// TestATableMayBeQuiet: the operator's quiet hours, and a table that often has no sample.
func TestATableMayBeQuiet(t *testing.T) {
	t.Parallel()
	for says, c := range map[string]struct {
		quiet *detect.QuietHours
		loads []load
	}{
		"a table that may be quiet":             {&detect.QuietHours{Lasts: 24 * time.Hour}, steady(0, 3700)},
		"a table without samples in a minute":   {nil, append(steady(0, 1000), steady(1080, 3700)...)},
		"a table with samples for half an hour": {nil, steady(1800, 3700)},
	} {
		s := open(t, database(t))
		config := watchful()
		config.Policy = func(detect.Target) detect.Policy {
			p := detect.DefaultPolicy()
			p.Quiet = c.quiet
			return p
		}
		must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Host: "host-1", Started: time.Now()}))
		must(t, s.ReportWriter(t.Context(), "a", store.WriterStatus{State: string(detect.CollectorRunning)}))
		w := collect(t, s, "a", 0, time.Now().Add(-80*time.Minute).Truncate(time.Minute))
		w.commit(3700, c.loads...)
		j := run(t, config, &probe{Store: s})
		j.quiet(t)
		w.commit(4000)
		j.quiet(t)
		j.quiet(t)
		if f, has := pipelineFinding(t, s, casebook.SamplesStopped); has {
			t.Errorf("%s: found %+v", says, f)
		}
		j.stop()
	}
}
