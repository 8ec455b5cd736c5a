package judge_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/internal/judge/verdict"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

// outcome is all that a judge leaves, without what depends on the hour.
type outcome struct {
	Totals   []store.Total
	Windows  []string
	Findings []string
	History  []string
	Notified []string
	Cursors  map[string]int64
}

func left(t *testing.T, s *store.Store) outcome {
	t.Helper()
	var o outcome
	var err error
	o.Totals, err = s.Totals(t.Context())
	must(t, err)
	o.Cursors, err = s.Cursors(t.Context())
	must(t, err)
	windows, err := s.Windows(t.Context(), store.WindowQuery{Target: sample.Target{Table: table}})
	must(t, err)
	for _, w := range windows {
		o.Windows = append(o.Windows, fmt.Sprintf("%d %v %t %s", w.Second.Unix(), w.Vector, w.Complete, keys(t, w.Body)))
	}
	findings, err := s.Findings(t.Context(), store.FindingQuery{Limit: 2000})
	must(t, err)
	for _, f := range findings {
		o.Findings = append(o.Findings, string(f.Document))
		history, err := s.FindingHistory(t.Context(), f.Fingerprint)
		must(t, err)
		for _, h := range history {
			o.History = append(o.History, fmt.Sprintf("%s: %s → %s %s %s", f.Key, h.From, h.To, h.Severity, h.Note))
		}
		notified, err := s.Notifications(t.Context(), f.Fingerprint)
		must(t, err)
		for _, n := range notified {
			o.Notified = append(o.Notified, string(f.Key)+" "+n.Event)
		}
	}
	return o
}

// keys are a stored window's keys and bounds without their hashes, which every
// store makes with a seed of its own.
func keys(t *testing.T, body []byte) string {
	t.Helper()
	var w sketch.Window
	must(t, w.UnmarshalBinary(body))
	var all []string
	for _, k := range w.Keys {
		all = append(all, fmt.Sprint(k.Key, k.Requests, k.Low, k.Err))
	}
	slices.Sort(all)
	return fmt.Sprint(w.Total, w.Unseen, all)
}

// hot is a key's load in some seconds.
func hot(key string, wcu, from, to int) []load {
	var all []load
	for s := from; s < to; s++ {
		all = append(all, load{s, key, wcu})
	}
	return all
}

// each runs a test on enginesFor.
func each(t *testing.T, test func(t *testing.T, s *store.Store)) {
	for name, url := range enginesFor(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t, url(t)))
		})
	}
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func TestAHotKeyIsFoundToldAndResolved(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		c := collect(t, s, "a", 0, begin())
		j := run(t, quick(), &probe{Store: s})
		c.commit(2, append(hot("hot", 1200, 0, 3), hot("cold", 5, 0, 3)...)...)
		j.quiet(t)
		o := left(t, s)
		equal(t, "notified", o.Notified, []string{"hot firing"})
		equal(t, "seconds stored", len(o.Windows), 2)
		c.commit(120, hot("cold", 5, 3, 100)...)
		j.quiet(t)
		o = left(t, s)
		equal(t, "notified", o.Notified, []string{"hot firing", "hot resolved"})
		equal(t, "history", o.History, []string{"hot:  → firing critical ", "hot: firing → resolved critical "})
		equal(t, "totals", o.Totals, []store.Total{{Target: sample.Target{Table: table}, Requests: 103, WriteMilli: 3600_000 + 500_000, Seconds: 100}})
		equal(t, "cursors", o.Cursors, map[string]int64{"a": 2})
		var f detect.Finding
		must(t, json.Unmarshal([]byte(o.Findings[0]), &f))
		if f.SecondsOver() != 3 || f.Shards != 2 || f.Peak.WCU.Value != 1200 {
			t.Errorf("finding %+v", f)
		}
		equal(t, "readiness", j.Ready(), nil)
	})
}

