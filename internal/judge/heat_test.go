package judge_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/judge"
	wait "github.com/keyheat/keyheat/internal/testsupport/await"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// heatOf is what is stored of a table's heat: by level and bucket each key's seconds,
// highest second and sum, in write units.
func heatOf(t *testing.T, s *store.Store) map[rollup.Level][]string {
	t.Helper()
	all := make(map[rollup.Level][]string)
	for _, l := range rollup.Levels {
		rows, err := s.Rollups(t.Context(), store.RollupQuery{Target: sample.Target{Table: table}, Level: int64(l), Limit: 10_000})
		must(t, err)
		for _, row := range rows {
			var r rollup.Rollup
			must(t, r.UnmarshalBinary(row.Body))
			for _, k := range r.Keys {
				all[l] = append(all[l], fmt.Sprintf("%d %s %d %d %d", row.Begins.Unix(), k.Key.Text, k.Seconds, k.Write.Max.Value/1000, k.Write.Sum/1000))
			}
		}
		slices.Sort(all[l])
	}
	return all
}

// oracle adds up loads by bucket and key, of buckets that are over at a second.
func oracle(start time.Time, loads []load, over int) map[rollup.Level][]string {
	type cell struct {
		begins int64
		key    string
	}
	end := start.Add(time.Duration(over) * time.Second).Unix()
	all := make(map[rollup.Level][]string)
	for _, l := range rollup.Levels {
		cells := make(map[cell]map[int]int)
		for _, x := range loads {
			second := start.Add(time.Duration(x.second) * time.Second).Unix()
			c := cell{l.Begin(second), x.key}
			if c.begins+int64(l) > end {
				continue
			}
			if cells[c] == nil {
				cells[c] = make(map[int]int)
			}
			cells[c][x.second] += x.wcu
		}
		for c, seconds := range cells {
			highest, sum := 0, 0
			for _, wcu := range seconds {
				highest, sum = max(highest, wcu), sum+wcu
			}
			all[l] = append(all[l], fmt.Sprintf("%d %s %d %d %d", c.begins, c.key, len(seconds), highest, sum))
		}
		slices.Sort(all[l])
	}
	return all
}

// anHourAgo is the beginning of an hour that is over in two hours of event time.
func anHourAgo() time.Time { return time.Now().Add(-3 * time.Hour).Truncate(time.Hour) }

// randomLoads are of some keys, at random seconds of two hours; all are above what
// windows keep.
func randomLoads(random *rand.Rand, n int) []load {
	all := make([]load, n)
	for i := range all {
		all[i] = load{random.IntN(7200), fmt.Sprintf("key %d", random.IntN(8)), 25 + random.IntN(1500)}
	}
	slices.SortFunc(all, func(a, b load) int { return cmp.Compare(a.second, b.second) })
	return all
}

// TestRollupsAreWhatAMapAddsUp: two hours of random loads, a third of them late by up to
// an hour, with the judge stopped and begun anew between commits, on both engines. What
// is stored is what a map adds up.
func TestRollupsAreWhatAMapAddsUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		random := rand.New(rand.NewPCG(15, 1))
		start := anHourAgo()
		loads := randomLoads(random, 600)
		c := collect(t, s, "a", 0, start)
		late := make(map[int][]load)
		var told []load
		j := run(t, quick(), &probe{Store: s})
		for at := 0; at < 7200+120; {
			step := []int{1, 3, 7, 13, 60, 611}[random.IntN(6)]
			next := min(at+step, 7200+120)
			var batch []load
			for len(loads) > 0 && loads[0].second < next {
				if l := loads[0]; random.IntN(3) == 0 && l.second < 7000 {
					when := min(next+random.IntN(3600), 7199)
					late[when] = append(late[when], l)
				} else {
					batch = append(batch, l)
				}
				loads = loads[1:]
			}
			for when := range maps.Clone(late) {
				if when < next {
					batch = append(batch, late[when]...)
					delete(late, when)
				}
			}
			told = append(told, batch...)
			c.commit(next, batch...)
			at = next
			if random.IntN(5) == 0 {
				j.quiet(t)
				equalHeat(t, at, heatOf(t, s), oracle(start, told, at))
			}
			if random.IntN(6) == 0 {
				j.stop()
				j = run(t, quick(), &probe{Store: s})
			}
		}
		j.quiet(t)
		j.stop()
		got := heatOf(t, s)
		equalHeat(t, 7320, got, oracle(start, told, 7320))
		if len(got[3600]) != 16 {
			t.Errorf("%d cells of an hour, want 8 keys in 2 hours", len(got[3600]))
		}
	})
}

