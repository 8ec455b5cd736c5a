package judge_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/judge"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// stage is what the steps of a story of silences act on.
type stage struct {
	t       *testing.T
	store   *store.Store
	w       *collector
	config  judge.Config
	probe   *probe
	judge   *runner
	silence string // the one that was added last
}

// step is one moment of a story. After each, the judge has seen all of it.
type step func(g *stage)

func enter(t *testing.T, s *store.Store, c judge.Config, p *probe) *stage {
	t.Helper()
	g := &stage{t: t, store: s, w: collect(t, s, "a", 0, begin()), config: c, probe: p}
	g.judge = run(t, c, p)
	return g
}

// play takes the steps, with another judge after the one that is killed.
func (g *stage) play(steps ...step) {
	g.t.Helper()
	for _, do := range steps {
		do(g)
		if g.judge.quiet(g.t); g.probe.dead.Load() {
			g.another()
			g.judge.quiet(g.t)
		}
	}
}

// another judge takes over.
func (g *stage) another() {
	g.judge.stop()
	before := g.probe
	g.probe = &probe{Store: g.store, stands: before.stands}
	g.probe.ahead.Store(before.ahead.Load())
	g.judge = run(g.t, g.config, g.probe)
}

// silencing adds a silence that begins after a while and lasts for an hour.
func silencing(after time.Duration, matchers ...string) step {
	return func(g *stage) {
		now := time.Now()
		if !g.probe.stands.IsZero() {
			now = g.probe.stands
		}
		now = now.Add(after)
		added, err := g.store.AddSilence(g.t.Context(), store.Silence{
			Matchers: matchers, StartsAt: now.Add(-time.Second), EndsAt: now.Add(time.Hour), Author: "ada", Reason: "load test",
		})
		must(g.t, err)
		g.silence = added.ID
	}
}

func expire(g *stage) { must(g.t, g.store.ExpireSilence(g.t.Context(), g.silence, "ada")) }

func restart(g *stage) { g.another() }

// load has the key at so many units until a second, from the second before on.
func loads(until, wcu int) step {
	return func(g *stage) {
		g.w.commit(until, hot("k", wcu, until-10, until)...)
	}
}

// cool is a minute without load and more.
func cool(g *stage) { g.w.commit(200, load{199, "cold", 1}) }

