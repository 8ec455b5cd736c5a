package judge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// under is a configuration with the lifecycle of a policy.
func under(change func(*detect.Policy)) judge.Config {
	c := quick()
	p := detect.DefaultPolicy()
	p.OnHarm, p.KeepFiring = true, time.Minute
	change(&p)
	c.Policy = func(detect.Target) detect.Policy { return p }
	c.PageWithin = 48 * time.Hour
	return c
}

// events are the notifications of all incidents, as the outbox has them.
func events(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	rows, err := s.RecentNotifications(t.Context(), store.NotificationQuery{Limit: 1000})
	must(t, err)
	for _, n := range slices.Backward(rows) {
		all = append(all, n.Event)
	}
	return all
}

// TestWhatPages: by default an incident of a hot key fires on harm that lasts.
func TestWhatPages(t *testing.T) {
	t.Parallel()
	asIs := func(*detect.Policy) {}
	warningsWait := func(p *detect.Policy) { p.Warnings = &detect.Lifecycle{For: 20 * time.Second} }
	for sentence, c := range map[string]struct {
		policy func(*detect.Policy)
		loads  []load
		want   []string
	}{
		"one second at 109%":                       {asIs, hot("k", 1090, 0, 1), nil},
		"one second at 109% among ones at 70%":     {asIs, slices.Concat(hot("k", 700, 0, 9), hot("k", 1090, 9, 10), hot("k", 700, 10, 20)), nil},
		"four seconds at 109%":                     {asIs, hot("k", 1090, 0, 4), nil},
		"five seconds at 109%":                     {asIs, hot("k", 1090, 0, 5), []string{"firing", "resolved"}},
		"five of ten seconds":                      {asIs, slices.Concat(hot("k", 1090, 0, 1), hot("k", 1090, 2, 3), hot("k", 1090, 4, 5), hot("k", 1090, 6, 7), hot("k", 1090, 9, 10)), []string{"firing", "resolved"}},
		"five of eleven":                           {asIs, slices.Concat(hot("k", 1090, 0, 1), hot("k", 1090, 2, 3), hot("k", 1090, 4, 5), hot("k", 1090, 6, 7), hot("k", 1090, 10, 11)), nil},
		"with for at 0, two of three seconds":      {func(p *detect.Policy) { p.OnHarm = false }, hot("k", 1090, 0, 2), []string{"firing", "resolved"}},
		"with for at 20s, 20 seconds":              {func(p *detect.Policy) { p.OnHarm, p.For = false, 20*time.Second }, hot("k", 1090, 0, 20), nil},
		"with for at 20s, 21 seconds":              {func(p *detect.Policy) { p.OnHarm, p.For = false, 20*time.Second }, hot("k", 1090, 0, 21), []string{"firing", "resolved"}},
		"a warning with its own for, 20 seconds":   {warningsWait, hot("k", 900, 0, 20), nil},
		"a warning with its own for, 21 seconds":   {warningsWait, hot("k", 900, 0, 21), []string{"firing", "resolved"}},
		"harm while warnings wait":                 {warningsWait, slices.Concat(hot("k", 900, 0, 5), hot("k", 1090, 5, 12)), []string{"firing", "resolved"}},
		"one second of harm while warnings wait":   {warningsWait, slices.Concat(hot("k", 900, 0, 5), hot("k", 1090, 5, 6)), nil},
		"at 90% for long, and a second over it":    {asIs, slices.Concat(hot("k", 900, 0, 30), hot("k", 1090, 30, 31), hot("k", 900, 31, 40)), []string{"firing", "resolved"}},
		"at 90%, and then over the limit for long": {asIs, slices.Concat(hot("k", 900, 0, 30), hot("k", 1090, 30, 40)), []string{"firing", "updated", "resolved"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t))
			w := collect(t, s, "a", 0, begin())
			j := run(t, under(c.policy), &probe{Store: s})
			// As a collector does, second by second: what lasts is seen to.
			for now := 0; now <= 41; now++ {
				w.commit(now, slices.DeleteFunc(slices.Clone(c.loads), func(l load) bool { return l.second != now })...)
				if now == 29 {
					j.quiet(t)
				}
			}
			j.quiet(t)
			w.commit(200, load{199, "cold", 1})
			j.quiet(t)
			equal(t, "notifications", events(t, s), c.want)
		})
	}
}

