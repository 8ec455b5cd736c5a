package report_test

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
	return sketch.Hash(table, "", sample.KeyString(key), seed)
}

func peaksOf(t *testing.T, s *store.Store, key string) []store.HourPeak {
	t.Helper()
	all, err := s.HourPeaks(t.Context(), table, "", hashOf(t, s, key), time.Time{})
	must(t, err)
	return all
}

// The highest second of each hour of a warm key is kept, of cold keys none.
func TestWarmKeysLeaveTheirPeaks(t *testing.T) {
	t.Parallel()
	for engine, url := range engines {
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
	s := open(t, engines["sqlite"](t))
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
	s := open(t, engines["sqlite"](t))
	lease, ok, err := s.AcquireLease(t.Context(), "judge", "past", time.Second)
	if must(t, err); !ok {
		t.Fatal("no lease")
	}
	var past []store.HourPeak
	hour := time.Now().UTC().Truncate(time.Hour)
	for ago := 24 * 50; ago > 0; ago-- {
		past = append(past, store.HourPeak{Table: table, Hash: hashOf(t, s, "grows"), KeyType: "S", Key: "grows",
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
	told := map[string]string{}
	for _, row := range rows {
		var f detect.Finding
		must(t, json.Unmarshal(row.Document, &f))
		told[f.Key] = "silent"
		if f.Forecast != nil {
			told[f.Key] = fmt.Sprintf("%s grows by %.1f a day, full in %.0f days", f.Forecast.Unit, f.Forecast.Growth.Value,
				f.Forecast.At100.At.Sub(hour).Hours()/24)
		}
	}
	if told["grows"] != "wcu grows by 5.0 a day, full in 20 days" || told["steady"] != "silent" {
		t.Errorf("told is %v", told)
	}
}
