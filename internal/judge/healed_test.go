package judge_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TestAHealedKeyOutlivesTheJudge restarts the judge while DynamoDB splits a key: before the
// split is certain, after it, and after the refused seconds have left the replayed windows.
// The verdict is the same as that of a judge that never stopped: one finding, one page, and
// one end, with the split's time. The load goes on.
func TestAHealedKeyOutlivesTheJudge(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		refused  int // seconds in which 400 of 1,400 units are refused; then all are served
		restarts []int
		short    bool // it is in the short run too: the others restart as early, or as late
	}{
		"healing":                          {60, []int{120}, false},
		"healed":                           {60, []int{200}, false},
		"healing, and again healed":        {60, []int{100, 150, 200, 250}, true},
		"healing, hot for long":            {1000, []int{1060}, false},
		"healed, hot for long":             {1000, []int{1140}, false},
		"healed, its refusals are too old": {60, []int{1350}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && !c.short {
				t.Skip("make test-full restarts it")
			}
			seconds := max(c.refused, c.restarts[len(c.restarts)-1]) + 200
			start := time.Now().Truncate(time.Second).Add(-time.Duration(seconds) * time.Second)
			calm := open(t, database(t))
			want := heal(t, calm, start, c.refused, seconds, nil)
			if since := want.healed[0]; !since.Equal(start.Add(time.Duration(c.refused) * time.Second)) {
				t.Fatalf("healed since %s, want second %d of %s", since, c.refused, start)
			}
			each(t, func(t *testing.T, s *store.Store) {
				equal(t, "the verdict", heal(t, s, start, c.refused, seconds, c.restarts), want)
			})
		})
	}
}

// TestAHealedIncidentEnds has DynamoDB split a key whose load goes on: the incident ends some
// seconds after that is certain, though the key is as hot as before.
func TestAHealedIncidentEnds(t *testing.T) {
	t.Parallel()
	const refused, healed = 20, 20 + detect.HealedSeconds
	s := open(t, database(t))
	start := time.Now().Truncate(time.Second).Add(-healed * time.Second)
	w := collect(t, s, "a", 0, start)
	j := run(t, under(func(p *detect.Policy) { p.KeepFiring = 4 * time.Second }), &probe{Store: s})
	commit := func(from, to int) {
		w.tells = func(r *sample.Record) {
			if r.Caller = "order-service"; r.WCU == 400_000 && from < refused {
				r.Throttle = "TableWriteKeyRangeThroughputExceeded"
			}
		}
		w.commit(to, slices.Concat(hot("hot", 1000, from, to), hot("hot", 400, from, to))...)
	}
	commit(0, refused)
	commit(refused, healed)
	for second := healed; !slices.Equal(events(t, s), []string{"firing", "resolved"}); second++ {
		if second == healed+60 {
			t.Fatalf("a minute later: %v", events(t, s))
		}
		j.ahead.Add(int64(time.Second))
		commit(second, second+1)
		j.quiet(t)
	}
}

// ended is how the story of a healed key ended.
type ended struct {
	healed   []time.Time // of each finding about the key
	first    []time.Time
	notified []string
}

// heal has DynamoDB refuse a key's requests up to a second and serve them from then on, and
// restarts the judge in some seconds.
func heal(t *testing.T, s *store.Store, start time.Time, refused, seconds int, restarts []int) (e ended) {
	t.Helper()
	w := collect(t, s, "a", 0, start)
	config := quick()
	config.PageWithin = time.Hour
	j := run(t, config, &probe{Store: s})
	const step = 10
	for second := 0; second < seconds; second += step {
		w.tells = func(r *sample.Record) {
			if r.Caller = "order-service"; r.WCU == 400_000 && second < refused {
				r.Throttle = "TableWriteKeyRangeThroughputExceeded"
			}
		}
		loads := slices.Concat(hot("hot", 1000, second, second+step), hot("hot", 400, second, second+step))
		for i := range 20 { // few key values would be another cause
			loads = append(loads, hot(fmt.Sprint("cold", i), 60, second, second+step)...)
		}
		w.commit(second+step, loads...)
		if slices.Contains(restarts, second) {
			j.quiet(t)
			j.stop()
			j = run(t, config, &probe{Store: s})
			j.quiet(t)
		}
	}
	j.quiet(t)
	rows, err := s.Findings(t.Context(), store.FindingQuery{Limit: 100})
	must(t, err)
	for _, row := range rows {
		f, err := detect.ReadFinding(row.Document)
		must(t, err)
		if f.Subject == detect.KeyWrites && f.State == detect.Resolved && f.Healed != nil {
			e.healed, e.first = append(e.healed, f.Healed.Since), append(e.first, f.FirstSeen)
		} else if f.Subject == detect.KeyWrites {
			t.Errorf("%s since %s: healed %+v", f.State, f.FirstSeen, f.Healed)
		}
	}
	e.notified = left(t, s).Notified
	return e
}
