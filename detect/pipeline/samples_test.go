package pipeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/sample"
)

// arrivals are the seconds in which samples of a table arrive, from one to another exclusive.
type arrivals []struct{ from, to int }

// last returns the newest second with a sample up to a second.
func (a arrivals) last(now int) (newest int) {
	for _, span := range a {
		if span.from <= now {
			newest = min(span.to-1, now)
		}
	}
	return newest
}

// counted is a healthy pipeline that has counted up to a second, with tables of the given
// samples. Their longest pause before is ten seconds.
func counted(now int, tables map[string]arrivals) pipeline.Status {
	s := well(now)
	s.Counted = second(now)
	all := pipeline.Table{Pause: 10 * time.Second}
	for name, a := range tables {
		t := pipeline.Table{Target: detect.Target{Table: name}, Last: second(a.last(now)), Pause: 10 * time.Second}
		if t.Last.After(all.Last) {
			all.Last = t.Last
		}
		s.Tables = append(s.Tables, t)
	}
	s.Tables = append(s.Tables, all)
	return s
}

// TestSamplesThatStop: when samples of a table, or of all tables, stop and come again.
func TestSamplesThatStop(t *testing.T) {
	t.Parallel()
	const ever = 1 << 20
	stops, steady := arrivals{{0, 3600}}, arrivals{{0, ever}}
	type change func(s *pipeline.Status)
	of := func(table string, edit func(t *pipeline.Table)) change {
		return func(s *pipeline.Status) {
			i := slices.IndexFunc(s.Tables, func(t pipeline.Table) bool { return t.Table == table })
			edit(&s.Tables[i])
		}
	}
	for sentence, c := range map[string]struct {
		tables map[string]arrivals
		until  int
		change change
		want   string
	}{
		"samples of a table for two hours":            {map[string]arrivals{"a": steady}, 7200, nil, ""},
		"a table has had none for less than 2 min":    {map[string]arrivals{"a": stops, "b": steady}, 3715, nil, ""},
		"a table has had none for 2 min":              {map[string]arrivals{"a": stops, "b": steady}, 3720, nil, "a firing"},
		"and for a day":                               {map[string]arrivals{"a": stops, "b": steady}, 90_000, nil, "a firing"},
		"two tables of three":                         {map[string]arrivals{"a": stops, "b": stops, "c": steady}, 3800, nil, "a firing, b firing"},
		"all tables":                                  {map[string]arrivals{"a": stops, "b": stops}, 3800, nil, "all firing"},
		"all tables, one after another":               {map[string]arrivals{"a": {{0, 3540}}, "b": stops}, 3800, nil, "all firing"},
		"the only table":                              {map[string]arrivals{"a": stops}, 3800, nil, "all firing"},
		"they come again for less than a minute":      {map[string]arrivals{"a": {{0, 3600}, {3900, ever}}, "b": steady}, 3955, nil, "a firing"},
		"they come again for a minute":                {map[string]arrivals{"a": {{0, 3600}, {3900, ever}}, "b": steady}, 3970, nil, "a resolved"},
		"all come again":                              {map[string]arrivals{"a": {{0, 3600}, {3900, ever}}}, 3970, nil, "all resolved"},
		"only one of two comes again":                 {map[string]arrivals{"a": stops, "b": {{0, 3600}, {3900, ever}}}, 3970, nil, "all resolved, a firing"},
		"samples that come for ten seconds, and stop": {map[string]arrivals{"a": {{0, 3600}, {3900, 3910}, {4200, 4210}, {4500, 4510}}, "b": steady}, 5000, nil, "a firing"},
		"a table that had none in some minute": {map[string]arrivals{"a": stops, "b": steady}, 3800,
			of("a", func(t *pipeline.Table) { t.Pause = 0 }), ""},
		"a table that often has none for 50 s": {map[string]arrivals{"a": stops, "b": steady}, 3745,
			of("a", func(t *pipeline.Table) { t.Pause = 50 * time.Second }), ""},
		"and has none for three times as long": {map[string]arrivals{"a": stops, "b": steady}, 3750,
			of("a", func(t *pipeline.Table) { t.Pause = 50 * time.Second }), "a firing"},
		"a table that may be quiet now": {map[string]arrivals{"a": stops, "b": steady}, 9000,
			of("a", func(t *pipeline.Table) { t.QuietUntil = second(10_000) }), ""},
		"and that should be busy again": {map[string]arrivals{"a": stops, "b": steady}, 10_120,
			of("a", func(t *pipeline.Table) { t.QuietUntil = second(10_000) }), "a firing"},
		"a table that may be quiet from now on": {map[string]arrivals{"a": stops, "b": steady}, 5000, func(s *pipeline.Status) {
			if s.Now.After(second(4000)) {
				of("a", func(t *pipeline.Table) { t.QuietUntil = second(10_000) })(s)
			}
		}, "a resolved"},
		"counting stands still, so nothing is known": {map[string]arrivals{"a": stops, "b": steady}, 9000,
			func(s *pipeline.Status) { s.Counted = second(min(3700, int(s.Counted.Sub(begin).Seconds()))) }, ""},
		"nothing was ever counted": {map[string]arrivals{"a": stops, "b": steady}, 9000,
			func(s *pipeline.Status) { s.Counted = time.Time{} }, ""},
		"samples of that time are lost": {map[string]arrivals{"a": stops, "b": steady}, 3800, func(s *pipeline.Status) {
			s.Gaps = []pipeline.Gap{{Gap: sample.Gap{From: "7", To: "7"}, Since: second(3650), Until: second(3700)}}
		}, ""},
		"no collector can read": {map[string]arrivals{"a": stops, "b": steady}, 3800,
			func(s *pipeline.Status) { s.Collectors[0] = detect.Collector{ID: "b", State: detect.CollectorFailing} }, "collection_stopped"},
		"no collector attends": {map[string]arrivals{"a": stops, "b": steady}, 3800,
			func(s *pipeline.Status) { s.Silent, s.Collectors = second(0), nil }, "collection_stopped"},
		"what is stored is pruned": {map[string]arrivals{"a": stops, "b": steady}, 9000, func(s *pipeline.Status) {
			if s.Now.After(second(8000)) {
				s.Tables = slices.DeleteFunc(s.Tables, func(t pipeline.Table) bool { return t.Table == "a" })
			}
		}, "a resolved"},
	} {
		w := pipeline.NewWatch(pipeline.Default())
		watch(w, 3000, c.until, func(now int) pipeline.Status {
			s := counted(now, c.tables)
			if c.change != nil {
				c.change(&s)
			}
			return s
		})
		if got := silentTables(w); got != c.want {
			t.Errorf("%s: found %q, want %q", sentence, got, c.want)
		}
	}
}