// payloads takes what the outbox holds, the oldest first.
func payloads(t *testing.T, s *store.Store) []detect.Payload {
	t.Helper()
	var all []detect.Payload
	for {
		due, err := s.DueNotifications(t.Context(), route, 1)
		must(t, err)
		if len(due) == 0 {
			return all
		}
		all = append(all, detect.ReadPayload(due[0].Payload))
		must(t, s.MarkDelivered(t.Context(), due[0].ID, ""))
	}
}

// TestATransitionTellsTheSecondsBeforeIt: a notification has the load of its key in the
// last half minute, with nothing for a second that nobody saw; its end has none. It has
// the runbook of the policy, too.
func TestATransitionTellsTheSecondsBeforeIt(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	start := begin()
	c := collect(t, s, "a", 0, start)
	config := quick()
	config.Policy = func(detect.Target) detect.Policy {
		p := detect.DefaultPolicy()
		p.RunbookURL = "https://wiki.example.com/{case}"
		return p
	}
	j := run(t, config, &probe{Store: s})
	c.commit(-1, load{100, "k", 200}, load{110, "k", 700}, load{130, "k", 900}, load{132, "k", 1500}, load{133, "k", 1200})
	j.quiet(t)
	c.commit(133)
	j.quiet(t)
	c.commit(400, load{399, "cold", 1})
	j.quiet(t)
	all := payloads(t, s)
	equal(t, "events", events(t, s), []string{"firing", "resolved"})
	recent := all[0].Recent
	if recent == nil || all[1].Recent != nil {
		t.Fatalf("the seconds before the page are %+v, before the end %+v", recent, all[1].Recent)
	}
	last := recent.From.Add((detect.RecentSeconds - 1) * time.Second)
	if len(recent.Loads) != detect.RecentSeconds || recent.Unit != "wcu" || recent.Limit != 1000 || !last.Equal(start.Add(133*time.Second)) {
		t.Errorf("up to %s: %+v", last.Sub(start), recent)
	}
	for i, got := range recent.Loads {
		want, seen := map[int]float64{110: 700, 130: 900, 132: 1500, 133: 1200}[int(recent.From.Sub(start).Seconds())+i]
		if (got != nil) != seen || seen && *got != want {
			t.Errorf("second %d: %v, want %v, seen %t", i, got, want, seen)
		}
	}
	for _, p := range all {
		var i detect.Incident
		must(t, json.Unmarshal(p.Incident, &i))
		equal(t, "the runbook", i.RunbookURL, "https://wiki.example.com/hot_key")
	}
}

func TestAnOpenSecondAlreadyFires(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin())
	collect(t, s, "b", 1, begin()) // has no commit: nothing is complete
	j := run(t, quick(), &probe{Store: s})
	c.commit(2, hot("hot", 1200, 0, 2)...)
	j.quiet(t)
	o := left(t, s)
	equal(t, "notified", o.Notified, []string{"hot firing"})
	equal(t, "seconds stored", len(o.Windows), 0)
	equal(t, "cursors", o.Cursors, map[string]int64{})
}

// TestWhoeverDeliversIsCalled has the judge call once for each judgement with
// notifications, which are then in the outbox.
func TestWhoeverDeliversIsCalled(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin())
	config := quick()
	var calls [][]string
	config.Notified = func() { calls = append(calls, left(t, s).Notified) }
	j := run(t, config, &probe{Store: s})
	c.commit(1, hot("hot", 900, 0, 1)...)
	j.quiet(t)
	c.commit(3, hot("hot", 900, 1, 3)...)
	j.quiet(t)
	c.commit(5, hot("hot", 900, 3, 5)...)
	j.quiet(t)
	j.stop()
	equal(t, "in the outbox at each call", calls, [][]string{{"hot firing"}})
}

// rival puts another notification into the outbox, under the ID of the judge's first one,
// just before the judge writes it.
type rival struct {
	*probe
	put bool
}

