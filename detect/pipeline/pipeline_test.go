package pipeline_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/detect/pipeline"
	"github.com/keyheat/keyheat/sample"
)

// begin is second 0 of a story.
var begin = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func second(n int) time.Time { return begin.Add(time.Duration(n) * time.Second) }

// live is a collector that says that all is well.
func live() detect.Collector {
	return detect.Collector{ID: "a", Host: "host-1", State: detect.CollectorRunning, Reads: true, BadShare: new(float64), RefusedTables: new(int64)}
}

// well is a pipeline that reads one partition, and is at its end.
func well(now int) pipeline.Status {
	return pipeline.Status{
		Now: second(now), Collectors: []detect.Collector{live()},
		Partitions: []pipeline.Partition{{Through: second(now), Moved: second(now), Seen: second(now)}},
	}
}

// silent is a pipeline of which nobody was heard since a second.
func silent(now, since int) pipeline.Status {
	return pipeline.Status{Now: second(now), Silent: second(since)}
}

// watch looks every five seconds from one second to another.
func watch(w *pipeline.Watch, from, to int, status func(now int) pipeline.Status) {
	for now := from; now <= to; now += 5 {
		w.Look(status(now))
	}
}

// states writes what a watch has found.
func states(w *pipeline.Watch) string {
	var all []string
	for _, f := range w.Findings() {
		all = append(all, fmt.Sprintf("%s %s %s", f.Case, f.Severity, f.State))
	}
	return strings.Join(all, ", ")
}

