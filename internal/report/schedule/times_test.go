package schedule_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/report/schedule"
)

func parse(t *testing.T, expression, zone string) schedule.Times {
	t.Helper()
	times, err := schedule.ParseTimes(expression, zone)
	must(t, err)
	return times
}

func must(t *testing.T, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

func TestTimesOverDaylightSaving(t *testing.T) {
	t.Parallel()
	for _, story := range []struct {
		name, expression, zone, after string
		want                          []string
	}{
		{"a skipped time is due when it is skipped", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		{"a time that comes twice is due the first time", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z",
			[]string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		{"in New York too", "30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z",
			[]string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}},
		{"two times that are skipped together are due once", "0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z",
			[]string{"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"}},
		{"a midnight that is skipped is due", "0 0 * * FRI", "Africa/Cairo", "2026-04-20T12:00:00Z",
			[]string{"2026-04-23T22:00:00Z", "2026-04-30T21:00:00Z"}},
		{"half an hour is skipped", "15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z",
			[]string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
		{"a whole day is skipped", "0 9 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z",
			[]string{"2011-12-29T19:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T19:00:00Z"}},
		{"a zone without changes", "0 8 * * MON", "Asia/Kolkata", "2026-11-20T00:00:00Z", []string{"2026-11-23T02:30:00Z"}},
		{"UTC where no zone is given", "@daily", "", "2026-11-20T00:00:00Z", []string{"2026-11-21T00:00:00Z"}},
		{"the last Friday", "0 8 * * FRI#L", "", "2026-11-01T00:00:00Z", []string{"2026-11-27T08:00:00Z"}},
		{"a day of the month or of the week", "0 8 1 * MON", "", "2026-11-24T00:00:00Z", []string{"2026-11-30T08:00:00Z", "2026-12-01T08:00:00Z", "2026-12-07T08:00:00Z"}},
	} {
		times := parse(t, story.expression, story.zone)
		at, err := time.Parse(time.RFC3339, story.after)
		must(t, err)
		for _, want := range story.want {
			at = times.Next(at)
			if got := at.UTC().Format(time.RFC3339); got != want {
				t.Errorf("%s: got %s, want %s", story.name, got, want)
				break
			}
			if last := times.LastDue(at); !last.Equal(at) {
				t.Errorf("%s: the last until %s is %s", story.name, want, last)
			}
		}
	}
}

// Every day has its time once, in all zones with odd changes, and Last agrees with
// Next.
func TestEveryDayHasItsTimeOnce(t *testing.T) {
	t.Parallel()
	zones := []string{"Europe/Berlin", "America/New_York", "America/Santiago", "Africa/Cairo", "Asia/Beirut", "Australia/Lord_Howe", "America/Havana", "Africa/Casablanca", "UTC"}
	random := rand.New(rand.NewPCG(26, 3))
	for range 60 {
		zone, err := time.LoadLocation(zones[random.IntN(len(zones))])
		must(t, err)
		clock := time.Date(2026, 1, 1, random.IntN(24), random.IntN(60), 0, 0, time.UTC)
		expression := clock.Format("4 15 * * *")
		times := parse(t, expression, zone.String())
		from := time.Date(2026, 1, 2, 0, 0, 0, 0, zone)
		all := []time.Time{times.Next(from.Add(-time.Second))}
		for len(all) < 500 {
			all = append(all, times.Next(all[len(all)-1]))
		}
		for day, due := range all {
			want := time.Date(2026, 1, 2+day, 12, 0, 0, 0, zone).Format(time.DateOnly)
			if got := due.In(zone).Format(time.DateOnly); got != want {
				t.Fatalf("%s in %s: the %dth is %s, want one on %s", expression, zone, day, due.In(zone), want)
			}
		}
		for range 200 {
			i := random.IntN(len(all) - 1)
			at := all[i].Add(time.Duration(random.Int64N(int64(all[i+1].Sub(all[i])))))
			if last := times.LastDue(at); !last.Equal(all[i]) {
				t.Fatalf("%s in %s: the last until %s is %s, want %s", expression, zone, at.In(zone), last.In(zone), all[i].In(zone))
			}
			if next := times.Next(at); !next.Equal(all[i+1]) {
				t.Fatalf("%s in %s: the next after %s is %s, want %s", expression, zone, at.In(zone), next.In(zone), all[i+1].In(zone))
			}
		}
	}
}

func TestTimesThatAreWrong(t *testing.T) {
	t.Parallel()
	for expression, says := range map[string]string{
		"": "no cron expression", "0 8 * *": "minute, hour", "61 8 * * *": "no cron expression", "@every 1h": "no times of its own",
		"TZ=UTC 0 8 * * *": "time_zone", "0 8 30 2 *": "never due", "0 0 8 * * *": "no cron expression",
	} {
		if _, err := schedule.ParseTimes(expression, "UTC"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", expression, err)
		}
	}
	for _, zone := range []string{"Berlin", "Local", "../etc"} {
		if _, err := schedule.ParseTimes("0 8 * * *", zone); err == nil || !strings.Contains(err.Error(), "Europe/Berlin") {
			t.Errorf("zone %q: %v", zone, err)
		}
	}
}