func (r *rival) Judge(ctx context.Context, l store.Lease, j store.Judgement) error {
	if len(j.Notifications) > 0 && !r.put {
		r.put = true
		other := j.Notifications[0]
		other.Payload = []byte(`{"another":"incident"}`)
		if err := r.PutNotification(ctx, other); err != nil {
			return err
		}
	}
	return r.probe.Judge(ctx, l, j)
}

// TestAConflictingNotificationIsSaid: the outbox holds another notification under the ID of a
// firing. The judge logs and counts it, and writes the rest, the other receiver's notification
// included.
func TestAConflictingNotificationIsSaid(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		config := quick()
		config.Receivers = to("a", "b")
		r := &rival{probe: &probe{Store: s}}
		var logged strings.Builder
		j, err := judge.New(config, r, "judge", slog.New(slog.NewTextHandler(&logged, nil)))
		must(t, err)
		stop := goRun(t, j.Run)
		collect(t, s, "a", 0, begin()).commit(3, hot("hot", 1200, 0, 3)...)
		(&runner{probe: r.probe}).quiet(t)
		stop()
		equal(t, "notified", left(t, s).Notified, []string{"hot firing", "hot firing"})
		if n := strings.Count(logged.String(), "notifications are lost"); n != 1 {
			t.Errorf("it was logged %d times: %s", n, logged.String())
		}
		registry := prometheus.NewRegistry()
		registry.MustRegister(j)
		families, err := registry.Gather()
		must(t, err)
		i := slices.IndexFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == "keyheat_report_notification_conflicts_total" })
		equal(t, "counted", families[i].GetMetric()[0].GetCounter().GetValue(), 1)
	})
}

func TestSeverityThatRisesIsAnUpdate(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin())
	j := run(t, quick(), &probe{Store: s})
	c.commit(1, hot("hot", 900, 0, 1)...)
	j.quiet(t)
	equal(t, "notified of one warm second", left(t, s).Notified, nil)
	c.commit(3, hot("hot", 900, 1, 3)...)
	j.quiet(t)
	c.commit(4, hot("hot", 1200, 3, 4)...)
	j.quiet(t)
	o := left(t, s)
	equal(t, "notified", o.Notified, []string{"hot firing", "hot updated"})
	equal(t, "history", o.History, []string{
		"hot:  → pending warning ", "hot: pending → firing warning ",
		"hot: firing → firing critical worse",
	})
}

func TestSeverityThatRoseLongAgoIsNoPage(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin())
	j := run(t, quick(), &probe{Store: s})
	c.commit(3, hot("hot", 900, 0, 3)...)
	j.quiet(t)
	j.stop()
	// Time passes; then late samples of the same seconds arrive.
	config := quick()
	config.PageWithin = time.Minute
	j = run(t, config, &probe{Store: s})
	c.commit(4, hot("hot", 300, 1, 2)...)
	j.quiet(t)
	c.commit(100, hot("cold", 5, 3, 100)...)
	j.quiet(t)
	o := left(t, s)
	// Where firing was notified, so is resolved, however late.
	equal(t, "notified", o.Notified, []string{"hot firing", "hot resolved"})
	equal(t, "history", o.History, []string{
		"hot:  → firing warning ", "hot: firing → firing critical worse",
		"hot: firing → resolved critical ",
	})
}

func TestWhatIsLongPastMakesHistoryAndNoPage(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin().Add(-time.Hour))
	config := quick()
	config.PageWithin = 15 * time.Minute
	j := run(t, config, &probe{Store: s})
	c.commit(200, append(hot("hot", 1200, 0, 3), hot("cold", 5, 3, 200)...)...)
	j.quiet(t)
	o := left(t, s)
	equal(t, "notified", o.Notified, nil)
	equal(t, "history", o.History, []string{
		"hot:  → firing critical too_old", "hot: firing → resolved critical "})
}

func TestOneLongReadingStepsOverNothing(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin())
	// The whole story is there before the judge begins, twice.
	c.commit(300, append(hot("hot", 1200, 0, 3), hot("hot", 1500, 200, 203)...)...)
	j := run(t, quick(), &probe{Store: s})
	j.quiet(t)
	equal(t, "notified", left(t, s).Notified, []string{"hot firing", "hot resolved", "hot firing", "hot resolved"})
}