// TestStories: what happens to a pipeline, and what is found at the end.
func TestStories(t *testing.T) {
	t.Parallel()
	bad := func(share float64) func(int) pipeline.Status {
		return func(now int) pipeline.Status {
			s := well(now)
			s.Collectors[0].BadShare = &share
			return s
		}
	}
	waiting := func(through, moved func(now int) int) func(int) pipeline.Status {
		return func(now int) pipeline.Status {
			s := well(now)
			s.Partitions = append(s.Partitions, pipeline.Partition{Through: second(through(now)), Moved: second(moved(now)), Seen: second(now), Lag: 1000})
			return s
		}
	}
	gap := func(noticed int) func(int) pipeline.Status {
		return func(now int) pipeline.Status {
			s := well(now)
			s.Gaps = []pipeline.Gap{{Gap: sample.Gap{Source: "kafka", Partition: "orders/3", Reason: "the records expired"}, Noticed: second(noticed)}}
			return s
		}
	}
	noneKnown := func(now int) pipeline.Status {
		s := gap(100)(now)
		s.Gaps[0].From, s.Gaps[0].To = "7", "7"
		return s
	}
	back := func(c detect.Collector) func(int) pipeline.Status {
		return func(now int) pipeline.Status {
			return pipeline.Status{Now: second(now), Collectors: []detect.Collector{c}}
		}
	}
	failing := detect.Collector{ID: "b", State: detect.CollectorFailing, Reason: "topic orders: it is missing"}
	// dead is a pipeline of two partitions, where some have been unread since second 100. A
	// collector notices that after ten seconds, and reports it within as many.
	dead := func(unread ...string) func(int) pipeline.Status {
		return func(now int) pipeline.Status {
			s := well(now)
			s.Partitions = append(s.Partitions, s.Partitions[0])
			for i := range unread {
				s.Partitions[i].Through, s.Partitions[i].Moved = second(100), second(102)
			}
			if now >= 120 {
				s.Collectors[0].State, s.Collectors[0].Reads = detect.CollectorFailing, len(unread) < 2
				s.LastRead = second(102)
				for _, name := range unread {
					s.Unread = append(s.Unread, pipeline.Unread{Name: name, Since: second(102)})
				}
			}
			return s
		}
	}
	none := func(now int) pipeline.Status { return pipeline.Status{Now: second(now)} }
	for sentence, c := range map[string]struct {
		story func(w *pipeline.Watch)
		want  string
	}{
		"a healthy pipeline":                 {func(w *pipeline.Watch) { watch(w, 0, 3600, well) }, ""},
		"a gap of which no record is known":  {func(w *pipeline.Watch) { watch(w, 0, 200, noneKnown) }, ""},
		"a store that never had a collector": {func(w *pipeline.Watch) { watch(w, 0, 3600, none) }, ""},
		"nobody collects for 40 seconds": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 140, func(now int) pipeline.Status { return silent(now, 100) })
		}, ""},
		"nobody collects for 45 seconds": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 145, func(now int) pipeline.Status { return silent(now, 100) })
		}, "collection_stopped critical firing"},
		"and one is back": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 200, func(now int) pipeline.Status { return silent(now, 100) })
			watch(w, 205, 210, well)
		}, "collection_stopped critical resolved"},
		"and one is back that reads nothing": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 200, func(now int) pipeline.Status { return silent(now, 100) })
			watch(w, 205, 600, back(failing))
		}, "collection_stopped critical firing"},
		"and one is back that has not reported itself": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 200, func(now int) pipeline.Status { return silent(now, 100) })
			watch(w, 205, 215, back(detect.Collector{ID: "b"}))
		}, "collection_stopped critical firing"},
		"and one is back that reads, and fails otherwise": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 200, func(now int) pipeline.Status { return silent(now, 100) })
			watch(w, 205, 215, back(detect.Collector{ID: "b", State: detect.CollectorFailing, Reads: true, Reason: "the clock"}))
		}, "collection_stopped critical resolved"},
		"every collector fails for 40 seconds": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 145, back(failing))
		}, ""},
		"every collector fails for 45 seconds": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 150, back(failing))
		}, "collection_stopped critical firing"},
		"every collector failed, and one reads again": {func(w *pipeline.Watch) {
			watch(w, 0, 100, back(failing))
			watch(w, 105, 110, well)
		}, "collection_stopped critical resolved"},
		"collectors fail twice for 40 seconds": {func(w *pipeline.Watch) {
			watch(w, 0, 40, back(failing))
			watch(w, 45, 50, well)
			watch(w, 55, 95, back(failing))
		}, ""},
		"one partition of two is unread for 40 seconds": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 140, dead("orders/1"))
			watch(w, 145, 300, well)
		}, ""},
		"one partition of two is unread for 45 seconds": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 150, dead("orders/1"))
		}, "collection_lags warning firing"},
		"and is read again for a minute": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 200, dead("orders/1"))
			watch(w, 205, 265, well)
		}, "collection_lags warning resolved"},
		"the source is away for 40 seconds": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 140, dead("orders/0", "orders/1"))
			watch(w, 145, 300, well)
		}, ""},
		"the source is away for 45 seconds": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 150, dead("orders/0", "orders/1"))
		}, "collection_stopped critical firing"},
		"and is back": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 105, 200, dead("orders/0", "orders/1"))
			watch(w, 205, 210, well)
		}, "collection_stopped critical resolved"},
		"a table is never read": {func(w *pipeline.Watch) {
			watch(w, 0, 60, func(now int) pipeline.Status {
				s := well(now)
				s.Unread = []pipeline.Unread{{Name: "carts", Since: second(0)}}
				return s
			})
		}, "collection_lags warning firing"},
		"a collector was frozen, and says so for a moment": {func(w *pipeline.Watch) {
			watch(w, 0, 600, well)
			watch(w, 605, 610, func(now int) pipeline.Status {
				s := dead()(now)
				s.Unread = []pipeline.Unread{{Name: "orders/0", Since: second(100)}}
				return s
			})
			watch(w, 615, 900, well)
		}, ""},
		"one collector fails, and the other has nothing to read": {func(w *pipeline.Watch) {
			watch(w, 0, 50, func(now int) pipeline.Status {
				return pipeline.Status{Now: second(now), Collectors: []detect.Collector{failing, {ID: "c", State: detect.CollectorRunning}}}
			})
		}, "collection_stopped critical firing"},
		"one collector of two fails": {func(w *pipeline.Watch) {
			watch(w, 0, 600, func(now int) pipeline.Status {
				s := well(now)
				s.Collectors = append(s.Collectors, failing)
				return s
			})
		}, ""},
		"a judge that has just started grants the time": {func(w *pipeline.Watch) {
			watch(w, 3600, 3640, func(now int) pipeline.Status { return silent(now, 0) })
		}, ""},
		"and no longer": {func(w *pipeline.Watch) {
			watch(w, 3600, 3645, func(now int) pipeline.Status { return silent(now, 0) })
		}, "collection_stopped critical firing"},
		"bad samples for a moment, then nobody tells, then again for a moment": {func(w *pipeline.Watch) {
			watch(w, 0, 10, bad(0.5))
			watch(w, 15, 200, func(now int) pipeline.Status {
				s := well(now)
				s.Collectors[0].BadShare = nil
				return s
			})
			watch(w, 205, 215, bad(0.5))
		}, ""},
		"a database that was away is not held against the collectors": {func(w *pipeline.Watch) {
			watch(w, 0, 100, well)
			watch(w, 700, 740, func(now int) pipeline.Status { return silent(now, 100) })
			watch(w, 745, 800, well)
		}, ""},
		"event time stands still while records wait": {func(w *pipeline.Watch) {
			watch(w, 0, 360, waiting(func(int) int { return 0 }, func(int) int { return 0 }))
		}, "collection_stopped critical firing, collection_lags warning firing"},
		"one partition stands, another goes on": {func(w *pipeline.Watch) {
			watch(w, 0, 290, func(now int) pipeline.Status {
				s := waiting(func(int) int { return 0 }, func(int) int { return 0 })(now)
				s.Partitions[0].Lag = 5
				return s
			})
		}, ""},
		"event time stands still and no record waits": {func(w *pipeline.Watch) {
			watch(w, 0, 3600, func(now int) pipeline.Status {
				s := well(now)
				s.Partitions[0].Through, s.Partitions[0].Moved = second(0), second(0)
				return s
			})
		}, ""},
		"a partition that nobody reads any more is not waited for": {func(w *pipeline.Watch) {
			watch(w, 7200, 7800, func(now int) pipeline.Status {
				s := well(now)
				s.Partitions = append(s.Partitions, pipeline.Partition{Through: second(0), Moved: second(0), Seen: second(0), Lag: 7})
				return s
			})
		}, ""},
		"ten minutes behind, for a minute": {func(w *pipeline.Watch) {
			watch(w, 600, 660, waiting(func(now int) int { return now - 600 }, func(now int) int { return now }))
		}, "collection_lags warning firing"},
		"ten minutes behind, for less": {func(w *pipeline.Watch) {
			watch(w, 600, 655, waiting(func(now int) int { return now - 600 }, func(now int) int { return now }))
		}, ""},
		"caught up for a minute": {func(w *pipeline.Watch) {
			watch(w, 600, 700, waiting(func(now int) int { return now - 600 }, func(now int) int { return now }))
			watch(w, 705, 765, well)
		}, "collection_lags warning resolved"},
		"what nobody reports is unknown": {func(w *pipeline.Watch) {
			watch(w, 600, 700, waiting(func(now int) int { return now - 600 }, func(now int) int { return now }))
			watch(w, 705, 1500, none)
		}, "collection_lags warning firing"},
		"a tenth is rejected": {func(w *pipeline.Watch) { watch(w, 0, 60, bad(0.1)) }, "bad_samples warning firing"},
		"one in a hundred is": {func(w *pipeline.Watch) { watch(w, 0, 600, bad(0.01)) }, ""},
		"for half a minute":   {func(w *pipeline.Watch) { watch(w, 0, 30, bad(0.1)); watch(w, 35, 600, well) }, ""},
		"every 30 seconds, and not": {func(w *pipeline.Watch) {
			for at := 0; at < 3600; at += 60 {
				watch(w, at, at+25, bad(0.1))
				watch(w, at+30, at+55, well)
			}
		}, ""},
		"nobody says what is rejected": {func(w *pipeline.Watch) {
			watch(w, 0, 60, bad(0.1))
			watch(w, 65, 600, func(now int) pipeline.Status {
				s := well(now)
				s.Collectors[0].BadShare = nil
				return s
			})
		}, "bad_samples warning firing"},
		"no room for two tables": {func(w *pipeline.Watch) {
			watch(w, 0, 60, func(now int) pipeline.Status {
				s := well(now)
				s.Collectors[0].RefusedTables, s.Refused = new(int64(2)), []string{"a", "\x1b[31m\u202eb"}
				return s
			})
		}, "tables_refused warning firing"},
		"a new gap":            {func(w *pipeline.Watch) { watch(w, 0, 10, gap(0)) }, "samples_lost warning firing"},
		"ten minutes later":    {func(w *pipeline.Watch) { watch(w, 0, 605, gap(0)) }, "samples_lost warning resolved"},
		"a gap of an hour ago": {func(w *pipeline.Watch) { watch(w, 3600, 3700, gap(0)) }, ""},
	} {
		w := pipeline.NewWatch(pipeline.Default())
		c.story(w)
		if got := states(w); got != c.want {
			t.Errorf("%s: found %q, want %q", sentence, got, c.want)
		}
		for _, f := range w.Findings() {
			if f.FirstSeen.IsZero() || f.LastSeen.Before(f.FirstSeen) || f.Through.Before(f.LastSeen) || len(f.Advice) == 0 || f.Blind == nil {
				t.Errorf("%s: %+v", sentence, f)
			}
		}
		off := pipeline.NewWatch(pipeline.Thresholds{})
		c.story(off)
		if got := states(off); got != "" {
			t.Errorf("%s: without thresholds found %q", sentence, got)
		}
	}
}