// TestWhatSilencesWithhold: what fires under a silence is told of when that ends and
// it still fires, once; the end is told of what was told.
func TestWhatSilencesWithhold(t *testing.T) {
	t.Parallel()
	this := "incident=" + detect.IncidentID(casebook.HotKey, detect.Target{Table: table}, "S:k")
	const orders, critical, updated = "table=" + table, 1200, "updated"
	for sentence, c := range map[string]struct {
		steps []step
		want  []string
	}{
		"it is over before the silence is":           {[]step{silencing(0, orders), loads(10, critical), cool, expire, restart}, nil},
		"it fires when the silence ends":             {[]step{silencing(0, orders), loads(10, critical), expire, loads(20, critical), cool}, []string{"firing", "resolved"}},
		"another judge sees the silence end":         {[]step{silencing(0, orders), loads(10, critical), restart, expire, cool}, []string{"firing", "resolved"}},
		"it was told of before":                      {[]step{loads(10, critical), silencing(0, orders), cool, expire}, []string{"firing", "resolved"}},
		"it was told of before, and goes on":         {[]step{loads(10, critical), silencing(0, orders), loads(20, critical), expire, loads(30, critical)}, []string{"firing"}},
		"it gets worse under the silence":            {[]step{loads(10, 900), silencing(0, orders), loads(20, critical), restart, expire, cool}, []string{"firing", updated, "resolved"}},
		"it gets worse, and is over":                 {[]step{loads(10, 900), silencing(0, orders), loads(20, critical), cool, expire}, []string{"firing", "resolved"}},
		"it gets worse than what is silenced":        {[]step{silencing(0, orders, "severity=warning"), loads(10, 900), loads(20, critical), cool}, []string{"firing", "resolved"}},
		"a silence of it by its ID":                  {[]step{silencing(0, this), loads(10, critical), cool}, nil},
		"a silence of its subject":                   {[]step{silencing(0, `subject=~"key_.*"`), loads(10, critical), cool}, nil},
		"a silence of another subject":               {[]step{silencing(0, "subject=keys"), loads(10, critical)}, []string{"firing"}},
		"a silence of another table":                 {[]step{silencing(0, "table=other"), loads(10, critical)}, []string{"firing"}},
		"a silence that has not begun":               {[]step{silencing(time.Minute, orders), loads(10, critical)}, []string{"firing"}},
		"one silence ends, another one does not":     {[]step{silencing(time.Millisecond, orders), silencing(0, orders), loads(10, critical), expire, loads(20, critical)}, nil},
		"it is silenced, told, and silenced":         {[]step{silencing(0, orders), loads(10, critical), expire, silencing(0, orders), loads(20, critical), expire, cool}, []string{"firing", "resolved"}},
		"a second time it is hot nothing is left of": {[]step{silencing(0, orders), loads(10, critical), cool, expire, func(g *stage) { g.w.commit(310, hot("k", critical, 300, 310)...) }}, []string{"firing"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t))
			g := enter(t, s, quick(), &probe{Store: s})
			g.play(c.steps...)
			equal(t, "notifications", events(t, s), c.want)
			for _, i := range incidents(t, s) {
				if i.State == detect.Resolved && (i.Silenced != nil) {
					t.Errorf("one that is over is %+v", i)
				}
			}
		})
	}
}

// TestARegionsSilenceKeepsOthersTold: writes to a global table overload it in all of its
// Regions, so that a silence of one of them withholds nothing, whichever writes.
func TestARegionsSilenceKeepsOthersTold(t *testing.T) {
	t.Parallel()
	for matcher, want := range map[string][]string{
		"region=eu-west-1": {"firing"}, "region=us-west-2": {"firing"}, `region!="us-west-2"`: {"firing"},
		`region=~"eu-west-1|us-west-2"`: nil, "table=" + table: nil,
	} {
		for _, writes := range []sample.Target{ireland, oregon} {
			t.Run(matcher+" "+writes.Region, func(t *testing.T) {
				t.Parallel()
				s := open(t, database(t))
				c := quick()
				c.Facts = func(detect.Target) *detect.TableFacts {
					return &detect.TableFacts{Replicas: []string{"eu-west-1", "us-west-2"}}
				}
				g := enter(t, s, c, &probe{Store: s})
				g.w.at(writes)
				g.play(silencing(0, matcher), loads(10, 1200))
				equal(t, "notifications", events(t, s), want)
				equal(t, "incidents", len(incidents(t, s)), 1)
			})
		}
	}
}

// TestASilencedIncidentShows: it fires on pages, with who silenced it and until when,
// and its history says so.
func TestASilencedIncidentShows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		g := enter(t, s, quick(), &probe{Store: s})
		g.play(silencing(0, "table="+table), loads(10, 1200))
		i := incident(t, s)
		if i.State != detect.Firing || i.Silenced == nil || i.Silenced.By != g.silence || i.Silenced.Author != "ada" || i.Silenced.Reason != "load test" ||
			time.Until(i.Silenced.Until) < 50*time.Minute || i.Told != nil || i.Revision != 0 || len(i.Notified) != 0 {
			t.Errorf("the incident is %+v, silenced %+v", i, i.Silenced)
		}
		g.play(expire)
		i = incident(t, s)
		if i.Silenced != nil || i.Told == nil || i.Revision != 1 || !slices.Equal(i.Notified, []string{route}) {
			t.Errorf("when the silence is over the incident is %+v", i)
		}
		told, err := s.Notifications(t.Context(), i.Root)
		must(t, err)
		if len(told) != 1 || !strings.Contains(string(told[0].Payload), `"silenced":null,`) {
			t.Errorf("told is %+v", told)
		}
		history, err := s.IncidentTransitions(t.Context(), time.Time{}, store.Infinity, 0)
		must(t, err)
		if len(history) != 2 || history[0].To != "firing" || history[0].Note != string(detect.NoteSilenced) || history[0].About != g.silence || history[0].Until.IsZero() ||
			history[1].To != "firing" || history[1].Note != string(detect.NoteSilenceEnded) {
			t.Errorf("the history is %+v", history)
		}
	})
}

