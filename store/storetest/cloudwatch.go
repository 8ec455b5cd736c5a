package storetest

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var cloudWatch = []obligation{
	{"what CloudWatch reported is kept by minute", cloudWatchKept},
	{"an attempt that failed leaves what was read", cloudWatchFailed},
	{"a table that CloudWatch alone was asked about, and has no minute of, is not there", cloudWatchUnknown},
	{"seconds add up to minutes", minuteTotals},
	{"a target is active that has seconds of late", activeTargets},
}

// minuteOne is a whole minute.
var minuteOne = noon.Truncate(time.Minute)

func cloudWatchKept(t *testing.T, s *store.Store) {
	minute := func(n int, metrics map[string]float64) store.CloudWatchMinute {
		return store.CloudWatchMinute{Target: byStatus, Minute: minuteOne.Add(time.Duration(n) * time.Minute), Metrics: metrics}
	}
	read := store.CloudWatchRead{Target: byStatus, Through: minuteOne.Add(2 * time.Minute), State: "read"}
	must(t, s.PutCloudWatch(t.Context(), read, []store.CloudWatchMinute{
		minute(0, map[string]float64{"ConsumedWriteCapacityUnits": 60}), minute(1, map[string]float64{"ConsumedWriteCapacityUnits": 0.5}),
	}))
	must(t, s.PutCloudWatch(t.Context(), read, []store.CloudWatchMinute{
		minute(1, map[string]float64{"ConsumedWriteCapacityUnits": 0, "WriteThrottleEvents": 7}), minute(2, nil),
	}))
	minutes := func(since int) []store.CloudWatchMinute {
		return value[[]store.CloudWatchMinute](t)(s.CloudWatchMinutes(t.Context(), byStatus, minuteOne.Add(time.Duration(since)*time.Minute)))
	}
	equal(t, "all", minutes(0), []store.CloudWatchMinute{
		minute(0, map[string]float64{"ConsumedWriteCapacityUnits": 60}),
		minute(1, map[string]float64{"ConsumedWriteCapacityUnits": 0, "WriteThrottleEvents": 7}), minute(2, nil),
	})
	equal(t, "since a minute", len(minutes(1)), 2)
	must(t, s.PutCloudWatch(t.Context(), store.CloudWatchRead{Target: sample.Target{Table: "orders"}, State: "read"}, nil))
	equal(t, "another target's", len(minutes(0)), 3)

	pruned := value[store.Pruned](t)(s.Prune(t.Context(), store.Retention{CloudWatch: time.Nanosecond}))
	equal(t, "pruned", pruned["cloudwatch_minutes"], int64(3))
	equal(t, "left", len(minutes(0)), 0)
}

func cloudWatchFailed(t *testing.T, s *store.Store) {
	read := store.CloudWatchRead{Target: byStatus, Through: minuteOne, State: "read", Requested: 6}
	must(t, s.PutCloudWatch(t.Context(), read, nil))
	must(t, s.PutCloudWatch(t.Context(), store.CloudWatchRead{Target: byStatus, State: "denied", Message: "allow it", Requested: 6}, nil))
	got := value[[]store.CloudWatchRead](t)(s.CloudWatchReads(t.Context()))
	if len(got) != 1 {
		t.Fatalf("there are %d reads, want 1", len(got))
	}
	near(t, "attempted", got[0].Attempted)
	got[0].Attempted = time.Time{}
	read.State, read.Message, read.Requested = "denied", "allow it", 12
	equal(t, "read", got[0], read)
}

func cloudWatchUnknown(t *testing.T, s *store.Store) {
	misspelt, sampled, viewed, read := sample.Target{Table: "oders"}, sample.Target{Table: "orders"}, sample.Target{Table: "carts"}, sample.Target{Table: "audit"}
	judge(t, s, store.Judgement{
		Windows: []store.Window{{Target: sampled, Second: noon}}, Views: []store.TargetDocument{{Target: viewed, Document: []byte(`{}`)}},
	})
	for _, target := range []sample.Target{misspelt, sampled, viewed} {
		must(t, s.PutCloudWatch(t.Context(), store.CloudWatchRead{Target: target, Through: minuteOne, State: "no_data"}, nil))
	}
	must(t, s.PutCloudWatch(t.Context(), store.CloudWatchRead{Target: read, Through: minuteOne, State: "read"}, []store.CloudWatchMinute{{Target: read, Minute: minuteOne}}))
	must(t, s.PutTableFacts(t.Context(), byStatus, []byte(`{}`)))
	equal(t, "targets", value[[]sample.Target](t)(s.Targets(t.Context())), []sample.Target{read, viewed, sampled, byStatus})
	equal(t, "all targets", len(value[[]sample.Target](t)(s.AllTargets(t.Context()))), 5)
}

func activeTargets(t *testing.T, s *store.Store) {
	judge(t, s, store.Judgement{Windows: []store.Window{{Target: byStatus, Second: noon}, {Target: sample.Target{Table: "old"}, Second: noon.Add(-time.Hour)}}})
	active := value[[]sample.Target](t)(s.ActiveTargets(t.Context(), noon.Add(-time.Minute)))
	equal(t, "active", active, []sample.Target{byStatus})
}

func minuteTotals(t *testing.T, s *store.Store) {
	window := func(second int, write int64, complete bool) store.Window {
		return store.Window{Target: byStatus, Second: minuteOne.Add(time.Duration(second) * time.Second), WriteMilli: write, ReadMilli: 2 * write, Complete: complete}
	}
	judge(t, s, store.Judgement{Windows: []store.Window{
		window(0, 1000, true), window(59, 500, true), window(60, 7, true), window(119, 1, false), window(180, 9, true),
	}})
	since := []store.MinuteQuery{{Target: byStatus, Since: minuteOne}, {Target: byStatus, Since: minuteOne.Add(time.Minute)}}
	got := value[[][]store.MinuteTotal](t)(s.EachMinuteTotals(t.Context(), since))
	equal(t, "minutes", got[0], []store.MinuteTotal{
		{Minute: minuteOne, WriteMilli: 1500, ReadMilli: 3000, Complete: true},
		{Minute: minuteOne.Add(time.Minute), WriteMilli: 8, ReadMilli: 16, Complete: false},
		{Minute: minuteOne.Add(3 * time.Minute), WriteMilli: 9, ReadMilli: 18, Complete: true},
	})
	equal(t, "since", len(got[1]), 2)
}