// TestAWatchGoesOnWhereAnotherEnded: what was open stays open until it is known to be
// over, and is the same finding; what has ended begins anew.
func TestAWatchGoesOnWhereAnotherEnded(t *testing.T) {
	t.Parallel()
	w := pipeline.NewWatch(pipeline.Default())
	watch(w, 0, 100, func(now int) pipeline.Status { return silent(now, 0) })
	open := w.Findings()[0]
	next := pipeline.NewWatch(pipeline.Default())
	next.Restore(&open)
	watch(next, 110, 115, func(now int) pipeline.Status { return silent(now, 0) })
	if got := next.Findings()[0]; got.State != detect.Firing || !got.FirstSeen.Equal(open.FirstSeen) {
		t.Errorf("after a restart it is %+v, was %+v", got, open)
	}
	watch(next, 120, 125, well)
	if got := states(next); got != "collection_stopped critical resolved" {
		t.Errorf("when a collector is back: %s", got)
	}
	if got := next.Findings()[0].LastSeen; !got.Equal(second(120)) {
		t.Errorf("it held until second 120, and is said to have until %s", got)
	}
	watch(next, 130, 200, func(now int) pipeline.Status { return silent(now, 0) })
	again := next.Findings()[0]
	if again.State != detect.Firing || !again.FirstSeen.After(open.LastSeen) || again.Fingerprint != open.Fingerprint || again.Incident != open.Incident {
		t.Errorf("the second time it is %+v, was %+v", again, open)
	}
	off := pipeline.NewWatch(pipeline.Thresholds{})
	off.Restore(&open)
	off.Look(silent(300, 0))
	if got := states(off); got != "collection_stopped critical resolved" {
		t.Errorf("once it is switched off: %s", got)
	}
}