// TestWhatOnlyKeepsFiringIsNotTold: a silence ends in the time for which an incident goes
// on that is over. It is told of only if it is hot again.
func TestWhatOnlyKeepsFiringIsNotTold(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	keep := under(func(p *detect.Policy) { p.KeepFiring = time.Hour })
	g := enter(t, s, keep, &probe{Store: s})
	g.play(silencing(0, "table="+table), loads(10, 1200), cool)
	if i := incident(t, s); i.State != detect.Firing || i.Silenced == nil {
		t.Fatalf("the incident is %+v", i)
	}
	g.play(expire)
	equal(t, "while nothing is hot", events(t, s), nil)
	if i := incident(t, s); i.State != detect.Firing || i.Silenced != nil || i.Told != nil {
		t.Errorf("the incident is %+v", i)
	}
	g.play(restart, func(g *stage) { g.w.commit(310, hot("k", 1200, 300, 310)...) })
	equal(t, "when it is hot again", events(t, s), []string{"firing"})
}

// TestNobodyIsToldAgainUnderASilence: with repeat.
func TestNobodyIsToldAgainUnderASilence(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	g := enter(t, s, under(func(p *detect.Policy) { p.Repeat = 20 * time.Millisecond }), &probe{Store: s})
	g.play(loads(10, 1200), silencing(0, "table="+table))
	told := len(events(t, s))
	g.judge.ahead.Add(int64(time.Second))
	g.judge.quiet(t)
	equal(t, "told under the silence", len(events(t, s)), told)
	i := incident(t, s)
	history, err := s.IncidentTransitions(t.Context(), time.Time{}, store.Infinity, 0)
	must(t, err)
	if i.Told == nil || len(history) != told {
		t.Errorf("%d steps for %d notifications, told: %+v", len(history), told, i.Told)
	}
	g.play(expire)
	await(t, func() bool { return len(events(t, s)) > told })
}

// TestManySilencedKeysAreOnePage: the keys of a silenced sorted import join the incident of
// its first key.
func TestManySilencedKeysAreOnePage(t *testing.T) {
	t.Parallel()
	first := func(g *stage) { g.w.commit(3, hot("import-00000", 1500, 0, 3)...) }
	orders := silencing(0, "table="+table)
	for sentence, c := range map[string]struct {
		begin []step
		want  []string
	}{
		"silenced from the beginning": {[]step{orders, first}, []string{"firing", "resolved"}},
		// The first key's incident was told of: so is its end.
		"the first key was told of": {[]step{first, orders}, []string{"firing", "resolved"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t))
			g := enter(t, s, quick(), &probe{Store: s})
			g.play(c.begin...)
			g.play(func(g *stage) {
				for k := 1; k < 40; k++ {
					g.w.commit(3*k+3, hot(fmt.Sprintf("import-%05d", k), 1500, 3*k, 3*k+3)...)
				}
			}, expire, cool)
			equal(t, "notifications", events(t, s), c.want)
			rows, err := s.Incidents(t.Context(), store.IncidentQuery{})
			must(t, err)
			equal(t, "incidents", len(rows), 1)
		})
	}
}