func TestLateSamplesReopenASecond(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := begin()
		a, b := collect(t, s, "a", 0, start), collect(t, s, "b", 1, start)
		j := run(t, quick(), &probe{Store: s})
		b.commit(50)
		a.commit(50, hot("hot", 600, 0, 3)...)
		j.quiet(t)
		equal(t, "findings before", left(t, s).Findings, nil)
		b.commit(51, hot("hot", 600, 0, 3)...)
		j.quiet(t)
		o := left(t, s)
		equal(t, "notified", o.Notified, []string{"hot firing"})
		equal(t, "totals", o.Totals, []store.Total{{Target: sample.Target{Table: table}, Requests: 6, WriteMilli: 3600_000, Seconds: 3}})
	})
}

func TestAStalledPartitionIsNotWaitedForAndProvesNoSilence(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	start := begin()
	a, b := collect(t, s, "a", 0, start), collect(t, s, "b", 1, start)
	config := quick()
	config.Stall = 50 * time.Millisecond
	b.commit(1)
	a.commit(200, append(hot("hot", 1200, 0, 3), hot("cold", 5, 3, 200)...)...)
	j := run(t, config, &probe{Store: s}) // it reads both commits at once, or else a is stalled too
	await(t, func() bool { return len(left(t, s).Windows) == 200 })
	windows, err := s.Windows(t.Context(), store.WindowQuery{Target: sample.Target{Table: table}})
	must(t, err)
	if !windows[0].Complete || windows[1].Complete || windows[199].Complete {
		t.Errorf("complete: %t %t %t, want only the first", windows[0].Complete, windows[1].Complete, windows[199].Complete)
	}
	j.quiet(t)
	equal(t, "notified", left(t, s).Notified, []string{"hot firing"})
}

// TestARestartInAnOutageResolvesNothing stops the judge while a partition is
// silent: seconds of which nothing is stored were not quiet, they were not seen.
func TestARestartInAnOutageResolvesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	start := begin()
	a, b := collect(t, s, "a", 0, start), collect(t, s, "b", 1, start)
	config := quick()
	config.Stall = 50 * time.Millisecond
	b.commit(2)
	a.commit(100, append(hot("hot", 1200, 0, 3), hot("cold", 5, 99, 100)...)...)
	j := run(t, config, &probe{Store: s})
	await(t, func() bool { return len(left(t, s).Windows) == 4 })
	j.stop()
	j = run(t, config, &probe{Store: s})
	a.commit(101, hot("cold", 5, 100, 101)...)
	await(t, func() bool { return len(left(t, s).Windows) == 5 })
	j.quiet(t)
	equal(t, "notified", left(t, s).Notified, []string{"hot firing"})
	j.hold.Lock() // a is stalled by now, and is so until it commits
	b.commit(200)
	a.commit(200, hot("cold", 5, 101, 200)...)
	j.hold.Unlock()
	j.quiet(t)
	equal(t, "notified after sixty seconds that were seen", left(t, s).Notified, []string{"hot firing", "hot resolved"})
}

// TestAPartitionThatIsGoneHoldsNothing deletes a topic: no collector reports its
// partition again, and what is found elsewhere has to end all the same.
func TestAPartitionThatIsGoneHoldsNothing(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	start := begin()
	a, b := collect(t, s, "a", 0, start), collect(t, s, "b", 1, start)
	config := quick()
	config.Stall, config.Forget = 10*time.Millisecond, 500*time.Millisecond
	b.commit(1)
	j := run(t, config, &probe{Store: s})
	a.commit(100, append(hot("hot", 1200, 0, 3), hot("cold", 5, 3, 100)...)...)
	await(t, func() bool {
		a.commit(200)
		return slices.Equal(left(t, s).Notified, []string{"hot firing", "hot resolved"})
	})
	j.quiet(t)
	equal(t, "readiness", j.Ready(), nil)
}