// TestFigures: a finding about Keyheat has the figures of its condition.
func TestFigures(t *testing.T) {
	t.Parallel()
	w := pipeline.NewWatch(pipeline.Default())
	watch(w, 600, 660, func(now int) pipeline.Status {
		s := well(now)
		s.Partitions = append(s.Partitions, pipeline.Partition{Through: second(now - 600), Moved: second(now), Seen: second(now), Lag: 1000})
		s.Collectors[0].Host, s.Collectors[0].BadShare, s.Collectors[0].RefusedTables = "host-1", new(0.1), new(int64(2))
		s.Refused = []string{"a", "b"}
		return s
	})
	want := map[detect.Case]detect.Blind{
		casebook.CollectionLags: {Behind: 600, Records: 1000, Names: []string{}},
		casebook.BadSamples:     {BadShare: 0.1, Names: []string{"host-1"}},
		casebook.TablesRefused:  {Tables: 2, Names: []string{"a", "b"}},
	}
	for _, f := range w.Findings() {
		if !reflect.DeepEqual(*f.Blind, want[f.Case]) {
			t.Errorf("%s has %+v, want %+v", f.Case, *f.Blind, want[f.Case])
		}
		delete(want, f.Case)
	}
	if len(want) > 0 {
		t.Errorf("there is no %v", want)
	}
}