// TestKeyheatsOwnHealthIsSilenced by its cause.
func TestKeyheatsOwnHealthIsSilenced(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	g := enter(t, s, watchful(), &probe{Store: s})
	g.play(silencing(0, "subject=pipeline"), func(g *stage) {
		must(t, s.StartWriter(t.Context(), store.Writer{ID: "b", Host: "host-1", Started: time.Now()}))
	}, func(g *stage) { must(t, s.StopWriter(t.Context(), "b")) })
	await(t, func() bool {
		f, has := pipelineFinding(t, s, casebook.CollectionStopped)
		return has && f.State == detect.Firing
	})
	equal(t, "notifications", events(t, s), nil)
	g.play(expire)
	equal(t, "when the silence is over", events(t, s), []string{"firing"})
}

// TestAnUnreadableSilenceSilencesNothing: the judge stays ready and judges on, the log and
// a metric show the silence, and the silences beside it hold.
func TestAnUnreadableSilenceSilencesNothing(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string]string{"an unknown name": `["tabel=` + table + `"]`, "no JSON": `[`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "keyheat.db")
			s := open(t, "sqlite:"+path)
			var log bytes.Buffer
			p := &probe{Store: s}
			j, err := judge.New(quick(), p, "judge", slog.New(slog.NewTextHandler(&log, nil)))
			must(t, err)
			g := &stage{t: t, store: s, w: collect(t, s, "a", 0, begin()), probe: p, judge: &runner{Judge: j, probe: p, stop: goRun(t, j.Run)}}
			corrupt := func(g *stage) {
				db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(10000)")
				must(t, err)
				_, err = db.ExecContext(t.Context(), `UPDATE silences SET matchers = $1 WHERE id = $2`, stored, g.silence)
				must(t, errors.Join(err, db.Close()))
			}
			unreadable := func(want float64) {
				t.Helper()
				equal(t, "ready", j.Ready(), nil)
				equal(t, "unreadable", gauge(t, j, "keyheat_report_unreadable_silences"), want)
			}
			g.play(silencing(0, "table=other"), silencing(0, "table="+table), corrupt, loads(10, 1200))
			equal(t, "notifications", events(t, s), []string{"firing"})
			unreadable(1)
			g.play(expire)
			unreadable(0)
			g.judge.stop()
			if lines := strings.Count(log.String(), "a silence cannot be read"); lines != 1 || !strings.Contains(log.String(), g.silence) {
				t.Errorf("%d log lines are about the silence %s", lines, g.silence)
			}
		})
	}
}

// gauge returns the value of a judge's gauge.
func gauge(t *testing.T, j prometheus.Collector, name string) float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	must(t, registry.Register(j))
	families, err := registry.Gather()
	must(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// TestAJudgeKilledUnderASilence kills the judge at every single call to the store, before
// or after it is carried out: nothing is told twice, and nothing is lost.
func TestAJudgeKilledUnderASilence(t *testing.T) {
	t.Parallel()
	all := silencing(0, `table=~"`+table+`|carts"`)
	story := []step{
		func(g *stage) {
			g.w.tells = func(r *sample.Record) {
				if r.PK.Text == "other" {
					r.Table = "carts"
				}
			}
		},
		loads(10, 900), all,
		func(g *stage) { g.w.commit(20, append(hot("k", 1200, 10, 20), hot("other", 1200, 15, 20)...)...) },
		expire,
		func(g *stage) { g.w.commit(30, hot("other", 1200, 20, 30)...) },
		all, cool, expire,
	}
	tell := func(t *testing.T, s *store.Store) []string {
		told := left(t, s).Notified
		slices.Sort(told)
		return told
	}
	want := []string{"k firing", "k resolved", "k updated", "other firing", "other resolved"}
	for at := range kills {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("call %d late %t", at, late), func(t *testing.T) {
				t.Parallel()
				s := open(t, database(t))
				enter(t, s, quick(), &probe{Store: s, killAt: at, late: late}).play(story...)
				equal(t, "notified", tell(t, s), want)
			})
		}
	}
}
