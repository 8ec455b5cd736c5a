package storetest

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var heat = []obligation{
	{"roll-ups are replaced whole, and found by level in the order of time", rollups},
	{"the newest samples are those of seconds, and of roll-ups once these are pruned", lastSamples},
	{"seen minutes are replaced, and the newest is found", seenMinutes},
	{"a lost lease writes no roll-up", heatFenced},
	{"each level of roll-ups has its own retention", heatPruned},
}

var atNoon = noon.Truncate(time.Hour)

func rollup(level int64, begins time.Time, body string) store.Rollup {
	return store.Rollup{Target: byStatus, Level: level, Begins: begins, Body: []byte(body)}
}

func rollups(t *testing.T, s *store.Store) {
	other := rollup(10, atNoon, "of the table itself")
	other.Index = ""
	later, minute := rollup(10, atNoon.Add(10*time.Second), "later"), rollup(60, atNoon, "minute")
	judge(t, s, store.Judgement{Rollups: []store.Rollup{later, rollup(10, atNoon, "first"), minute, other}})
	judge(t, s, store.Judgement{Rollups: []store.Rollup{rollup(10, atNoon, "second")}})
	get := func(q store.RollupQuery) []store.Rollup {
		q.Target = byStatus
		return value[[]store.Rollup](t)(s.Rollups(t.Context(), q))
	}
	equal(t, "all of a level", get(store.RollupQuery{Level: 10}), []store.Rollup{rollup(10, atNoon, "second"), later})
	equal(t, "from", get(store.RollupQuery{Level: 10, From: later.Begins}), []store.Rollup{later})
	equal(t, "to", get(store.RollupQuery{Level: 10, To: later.Begins}), []store.Rollup{rollup(10, atNoon, "second")})
	equal(t, "limited", len(get(store.RollupQuery{Level: 10, Limit: 1})), 1)
	last := other
	last.Begins = later.Begins
	judge(t, s, store.Judgement{Rollups: []store.Rollup{last}})
	of := func(q store.HeatQuery) []store.Rollup {
		q.Level = 10
		return value[[]store.Rollup](t)(s.Heat(t.Context(), q))
	}
	equal(t, "of all tables", len(of(store.HeatQuery{})), 4)
	equal(t, "of two tables", len(of(store.HeatQuery{Of: []sample.Target{byStatus, other.Target}})), 4)
	equal(t, "of one", of(store.HeatQuery{Of: []sample.Target{other.Target}}), []store.Rollup{other, last})
	equal(t, "from", of(store.HeatQuery{Of: []sample.Target{other.Target}, From: last.Begins}), []store.Rollup{last})
	equal(t, "to", of(store.HeatQuery{Of: []sample.Target{other.Target}, To: last.Begins}), []store.Rollup{other})
	want := []store.RollupSpan{
		{Target: byStatus, Level: 10, First: atNoon, Newest: later.Begins}, {Target: byStatus, Level: 60, First: atNoon, Newest: atNoon},
	}
	levels := []int64{10, 60, 3600}
	equal(t, "its spans", value[[]store.RollupSpan](t)(s.RollupSpans(t.Context(), &want[0].Target, levels)), want)
	equal(t, "all spans", len(value[[]store.RollupSpan](t)(s.RollupSpans(t.Context(), nil, levels))), 3)
	equal(t, "spans of nothing", len(value[[]store.RollupSpan](t)(s.RollupSpans(t.Context(), &sample.Target{Table: "carts"}, levels))), 0)
}

