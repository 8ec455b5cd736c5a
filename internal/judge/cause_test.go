package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/store"
)

// firings returns how many of the notifications page.
func firings(o outcome) (n int) {
	for _, told := range o.Notified {
		if strings.HasSuffix(told, " "+string(detect.EventFiring)) {
			n++
		}
	}
	return n
}

// openIncidents returns the incidents that are not over.
func openIncidents(t *testing.T, s *store.Store) (all []store.Incident) {
	t.Helper()
	rows, err := s.Incidents(t.Context(), store.IncidentQuery{Limit: 1000})
	must(t, err)
	return slices.DeleteFunc(rows, func(i store.Incident) bool { return i.State == string(detect.Resolved) })
}

// TestShardsPageOnce loads 300 shards of one key: one incident with all of them, and one
// page.
func TestShardsPageOnce(t *testing.T) {
	t.Parallel()
	s := open(t, database(t))
	c := collect(t, s, "a", 0, begin())
	j := run(t, quick(), &probe{Store: s})
	var all []load
	for shard := range 300 {
		all = append(all, hot(fmt.Sprintf("total#SHARD_%d", shard), 1100, 0, 3)...)
	}
	c.commit(3, all...)
	j.quiet(t)
	incidents := openIncidents(t, s)
	if len(incidents) != 1 || incidents[0].Case != string(casebook.TooFewShards) || len(incidents[0].Findings) != 301 {
		t.Fatalf("%d incidents, the first %+v", len(incidents), incidents)
	}
	equal(t, "notified", len(left(t, s).Notified), 1)
}

// TestMinutesPageOnce loads the key of the minute for some minutes, while the judge
// looks on every few seconds, and is followed by another judge in the middle.
func TestMinutesPageOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		start := begin()
		c := collect(t, s, "a", 0, start)
		j := run(t, quick(), &probe{Store: s})
		for from := 0; from < 300; from += 20 {
			var all []load
			for second := from; second < from+20; second++ {
				minute := start.Add(time.Duration(second) * time.Second).UTC().Format("2006-01-02T15:04")
				all = append(all, load{second, "log#" + minute, 1200})
			}
			c.commit(from+20, all...)
			j.quiet(t)
			if from == 160 {
				j.stop()
				j = run(t, quick(), &probe{Store: s})
			}
		}
		incidents := openIncidents(t, s)
		if len(incidents) != 1 || incidents[0].Case != string(casebook.TimeKey) || len(incidents[0].Findings) < 5 {
			t.Fatalf("incidents %+v", incidents)
		}
		equal(t, "pages", firings(left(t, s)), 1)
	})
}

// TestASortedImportPagesOnce loads one key after another for three seconds each, while
// the judge looks on in between: the first key pages, and what follows belongs to it.
func TestASortedImportPagesOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		c := collect(t, s, "a", 0, begin())
		j := run(t, quick(), &probe{Store: s})
		for key := range 30 {
			all := hot(fmt.Sprintf("customer-%c%d", 'a'+key%26, key*7919), 1300, 3*key, 3*key+3)
			for other := range 20 {
				all = append(all, hot(fmt.Sprintf("other-%c", 'a'+other), 20, 3*key, 3*key+3)...)
			}
			c.commit(3*key+3, all...)
			j.quiet(t)
		}
		incidents := openIncidents(t, s)
		if len(incidents) != 1 || incidents[0].Case != string(casebook.MovingSpot) || len(incidents[0].Findings) < 30 {
			t.Fatalf("incidents %+v", incidents)
		}
		equal(t, "pages", firings(left(t, s)), 1)

		// It is over when the last key is, and that is told, too.
		c.commit(300, hot("other-a", 20, 90, 300)...)
		j.quiet(t)
		equal(t, "open incidents", len(openIncidents(t, s)), 0)
		equal(t, "pages", firings(left(t, s)), 1)
	})
}

// TestASecondKeyJoinsTheIncident has two keys with all load of a table that had one hot key: for
// eight seconds again and again, and then for good. The first key's incident goes on.
func TestASecondKeyJoinsTheIncident(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *store.Store) {
		c := collect(t, s, "a", 0, begin())
		j := run(t, quick(), &probe{Store: s})
		second := 0
		// pour loads keys for some seconds, beside fifty cool ones unless they have all load.
		pour := func(seconds int, alone bool, keys ...string) {
			for until := second + seconds; second < until; {
				var all []load
				next := min(until, second+4)
				for _, key := range keys {
					all = append(all, hot(key, 1200, second, next)...)
				}
				for cool := 0; cool < 50 && !alone; cool++ {
					all = append(all, hot(fmt.Sprintf("cool %x", cool*7919), 10, second, next)...)
				}
				second = next
				c.commit(second, all...)
				j.quiet(t)
			}
		}
		// fires holds that the first key's incident is the only one that fires.
		fires := func(when string) {
			t.Helper()
			var firing []string
			for _, i := range openIncidents(t, s) {
				if i.State == string(detect.Firing) {
					firing = append(firing, i.ID)
				}
			}
			equal(t, when, firing, []string{detect.IncidentID(casebook.HotKey, detect.Target{Table: table}, "S:a")})
		}
		pour(12, false, "a")
		for range 3 {
			pour(8, true, "a", "b")
			fires("after eight seconds of two keys")
			pour(8, false, "a")
			fires("after eight seconds of one key")
		}
		equal(t, "pages", firings(left(t, s)), 1)
		pour(90, true, "a", "b")
		fires("after a minute and a half of two keys")
		equal(t, "pages in all", firings(left(t, s)), 1)
	})
}