func TestABoundOfMemoryClosesTheOldestEarly(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin())
	config := quick()
	config.MaxKeys = 10
	j := run(t, config, &probe{Store: s})
	c.commit(-1, hot("hot", 1200, 0, 30)...)
	j.quiet(t)
	o := left(t, s)
	equal(t, "seconds stored", len(o.Windows), 20)
	c.commit(30)
	j.quiet(t)
	equal(t, "totals", left(t, s).Totals, []store.Total{{Target: sample.Target{Table: table}, Requests: 30, WriteMilli: 36_000_000, Seconds: 30}})
}

func TestTheBoundOfMemoryCountsOnlyWhatIsHeld(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin())
	config := quick()
	config.MaxKeys = 300
	j := run(t, config, &probe{Store: s})
	// Ten seconds of many cold keys, which are not kept, pass through memory.
	for second := range 10 {
		var cold []load
		for key := range 200 {
			cold = append(cold, load{second, fmt.Sprint("cold", key), 1})
		}
		c.commit(second+1, cold...)
		j.quiet(t)
	}
	c.commit(-1, hot("warm", 900, 10, 15)...)
	j.quiet(t)
	equal(t, "seconds stored while five are open", len(left(t, s).Windows), 10)
}

func TestMoreHotKeysThanAPictureShows(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin())
	j := run(t, quick(), &probe{Store: s})
	var all []load
	many := unlessShort(1000)
	for key := range many {
		all = append(all, hot(fmt.Sprint("hot", key), 1200, 0, 3)...)
	}
	c.commit(3, all...)
	j.quiet(t)
	o := left(t, s)
	equal(t, "findings", len(o.Findings), many)
	equal(t, "notified", len(o.Notified), many)
}

// TestADeletedDeltaIsNotWaitedFor: the judge is ready as soon as what it could not read is
// gone, and goes on with the same collector.
func TestADeletedDeltaIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keyheat.db")
	s := open(t, "sqlite:"+path)
	c := collect(t, s, "a", 0, begin())
	config := quick()
	config.LookEvery = 10 * time.Millisecond
	j := run(t, config, &probe{Store: s})
	c.commit(3, hot("first", 1200, 0, 3)...)
	c.write(4, sketch.Version, []byte("hostile"))
	c.commit(8, hot("second", 1200, 4, 8)...)
	await(t, func() bool { return strings.Contains(strings.Join(j.Ready(), "; "), "delta 2 ") })
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
	must(t, err)
	_, err = db.ExecContext(t.Context(), `DELETE FROM deltas WHERE seq = 2`)
	must(t, err)
	must(t, db.Close())
	await(t, func() bool { return len(j.Ready()) == 0 })
	j.quiet(t)
	found, err := s.Findings(t.Context(), store.FindingQuery{Subject: string(detect.KeyWrites)})
	must(t, err)
	if !slices.ContainsFunc(found, func(f store.Finding) bool { return f.Key == "second" }) {
		t.Errorf("found %+v, want what came behind the deleted delta too", found)
	}
}

func TestADeltaOfAnUnknownVersionWaits(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	start := begin()
	old, other := collect(t, s, "new", 0, start), collect(t, s, "b", 1, start)
	config := quick()
	j := run(t, config, &probe{Store: s})
	d := sketch.NewDelta(old.config)
	body, err := d.MarshalBinary()
	must(t, err)
	body[3] = sketch.Version + 1
	old.write(10, sketch.Version+1, body)
	old.commit(20, hot("unseen", 2000, 0, 3)...)
	other.commit(20, hot("seen", 1200, 0, 3)...)
	await(t, func() bool { return len(j.Ready()) == 1 })
	if reason := j.Ready()[0]; !strings.Contains(reason, "upgrade the reporter") || !strings.Contains(reason, "new") {
		t.Errorf("readiness is %q", reason)
	}
	j.quiet(t)
	o := left(t, s)
	equal(t, "notified", o.Notified, []string{"seen firing"})
	if o.Cursors["new"] != 0 {
		t.Errorf("the cursor passed the unread delta: %v", o.Cursors)
	}
	for _, w := range o.Windows {
		if strings.Contains(w, "true") {
			t.Errorf("a second is complete without the unread delta: %s", w)
		}
	}
}

