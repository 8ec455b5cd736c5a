package judge_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
	"github.com/keyheat/keyheat/store"
)

func hashOf(t *testing.T, s *store.Store, key string) uint64 {
	t.Helper()
	seed, err := s.HashSeed(t.Context())
	must(t, err)
	return sketch.Hash(sample.Target{Table: table}, sample.KeyString(key), seed)
}

func peaksOf(t *testing.T, s *store.Store, key string) []store.HourPeak {
	t.Helper()
	all, err := s.HourPeaks(t.Context(), sample.Target{Table: table}, hashOf(t, s, key), time.Time{})
	must(t, err)
	return all
}

// The highest second of each hour of a warm key is kept, of cold keys none.
func TestWarmKeysLeaveTheirPeaks(t *testing.T) {
	t.Parallel()
	for engine, url := range enginesFor(t) {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := open(t, url(t))
			start := time.Now().Truncate(time.Hour).Add(-time.Minute)
			c := collect(t, s, "a", 1, start)
			c.commit(70, load{1, "warm", 150}, load{2, "warm", 400}, load{3, "warm", 200}, load{1, "cold", 99},
				load{61, "warm", 300})
			run(t, quick(), &probe{Store: s}).quiet(t)
			got := peaksOf(t, s, "warm")
			if len(got) != 2 || got[0].WriteMilli != 400_000 || got[1].WriteMilli != 300_000 ||
				!got[0].Hour.Equal(start.Truncate(time.Hour)) || got[0].Key != "warm" || got[0].KeyType != "S" {
				t.Errorf("peaks are %+v", got)
			}
			if cold := peaksOf(t, s, "cold"); cold != nil {
				t.Errorf("a key below a tenth of the limit left %+v", cold)
			}
		})
	}
}

// Cursors wait for peaks that are not written, so that a judge that dies loses
// none of them.
func TestAKilledJudgeLosesNoPeak(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 1, begin())
	c.commit(10, load{1, "warm", 400}, load{2, "warm", 300})
	slow := quick()
	slow.PeakDelay = time.Hour
	first := run(t, slow, &probe{Store: s})
	first.quiet(t)
	first.stop()
	totals, err := s.Totals(t.Context())
	must(t, err)
	if len(totals) != 1 || totals[0].Seconds != 2 {
		t.Fatalf("stored are %+v, want two seconds", totals)
	}
	run(t, quick(), &probe{Store: s}).quiet(t)
	if got := peaksOf(t, s, "warm"); len(got) != 1 || got[0].WriteMilli != 400_000 {
		t.Errorf("peaks are %+v, want 400 units", got)
	}
}

// A finding carries what its key's peaks foretell, and nothing where they do
// not.
func TestAFindingCarriesItsForecast(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	lease, ok, err := s.AcquireLease(t.Context(), "judge", "past", time.Second)
	if must(t, err); !ok {
		t.Fatal("no lease")
	}
	var past []store.HourPeak
	hour := time.Now().UTC().Truncate(time.Hour)
	for ago := 24 * 50; ago > 0; ago-- {
		past = append(past, store.HourPeak{Target: sample.Target{Table: table}, Hash: hashOf(t, s, "grows"), KeyType: "S", Key: "grows",
			Hour: hour.Add(-time.Duration(ago) * time.Hour), WriteMilli: int64(900_000 - 5_000*ago/24)})
	}
	must(t, s.Judge(t.Context(), lease, store.Judgement{Peaks: past}))
	must(t, s.ReleaseLease(t.Context(), lease))

	c := collect(t, s, "a", 1, begin())
	for second := range 5 {
		c.commit(second+1, load{second, "grows", 900}, load{second, "steady", 901})
	}
	run(t, quick(), &probe{Store: s}).quiet(t)
	rows, err := s.Findings(t.Context(), store.FindingQuery{})
	must(t, err)
	forecasts := map[string]string{}
	for _, row := range rows {
		var f detect.Finding
		must(t, json.Unmarshal(row.Document, &f))
		forecasts[string(f.Key)] = "none"
		if f.Forecast != nil {
			forecasts[string(f.Key)] = fmt.Sprintf("%s grows by %.1f a day, full in %.0f days", f.Forecast.Unit, f.Forecast.Growth.Value,
				f.Forecast.At100.At.Sub(hour).Hours()/24)
		}
	}
	if forecasts["grows"] != "wcu grows by 5.0 a day, full in 20 days" || forecasts["steady"] != "none" {
		t.Errorf("forecasts are %v", forecasts)
	}
}

// viewOf is the stored view of the table.
func viewOf(t *testing.T, s *store.Store) detect.Table {
	t.Helper()
	rows, err := s.TableViews(t.Context())
	must(t, err)
	if len(rows) != 1 || rows[0].Table != table {
		t.Fatalf("views are %+v, want one of %s", rows, table)
	}
	var v detect.Table
	must(t, json.Unmarshal(rows[0].Document, &v))
	return v
}