func equalHeat(t *testing.T, at int, got, want map[rollup.Level][]string) {
	t.Helper()
	for _, l := range rollup.Levels {
		if !slices.Equal(got[l], want[l]) {
			missing := slices.DeleteFunc(slices.Clone(want[l]), func(s string) bool { return slices.Contains(got[l], s) })
			extra := slices.DeleteFunc(slices.Clone(got[l]), func(s string) bool { return slices.Contains(want[l], s) })
			t.Fatalf("at second %d, level %d: missing %q, and %q is not what was told", at, l, missing, extra)
		}
	}
}

// TestRollupsOfAKilledJudge kills the judge at each of its calls, every other one after it
// is carried out, twice in a row: another one leaves the same roll-ups.
func TestRollupsOfAKilledJudge(t *testing.T) {
	t.Parallel()
	start := anHourAgo()
	var told []load
	for second := 3; second < 95; second += 4 {
		told = append(told, load{second, "hot", 100 + second}, load{second + 1, "warm", 50})
	}
	want := oracle(start, told, 600)
	for at := range kills {
		s := open(t, database(t))
		c := collect(t, s, "a", 0, start)
		for killed := range 2 {
			j := run(t, quick(), &probe{Store: s, killAt: at + int64(killed), late: at%2 == 0})
			if killed == 0 {
				for i := 0; i < len(told); i += 2 {
					c.commit(told[i].second+2, told[i:i+2]...)
				}
			} else {
				c.commit(600)
			}
			j.quiet(t)
			j.stop()
		}
		j := run(t, quick(), &probe{Store: s})
		j.quiet(t)
		j.stop()
		equalHeat(t, int(at), heatOf(t, s), want)
		must(t, s.Close())
	}
}

// TestSeenSeconds: a second that was counted without load is told from one that a gap
// covers, or that is still to come, also over a restart.
func TestSeenSeconds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := begin()
		c := collect(t, s, "a", 0, start)
		at := func(second int) time.Time { return start.Add(time.Duration(second) * time.Second) }
		j := run(t, quick(), &probe{Store: s})
		c.commit(30, load{10, "key", 100})
		j.quiet(t)
		c.lose(store.Gap{Gap: sample.Gap{Since: at(70), Until: at(79), Reason: "lost"}})
		c.commit(100, load{90, "key", 100})
		j.quiet(t)
		j.stop()
		c.commit(200)
		j = run(t, quick(), &probe{Store: s})
		j.quiet(t)
		c.commit(270, load{260, "key", 100})
		j.quiet(t)
		j.stop()
		rows, err := s.SeenMinutes(t.Context(), time.Time{}, time.Time{}, 0)
		must(t, err)
		seen := make(map[int]bool)
		for _, row := range rows {
			for n := range 60 {
				if row.Seconds&(1<<n) != 0 {
					seen[int(row.Minute.Sub(start)/time.Second)+n] = true
				}
			}
		}
		for second := range 300 {
			want := second >= 10 && second < 270 && (second < 70 || second > 79)
			if seen[second] != want {
				t.Errorf("second %d: seen %t, want %t", second, seen[second], want)
			}
		}
	})
}