func TestOneJudgesAndTheNextTakesOver(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		c := collect(t, s, "a", 0, begin())
		config := quick()
		// A machine that pauses loses no lease; who stops releases it, in the time of a poll.
		config.Lease, config.Poll = 20*time.Second, 200*time.Millisecond
		first := run(t, config, &probe{Store: s})
		c.commit(2, hot("hot", 1200, 0, 2)...)
		first.quiet(t)
		second := run(t, quick(), &probe{Store: s})
		await(t, func() bool { return second.calls.Load() >= 5 }) // for the lease
		if n := second.idle.Load(); n != 0 {
			t.Errorf("the second judge read %d times while the first led", n)
		}
		first.stop()
		c.commit(100, hot("cold", 1, 2, 100)...)
		second.quiet(t)
		equal(t, "notified", left(t, s).Notified, []string{"hot firing", "hot resolved"})
	})
}

// TestAJudgeThatNeverCatchesUpIsNotReady, although each of its passes is short.
func TestAJudgeThatNeverCatchesUpIsNotReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &probe{Store: open(t, "sqlite::memory:"), slow: time.Second, behind: true}
		j := run(t, judge.Config{}, p)
		for _, c := range []struct {
			after time.Duration
			ready bool
		}{{20 * time.Second, true}, {20 * time.Second, false}} {
			time.Sleep(c.after)
			if reasons := strings.Join(j.Ready(), "; "); c.ready != (reasons == "") || !c.ready && !strings.Contains(reasons, "was judged up to") {
				t.Errorf("%s later readiness says %q", c.after, reasons)
			}
		}
	})
}

// TestALongPassKeepsItsLease lets each pass take longer than the lease. A second judge waits,
// instead of taking the lease and losing it in the same way.
func TestALongPassKeepsItsLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, config := open(t, "sqlite::memory:"), quick()
		slow := func() *probe { return &probe{Store: s, slow: 2 * config.Lease} }
		collect(t, s, "a", 0, begin()).commit(2, hot("hot", 1200, 0, 2)...)
		first := run(t, config, slow())
		await(t, func() bool { return first.acquired.Load() == 1 })
		second := run(t, config, slow())
		await(t, func() bool { return first.Judges(time.Minute) || second.acquired.Load() > 0 })
		if n := second.acquired.Load(); n > 0 {
			t.Errorf("the second judge took the lease %d times in the first one's pass", n)
		}
		equal(t, "notified", left(t, s).Notified, []string{"hot firing"})
	})
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]judge.Config{
		"three times":       {Poll: time.Second, Lease: 2 * time.Second},
		"negative duration": {Stall: -1},
		"above 0":           {Options: verdict.Options{MaxKeys: -1}},
	} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q in it", err, want)
		}
	}
	must(t, judge.Config{}.Validate())
}

// story is a sequence of commits with everything in it that a judge decides
// by: two collectors, cold seconds, late samples, an update, an end.
func story(t *testing.T, s *store.Store, start time.Time) []func() {
	a, b := collect(t, s, "a", 0, start), collect(t, s, "b", 1, start)
	return []func(){
		func() { a.commit(0, hot("rising", 450, 0, 2)...) },
		func() { b.commit(1, hot("rising", 450, 0, 2)...) },
		func() { a.commit(3, append(hot("rising", 450, 2, 4), hot("cold", 30, 0, 4)...)...) },
		func() { b.commit(4, append(hot("rising", 600, 2, 4), hot("other", 20, 3, 5)...)...) },
		func() { a.commit(6, hot("late", 1300, 1, 3)...) },
		func() { b.commit(90, hot("cold", 30, 5, 90)...) },
		func() { a.commit(90, hot("cold", 30, 5, 90)...) },
		func() { b.commit(95, hot("rising", 1100, 91, 94)...) },
		func() { a.commit(95) },
	}
}