// The judge writes what a table's keys look like, cold ones too, and lists warm
// keys that grow, of which there is no finding.
func TestATableHasItsView(t *testing.T) {
	t.Parallel()
	for engine, url := range enginesFor(t) {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			s := open(t, url(t))
			lease, ok, err := s.AcquireLease(t.Context(), "judge", "past", time.Second)
			if must(t, err); !ok {
				t.Fatal("no lease")
			}
			var past []store.HourPeak
			hour := time.Now().UTC().Truncate(time.Hour)
			for ago := 24 * 40; ago > 0; ago-- {
				past = append(past, store.HourPeak{Target: sample.Target{Table: table}, Hash: hashOf(t, s, "user#1"), KeyType: "S", Key: "user#1",
					Hour: hour.Add(-time.Duration(ago) * time.Hour), WriteMilli: int64(500_000 - 5_000*ago/24)})
			}
			must(t, s.Judge(t.Context(), lease, store.Judgement{Peaks: past}))
			must(t, s.ReleaseLease(t.Context(), lease))

			c := collect(t, s, "a", 1, begin())
			for second := range 5 {
				loads := []load{{second, "user#1", 60}}
				for user := range 40 {
					loads = append(loads, load{second, fmt.Sprint("user#", 100*second+user), 1})
				}
				c.commit(second+1, loads...)
			}
			run(t, quick(), &probe{Store: s}).quiet(t)
			got := viewOf(t, s)
			v := got.View
			if got.Requests != 5*41 || got.WCU != 500 || got.Seconds != 5 {
				t.Errorf("totals are %+v", got)
			}
			if v.DistinctKeys.Value != 200 || v.Template.Pattern != "user#<id>" || v.Top[0].Key != "user#1" ||
				v.Top[0].WCU != 301 || v.Hottest.WCU < 60 {
				t.Errorf("view is %+v", *v)
			}
			if len(v.Growing) != 1 || v.Growing[0].Key != "user#1" || v.Growing[0].Forecast.At70 == nil {
				t.Errorf("growing are %+v", v.Growing)
			}
		})
	}
}

// Late samples do not count a second twice.
func TestAViewCountsASecondOnce(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 1, begin())
	j := run(t, quick(), &probe{Store: s})
	c.commit(10, load{1, "a", 100})
	j.quiet(t)
	c.commit(11, load{1, "a", 1}, load{2, "a", 100})
	j.quiet(t)
	if v := viewOf(t, s).View; v.Top[0].WCU != 200 {
		t.Errorf("%g units are counted of two seconds of 100, and one late one", v.Top[0].WCU)
	}
}

// A judge that takes over does not write its first seconds over an hour's view.
func TestAViewOutlivesItsJudge(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 1, begin())
	first := run(t, quick(), &probe{Store: s})
	c.commit(10, load{1, "a", 100}, load{2, "b", 100})
	first.quiet(t)
	first.stop()
	c.commit(20, load{11, "a", 100})
	second := run(t, quick(), &probe{Store: s})
	second.quiet(t)
	if v := viewOf(t, s).View; v.DistinctKeys.Value != 2 {
		t.Errorf("the view has %g keys, want the two of the judge before", v.DistinctKeys.Value)
	}
	c.commit(30, load{12, "a", 100}, load{13, "c", 100}, load{14, "d", 100})
	second.quiet(t)
	if v := viewOf(t, s).View; v.DistinctKeys.Value != 3 {
		t.Errorf("the view has %g keys, want the three that the new judge saw in more time", v.DistinctKeys.Value)
	}
}

// What is known of a table reaches the verdict: what is stored of it, or before
// that what the operator has configured.
func TestFactsReachTheVerdict(t *testing.T) {
	t.Parallel()
	for name, configured := range map[string]*detect.TableFacts{"stored": nil, "configured": {KeySchema: sample.Keys("id")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, database(t))
			must(t, s.PutTableFacts(t.Context(), sample.Target{Table: table}, []byte(`{"lsis":["by-date"]}`)))
			c := collect(t, s, "a", 1, begin())
			c.commit(10, load{1, "hot", 1500}, load{2, "hot", 1500})
			config := quick()
			config.Facts = func(detect.Target) *detect.TableFacts { return configured }
			run(t, config, &probe{Store: s}).quiet(t)
			rows, err := s.Findings(t.Context(), store.FindingQuery{Kind: string(detect.HotKeyWrite)})
			must(t, err)
			if len(rows) != 1 {
				t.Fatalf("%d findings, want 1", len(rows))
			}
			var f detect.Finding
			must(t, json.Unmarshal(rows[0].Document, &f))
			want := detect.GroundLocalIndex
			if configured != nil {
				want = detect.GroundItem
			}
			if f.Ground != want {
				t.Errorf("the reason is %s, want %s", f.Ground, want)
			}
		})
	}
}

// A judgement that the store fails is made again, and its seconds are not counted
// again.
func TestAViewCountsASecondOnceThroughAnOutage(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 1, begin())
	c.commit(10, load{1, "a", 100}, load{2, "a", 100})
	run(t, quick(), &probe{Store: s, fault: func(n int64) (err error, carried bool) {
		if n <= 2 {
			return store.ErrUnavailable, false
		}
		return nil, true
	}}).quiet(t)
	if got := viewOf(t, s); got.Requests != 2 || got.Seconds != 2 || got.View.Top[0].WCU != 200 {
		t.Errorf("%d requests in %d seconds and %g units are counted, want 2 in 2 and 200", got.Requests, got.Seconds, got.View.Top[0].WCU)
	}
}