// silentTables writes the findings of a watch by table.
func silentTables(w *pipeline.Watch) string {
	var all []string
	for _, f := range w.Findings() {
		name := f.Table
		switch {
		case f.Case != casebook.SamplesStopped:
			all = append(all, string(f.Case))
			continue
		case name == "":
			name = "all"
		}
		all = append(all, fmt.Sprintf("%s %s", name, f.State))
	}
	return strings.Join(all, ", ")
}

// TestAStopOutlivesARestart: another watch goes on with the findings of the one before, and
// finds by itself what is silent.
func TestAStopOutlivesARestart(t *testing.T) {
	t.Parallel()
	tables := map[string]arrivals{"a": {{0, 3600}, {3900, 1 << 20}}, "b": {{0, 1 << 20}}}
	status := func(now int) pipeline.Status { return counted(now, tables) }
	w := pipeline.NewWatch(pipeline.Default())
	watch(w, 3500, 3800, status)
	open := w.Findings()[0]
	if open.Severity != detect.Warning || open.Table != "a" || !open.FirstSeen.Equal(second(3600)) {
		t.Errorf("found %+v", open)
	}
	for says, restored := range map[string]bool{"with the stored finding": true, "before it was stored": false} {
		next := pipeline.NewWatch(pipeline.Default())
		if restored {
			next.Restore(&open)
		}
		next.Look(status(3805))
		if got := next.Findings(); len(got) != 1 || got[0].State != detect.Firing || !got[0].FirstSeen.Equal(open.FirstSeen) || got[0].Incident != open.Incident {
			t.Errorf("%s it is %+v, was %+v", says, got, open)
		}
		watch(next, 3810, 4000, status)
		if got := silentTables(next); got != "a resolved" {
			t.Errorf("%s, after samples came again: %s", says, got)
		}
	}
}