// TestLateSecondsBeyondTheirWindows: of a bucket whose seconds are no longer kept, a late
// second lowers nothing.
func TestLateSecondsBeyondTheirWindows(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	start := anHourAgo()
	c := collect(t, s, "a", 0, start)
	j := run(t, quick(), &probe{Store: s})
	told := []load{{1, "key", 900}, {2, "key", 100}, {7, "other", 300}}
	c.commit(3700, told...)
	j.quiet(t)
	equalHeat(t, 0, heatOf(t, s), oracle(start, told, 3700))
	j.stop()
	pruned, err := s.Prune(t.Context(), store.Retention{Windows: time.Nanosecond, Rollups: map[int64]time.Duration{10: time.Nanosecond}})
	must(t, err)
	if pruned["windows"] != 3 || pruned["rollups"] != 1 {
		t.Fatalf("pruned are %+v", pruned)
	}
	j = run(t, quick(), &probe{Store: s})
	c.commit(3710, load{3, "key", 200})
	j.quiet(t)
	j.stop()
	for _, of := range heatOf(t, s)[3600] {
		var begins, seconds, highest, sum int
		var key string
		_, err := fmt.Sscanf(of, "%d %s %d %d %d", &begins, &key, &seconds, &highest, &sum)
		must(t, err)
		want := map[string]int{"key": 900, "other": 300}[key]
		if highest != want || sum < want {
			t.Errorf("%s, want its highest second of before", of)
		}
	}
}

// TestRollupsSurviveAStoreThatFails: a judgement that the store refuses is made again
// whole, and one that it carries out without saying so is not added twice.
func TestRollupsSurviveAStoreThatFails(t *testing.T) {
	t.Parallel()
	for name, carried := range map[string]bool{"refused": false, "carried out unsaid": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t))
			start := anHourAgo()
			c := collect(t, s, "a", 0, start)
			p := &probe{Store: s, fault: func(n int64) (error, bool) {
				if n%3 != 0 {
					return nil, true
				}
				err := store.ErrUnavailable
				if carried {
					err = store.ErrAmbiguous
				}
				return errors.Join(err), carried
			}}
			j := run(t, quick(), p)
			var told []load
			for second := 0; second < 130; second += 3 {
				told = append(told, load{second, "key", 100 + second})
				c.commit(second+1, told[len(told)-1])
				j.quiet(t)
			}
			c.commit(3600)
			j.quiet(t)
			j.stop()
			equalHeat(t, 3600, heatOf(t, s), oracle(start, told, 3600))
		})
	}
}

// TestAnotherJudgeEndsLevels: what is above roll-ups that are stored is written when it is
// over, also where nothing more is counted in it and another judge has begun meanwhile.
func TestAnotherJudgeEndsLevels(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := anHourAgo()
		c := collect(t, s, "a", 0, start)
		told := []load{{1, "key", 900}, {42, "other", 300}, {118, "key", 100}}
		for _, watermark := range []int{130, 700, 3700} {
			if watermark == 130 {
				c.commit(watermark, told...)
			} else {
				c.commit(watermark)
			}
			j := run(t, quick(), &probe{Store: s})
			j.quiet(t)
			j.stop()
			equalHeat(t, watermark, heatOf(t, s), oracle(start, told, watermark))
		}
	})
}

// flushes sees when a judge writes seconds: then cursors no longer wait for them.
type flushes struct {
	*store.Store
	flushed chan struct{}
}

func (f *flushes) Judge(ctx context.Context, l store.Lease, j store.Judgement) error {
	err := f.Store.Judge(ctx, l, j)
	if err == nil && len(j.Windows) > 0 {
		select {
		case f.flushed <- struct{}{}:
		default:
		}
	}
	return err
}

// TestCursorsWaitForOpenRollups: two judges in turn are lost while ten seconds are open of
// which a second is stored, and when nothing else waits for its deltas. The next one reads
// them again.
func TestCursorsWaitForOpenRollups(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	start := anHourAgo()
	c := collect(t, s, "a", 0, start)
	told := []load{{1, "key", 900}, {3, "other", 300}}
	c.commit(5, told...)
	for range 2 {
		f := &flushes{Store: s, flushed: make(chan struct{}, 1)}
		j, err := judge.New(quick(), f, fmt.Sprintf("judge-%d", rand.Uint64()), slog.New(slog.DiscardHandler))
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { _ = j.Run(ctx); close(ended) }()
		select {
		case <-f.flushed:
		case <-time.After(wait.Limit):
			t.Error("the delta was not read again")
		}
		cancel()
		<-ended
	}
	c.commit(60)
	j := run(t, quick(), &probe{Store: s})
	j.quiet(t)
	j.stop()
	equalHeat(t, 60, heatOf(t, s), oracle(start, told, 60))
	cursors, err := s.Cursors(t.Context())
	must(t, err)
	equal(t, "cursors", cursors, map[string]int64{"a": 1}) // what it committed then was a watermark alone
}