// TestRefusalsPage: requests that a partition refuses in two of three seconds are harm,
// though what it served of them was below its limit.
func TestRefusalsPage(t *testing.T) {
	t.Parallel()
	const heat = "TableWriteKeyRangeThroughputExceeded"
	for sentence, c := range map[string]struct {
		reason  string
		refused []int // the seconds with a refusal
		want    []string
	}{
		"in two seconds of three":                  {heat, []int{3, 5}, []string{"firing", "resolved"}},
		"in two seconds of four":                   {heat, []int{3, 6}, nil},
		"in one second":                            {heat, []int{3}, nil},
		"for want of the table's capacity":         {"TableWriteProvisionedThroughputExceeded", []int{3, 4, 5, 6}, nil},
		"for want of the table's capacity at last": {"TableWriteMaxOnDemandThroughputExceeded", []int{3, 4, 5, 6}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t))
			w := collect(t, s, "a", 0, begin())
			j := run(t, under(func(*detect.Policy) {}), &probe{Store: s})
			w.tells = func(r *sample.Record) {
				if r.WCU == 20_000 {
					r.Throttle = c.reason
				}
			}
			for now := range 11 {
				if slices.Contains(c.refused, now) {
					w.commit(now, load{now, "k", 950}, load{now, "k", 20})
				}
			}
			j.quiet(t)
			w.commit(200, load{199, "cold", 1})
			j.quiet(t)
			var hot []string
			rows, err := s.RecentNotifications(t.Context(), store.NotificationQuery{Limit: 100})
			must(t, err)
			for _, n := range slices.Backward(rows) {
				var of struct{ Finding detect.Finding }
				must(t, json.Unmarshal(n.Payload, &of))
				if of.Finding.Subject == detect.KeyWrites {
					hot = append(hot, n.Event)
				}
			}
			equal(t, "notifications", hot, c.want)
		})
	}
}

// TestFlappingPagesOnce: a key that is hot for six seconds, again and again, is one
// incident while the pauses are within the time that it goes on firing; also for a judge
// that takes over meanwhile.
func TestFlappingPagesOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := time.Now().Add(-time.Hour).Truncate(time.Second)
		w := collect(t, s, "a", 0, start)
		keep := under(func(p *detect.Policy) { p.KeepFiring = 2 * time.Hour })
		j := run(t, keep, &probe{Store: s})
		for from := 0; from < 3500; from += 100 { // 94 quiet seconds: the finding resolves each time
			w.commit(from+90, hot("k", 1200, from, from+6)...)
			if from%1000 == 0 {
				j.quiet(t)
			}
			if from == 2000 {
				j.stop()
				j = run(t, keep, &probe{Store: s})
			}
		}
		w.commit(3590)
		j.quiet(t)
		equal(t, "while it flaps", events(t, s), []string{"firing"})
		stored := func() store.Incident {
			rows, err := s.Incidents(t.Context(), store.IncidentQuery{Subject: string(detect.KeyWrites)})
			must(t, err)
			equal(t, "incidents", len(rows), 1)
			return rows[0]
		}
		f, err := s.Finding(t.Context(), stored().Root)
		must(t, err)
		equal(t, "the finding and its incident", []string{f.State, stored().State}, []string{"resolved", "firing"})

		// A judge that keeps for less ends it, though nothing new is found.
		j.stop()
		j = run(t, under(func(*detect.Policy) {}), &probe{Store: s})
		j.quiet(t)
		equal(t, "when it is over", events(t, s), []string{"firing", "resolved"})
		equal(t, "the incident", stored().State, "resolved")
	})
}

// TestAnIncidentIsToldAgain: with repeat, and while it fires only.
func TestAnIncidentIsToldAgain(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	w := collect(t, s, "a", 0, begin())
	j := run(t, under(func(p *detect.Policy) { p.Repeat = 20 * time.Millisecond }), &probe{Store: s})
	w.commit(10, hot("k", 1200, 0, 10)...)
	await(t, func() bool { return len(events(t, s)) >= 3 })
	w.commit(200, load{199, "cold", 1})
	await(t, func() bool { return slices.Contains(events(t, s), "resolved") })
	j.quiet(t)
	all := events(t, s)
	if all[0] != "firing" || all[1] != "updated" || all[len(all)-1] != "resolved" || slices.Index(all, "resolved") != len(all)-1 {
		t.Errorf("told %v", all)
	}
}

// TestManyKeysOfOneCauseAreOnePage: 300 keys, hot one after another as in a sorted
// import, are told of once, updated once at most, and resolved once.
func TestManyKeysOfOneCauseAreOnePage(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	w := collect(t, s, "a", 0, begin())
	j := run(t, under(func(*detect.Policy) {}), &probe{Store: s})
	for k := range 300 {
		w.commit(k, load{k, fmt.Sprintf("import-%05d", k), 1500})
		if k%50 == 0 {
			j.quiet(t)
		}
	}
	j.quiet(t)
	w.commit(590, load{589, "cold", 1})
	j.quiet(t)
	all := events(t, s)
	count := func(what string) (n int) {
		for _, e := range all {
			if e == what {
				n++
			}
		}
		return n
	}
	if count("firing") != 1 || count("updated") > 1 || count("resolved") != 1 {
		t.Errorf("told %v", all)
	}
	told := payloads(t, s)
	for _, named := range told[len(told)-2].Related {
		row, err := s.Finding(t.Context(), named)
		must(t, err)
		f, err := detect.ReadFinding(row.Document)
		must(t, err)
		if named := say.Title(&f); !strings.HasPrefix(named, "orders: ") || !strings.Contains(named, " (“import-") {
			t.Errorf("a related finding is named as %q", named)
		}
	}
	if first, last := told[len(told)-2].Related, told[len(told)-1].Related; len(first) == 0 || len(first) > detect.RelatedFindings || last != nil {
		t.Errorf("the last message names %q, the end %q", first, last)
	}
}