func lastSamples(t *testing.T, s *store.Store) {
	table := byStatus
	table.Index = ""
	tens := rollup(10, atNoon.Add(10*time.Second), "")
	tens.Target = table
	judge(t, s, store.Judgement{
		Windows: []store.Window{{Target: table, Second: atNoon.Add(15 * time.Second)}, {Target: table, Second: atNoon.Add(12 * time.Second)}},
		Rollups: []store.Rollup{tens, rollup(60, atNoon, ""), rollup(60, atNoon.Add(time.Minute), ""), rollup(10, atNoon, ""), rollup(10, atNoon.Add(10*time.Second), "")},
	})
	equal(t, "the newest samples", value[[]store.LastSample](t)(s.LastSamples(t.Context(), 60)),
		[]store.LastSample{{Target: table, Second: atNoon.Add(15 * time.Second)}, {Target: byStatus, Second: atNoon.Add(time.Minute)}})
	both := []time.Time{atNoon, atNoon.Add(10 * time.Second)}
	equal(t, "the times of all", value[[]time.Time](t)(s.RollupTimes(t.Context(), 10, atNoon, atNoon.Add(time.Minute))), both)
	equal(t, "to exclusive", value[[]time.Time](t)(s.RollupTimes(t.Context(), 10, atNoon, both[1])), both[:1])
	each := []store.RollupQuery{{Target: table, Level: 10}, {Target: byStatus, Level: 10}, {Target: byStatus, Level: 10, From: both[1]}}
	equal(t, "the times of each", value[[][]time.Time](t)(s.EachRollupTimes(t.Context(), each)), [][]time.Time{both[1:], both, both[1:]})
}

func seenMinutes(t *testing.T, s *store.Store) {
	if _, any, err := s.LastSeenMinute(t.Context()); any || err != nil {
		t.Errorf("an empty store has a seen minute: %t, %v", any, err)
	}
	const all = 1<<60 - 1
	second := store.SeenMinute{Minute: atNoon.Add(time.Minute), Seconds: 1}
	judge(t, s, store.Judgement{Seen: []store.SeenMinute{{Minute: atNoon, Seconds: 3}, second}})
	judge(t, s, store.Judgement{Seen: []store.SeenMinute{{Minute: atNoon, Seconds: all}}})
	equal(t, "minutes", value[[]store.SeenMinute](t)(s.SeenMinutes(t.Context(), atNoon, second.Minute.Add(time.Second), 0)),
		[]store.SeenMinute{{Minute: atNoon, Seconds: all}, second})
	equal(t, "to exclusive", len(value[[]store.SeenMinute](t)(s.SeenMinutes(t.Context(), atNoon, second.Minute, 0))), 1)
	newest, any, err := s.LastSeenMinute(t.Context())
	must(t, err)
	equal(t, "any", any, true)
	equal(t, "the newest", newest, second)
}

func heatFenced(t *testing.T, s *store.Store) {
	old := lead(t, s, "first")
	must(t, s.ReleaseLease(t.Context(), old))
	lead(t, s, "second")
	if err := s.Judge(t.Context(), old, store.Judgement{Rollups: []store.Rollup{rollup(10, atNoon, "x")}}); err == nil {
		t.Error("a judgement under a lost lease was written")
	}
	equal(t, "roll-ups", value[[]store.Rollup](t)(s.Rollups(t.Context(), store.RollupQuery{Target: byStatus, Level: 10})), nil)
}

func heatPruned(t *testing.T, s *store.Store) {
	levels := []int64{10, 60, 600, 3600}
	var all []store.Rollup
	for _, level := range levels {
		all = append(all, rollup(level, atNoon, "x"))
	}
	judge(t, s, store.Judgement{Rollups: all, Seen: []store.SeenMinute{{Minute: atNoon, Seconds: 1}}})
	equal(t, "young", prune(t, s, store.Retention{}), store.Pruned{})
	for i, level := range levels {
		keep := map[int64]time.Duration{level: soon}
		if i+1 < len(levels) {
			keep[levels[i+1]] = time.Hour
		}
		equal(t, "pruned", prune(t, s, store.Retention{Rollups: keep})["rollups"], 1)
		for j, level := range levels {
			left := value[[]store.Rollup](t)(s.Rollups(t.Context(), store.RollupQuery{Target: byStatus, Level: level}))
			equal(t, "left", len(left) == 1, j > i)
		}
	}
	if _, any, err := s.LastSeenMinute(t.Context()); any || err != nil {
		t.Errorf("a seen minute is left: %t, %v", any, err)
	}
}