// TestAKilledJudgeIsContinued kills the judge at every single call to the
// store, before or after it is carried out, and lets another go on.
func TestAKilledJudgeIsContinued(t *testing.T) {
	t.Parallel()
	start := begin()
	calm := open(t, database(t))
	calmProbe := &probe{Store: calm}
	play(t, calm, start, calmProbe)
	want := left(t, calm)
	if len(want.Notified) < 4 {
		t.Fatalf("the scenario notifies too little: %v", want.Notified)
	}
	for at := range kills {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d late %t", at, late), func(t *testing.T) {
				t.Parallel()
				s := open(t, database(t))
				play(t, s, start, &probe{Store: s, killAt: at, late: late})
				got := left(t, s)
				equal(t, "totals", got.Totals, want.Totals)
				equal(t, "windows", got.Windows, want.Windows)
				equal(t, "findings", got.Findings, want.Findings)
				equal(t, "history", got.History, want.History)
				equal(t, "notified", got.Notified, want.Notified)
				// Open minutes hold cursors back, unless the lease is lost meanwhile, which a busy
				// machine does, too: see TestCursorsWaitForOpenRollups.
			})
		}
	}
}

// play runs the scenario with a judge, and with its successor once that is killed.
func play(t *testing.T, s *store.Store, start time.Time, p *probe) {
	t.Helper()
	j := run(t, quick(), p)
	for _, chapter := range story(t, s, start) {
		chapter()
		if j.quiet(t); p.dead.Load() {
			j.stop()
			p = &probe{Store: s}
			j = run(t, quick(), p)
			j.quiet(t)
		}
	}
	j.quiet(t)
	j.stop()
}

// TestALongEpisodeOutlivesItsWindows restarts the judge when the episode's
// beginning is no longer replayed.
func TestALongEpisodeOutlivesItsWindows(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin().Add(-20*time.Minute))
	config := quick()
	config.PageWithin = time.Hour
	j := run(t, config, &probe{Store: s})
	for from := 0; from < 1500; from += 500 {
		c.commit(from+500, hot("hot", 1200, from, from+500)...)
		j.quiet(t)
	}
	j.stop()
	j = run(t, config, &probe{Store: s})
	c.commit(1600, append(hot("hot", 1300, 1500, 1510), hot("cold", 1, 1510, 1600)...)...)
	j.quiet(t)
	o := left(t, s)
	var f detect.Finding
	must(t, json.Unmarshal([]byte(o.Findings[0]), &f))
	if f.SecondsOver() != 1510 || f.Peak.WCU.Value != 1300 || f.State != detect.Resolved {
		t.Errorf("%d seconds over, peak %v, %s", f.SecondsOver(), f.Peak.WCU, f.State)
	}
	equal(t, "notified", o.Notified, []string{"hot firing", "hot resolved"})
}