// TestBelowTheShareNobodyIsTold: 24 hours below 80% of a limit.
func TestBelowTheShareNobodyIsTold(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	w := collect(t, s, "a", 0, time.Now().Add(-time.Duration(unlessShort(24))*time.Hour).Truncate(time.Second))
	j := run(t, under(func(*detect.Policy) {}), &probe{Store: s})
	for from := 0; from < unlessShort(24)*3600; from += 3600 {
		var loads []load
		for second := from; second < from+3600; second += 7 {
			loads = append(loads, load{second, "k", 700 + second%100})
		}
		w.commit(from+3600, loads...)
	}
	j.quiet(t)
	equal(t, "notifications", events(t, s), nil)
	last, any, err := s.LastWindow(t.Context(), detect.Target{Table: table})
	must(t, err)
	if !any || time.Since(last) > time.Hour {
		t.Errorf("judged up to %s", last)
	}
}

// TestToldNobodyIsWritten: an incident that no receiver was notified of has an empty list,
// not null.
func TestToldNobodyIsWritten(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	w := collect(t, s, "a", 0, time.Now().Add(-time.Minute).Truncate(time.Second))
	c := under(func(*detect.Policy) {})
	c.Receivers = nil
	j := run(t, c, &probe{Store: s})
	w.commit(10, hot("k", 1500, 0, 10)...)
	j.quiet(t)
	all, err := s.Incidents(t.Context(), store.IncidentQuery{})
	must(t, err)
	if len(all) != 1 || all[0].State != "firing" || !strings.Contains(string(all[0].Document), `"notified":[]`) {
		t.Errorf("incidents %+v", all)
	}
}

// TestALoadThatGoesOnIsToldHoweverLateItWasSeen: nothing was judged while a key got hot. It is
// told if it is hot still once the judge has caught up, and not if it is over by then.
func TestALoadThatGoesOnIsToldHoweverLateItWasSeen(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct {
		until int // the last hot second before now
		want  []string
	}{
		"it goes on": {2, []string{"firing"}},
		"it is over": {20 * 60, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, s *store.Store) {
				const away = 40 * 60
				w := collect(t, s, "a", 0, time.Now().Add(-away*time.Second).Truncate(time.Second))
				for from := 0; from < away; from += 600 {
					w.commit(from+600, append(hot("k", 1300, from, min(from+600, away-c.until)), hot("cold", 5, from, from+600)...)...)
				}
				config := under(func(*detect.Policy) {})
				config.PageWithin = 15 * time.Minute
				j := run(t, config, &probe{Store: s})
				j.quiet(t)
				equal(t, "told", events(t, s), c.want)
			})
		})
	}
}

// TestARestartWithAThousandIncidentsTellsNothingTwice: nor late, nor an end.
func TestARestartWithAThousandIncidentsTellsNothingTwice(t *testing.T) {
	t.Parallel()
	keys := unlessShort(1000)
	s := open(t, database(t))
	w := collect(t, s, "a", 0, begin())
	pour := func(from, to int) {
		var all []load
		for k := range keys {
			all = append(all, hot(fmt.Sprintf("%x", k*7919), 1200, from, to)...)
		}
		w.commit(to, all...)
	}
	j := run(t, quick(), &probe{Store: s})
	for from := 0; from < 30; from += 10 {
		pour(from, from+10)
		j.quiet(t)
		j.stop()
		j = run(t, quick(), &probe{Store: s})
		j.quiet(t)
	}
	open := openIncidents(t, s)
	told := make(map[string]int)
	all, err := s.RecentNotifications(t.Context(), store.NotificationQuery{Limit: 10 * keys})
	must(t, err)
	for _, n := range all {
		told[n.Event]++
	}
	equal(t, "open incidents", len(open), keys)
	equal(t, "told", told, map[string]int{"firing": keys})
}

// TestAnOutageEndsNoIncident: no collector attends for 70 seconds, and event time goes on with
// the first that does. The producers' samples of that time come after it.
func TestAnOutageEndsNoIncident(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	w := collect(t, s, "a", 0, begin())
	p := &probe{Store: s, stands: time.Now()}
	j := run(t, under(func(*detect.Policy) {}), p)
	w.commit(10, hot("k", 1500, 0, 10)...)
	j.quiet(t)
	p.ahead.Store(int64(80 * time.Second))
	w.commit(85)
	j.quiet(t)
	equal(t, "told while the samples are missing", events(t, s), []string{"firing"})
	w.commit(90, hot("k", 1500, 10, 90)...)
	j.quiet(t)
	equal(t, "told in all", events(t, s), []string{"firing"})
}