// TestAJudgeWithoutCheckpoints takes over an open incident from a judge of another version: nothing
// is told twice and nothing late, and all that the stored seconds still show is counted.
func TestAJudgeWithoutCheckpoints(t *testing.T) {
	t.Parallel()
	for sentence, spoil := range map[string]func(t *testing.T, s *store.Store){
		"that wrote none": func(t *testing.T, s *store.Store) {
			pruned, err := s.Prune(t.Context(), store.Retention{Views: time.Nanosecond})
			must(t, err)
			if pruned["checkpoints"] != 2 {
				t.Fatalf("pruned %v", pruned)
			}
		},
		"that wrote another form": func(t *testing.T, s *store.Store) {
			all, err := s.Checkpoints(t.Context())
			must(t, err)
			for i := range all {
				all[i].Version++
			}
			judgeOnce(t, s, store.Judgement{Checkpoints: all})
		},
		"whose form cannot be read": func(t *testing.T, s *store.Store) {
			all, err := s.Checkpoints(t.Context())
			must(t, err)
			for i := range all {
				all[i].Body = all[i].Body[:len(all[i].Body)/2]
			}
			judgeOnce(t, s, store.Judgement{Checkpoints: all})
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, s *store.Store) {
				c := collect(t, s, "a", 0, begin().Add(-10*time.Minute))
				config := quick()
				config.PageWithin = time.Hour
				j := run(t, config, &probe{Store: s})
				c.commit(500, hot("hot", 1200, 0, 500)...) // less than shows that the table has few values
				j.quiet(t)
				before := left(t, s)
				j.stop()
				spoil(t, s)
				j = run(t, config, &probe{Store: s})
				j.quiet(t)
				o := left(t, s)
				equal(t, "the finding", o.Findings, before.Findings)
				equal(t, "notified", o.Notified, []string{"hot firing"})
				c.commit(600, append(hot("hot", 1300, 500, 510), hot("cold", 1, 510, 600)...)...)
				j.quiet(t)
				o = left(t, s)
				f, err := detect.ReadFinding([]byte(o.Findings[0]))
				must(t, err)
				if f.SecondsOver() != 510 || f.Peak.WCU.Value != 1300 || f.State != detect.Resolved {
					t.Errorf("%d seconds over, peak %v, %s", f.SecondsOver(), f.Peak.WCU, f.State)
				}
				equal(t, "notified in the end", o.Notified, []string{"hot firing", "hot resolved"})
			})
		})
	}
}

// TestAFailingStoreChangesNothing lets judgements fail: with nothing written,
// or with an error that leaves open whether it was.
func TestAFailingStoreChangesNothing(t *testing.T) {
	t.Parallel()
	start := begin()
	calm := open(t, database(t))
	play(t, calm, start, &probe{Store: calm})
	want := left(t, calm)
	ambiguous := fmt.Errorf("%w: %w", store.ErrUnavailable, store.ErrAmbiguous)
	for name, fault := range map[string]func(n int64) (error, bool){
		"unavailable":           func(n int64) (error, bool) { return every(n, 2, store.ErrUnavailable, false) },
		"ambiguous, stored":     func(n int64) (error, bool) { return every(n, 2, ambiguous, true) },
		"ambiguous, not stored": func(n int64) (error, bool) { return every(n, 2, ambiguous, false) },
		"lease lost":            func(n int64) (error, bool) { return every(n, 2, store.ErrLeaseLost, false) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t))
			play(t, s, start, &probe{Store: s, fault: fault})
			got := left(t, s)
			got.Cursors = want.Cursors // held back by open minutes for a while
			equal(t, "what is left", got, want)
		})
	}
}

// every returns an error for every k-th call.
func every(n, k int64, err error, carried bool) (error, bool) {
	if n%k == 0 {
		return err, carried
	}
	return nil, true
}

// TestAnOutageForgetsNoEnd lets the store be away just when a judge that took
// over learns that a finding of the judge before is long over.
func TestAnOutageForgetsNoEnd(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin().Add(-time.Hour))
	config := quick()
	config.PageWithin = 2 * time.Hour
	j := run(t, config, &probe{Store: s})
	c.commit(3, hot("hot", 1200, 0, 3)...)
	j.quiet(t)
	j.stop()
	_, err := s.Prune(t.Context(), store.Retention{Windows: time.Nanosecond})
	must(t, err)
	p := &probe{Store: s}
	j = run(t, config, p)
	j.quiet(t)
	p.away.Store(1)
	c.commit(2000, hot("new", 1200, 2000, 2003)...)
	j.quiet(t)
	if p.away.Load() >= 0 {
		t.Fatal("the finding was not loaded")
	}
	notified := left(t, s).Notified
	slices.Sort(notified)
	equal(t, "notified", notified, []string{"hot firing", "hot resolved", "new firing"})
}
