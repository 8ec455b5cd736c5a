package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/partitions"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// control is the time control of a page; nil for none.
func control(p page) (nav page, has bool) {
	for _, nav = range p.all("nav", "time") {
		return nav, true
	}
	return nav, false
}

// TestTimeOfEachPage: every page with a history has the control, rejects a wrong time with
// the reason, and takes its time along to every other page; a live page leads on as it is.
func TestTimeOfEachPage(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-3 * time.Hour).Truncate(time.Hour).UTC()
	s, _ := filled(t)
	addPartitions(t, s)
	reported(t, s, "weekly", 1)
	address := serve(t, s)
	chosen := between(start, start.Add(10*time.Minute))
	for path, want := range map[string]bool{
		"/": true, "/tables": true, "/table?table=orders": true, "/heat?table=orders": true,
		"/partitions?table=orders": true, "/reports": true, "/silences": true, "/status": true,
		"/partitions": false, "/docs/": false,
	} {
		at := func(values url.Values) string {
			u, err := url.Parse(path)
			must(t, err)
			q := u.Query()
			for name := range values {
				q.Set(name, values.Get(name))
			}
			u.RawQuery = q.Encode()
			return address + u.String()
		}
		p := open(t, at(chosen))
		_, has := control(p)
		if has != want {
			t.Errorf("%s has the control: %t", path, has)
			continue
		}
		if has {
			if text, _ := get(t, at(url.Values{"from": {"2026-11-22T12:00"}, "to": {"2026-11-22T11:00"}}), http.StatusBadRequest); !strings.Contains(text, "give a beginning before the end") {
				t.Errorf("%s does not say what is wrong with its time", path)
			}
		}
		for _, a := range p.all("nav", "")[0].all("a", "") {
			u, err := url.Parse(a.attr("href"))
			must(t, err)
			for name := range chosen {
				if u.Query().Get(name) != chosen.Get(name) {
					t.Errorf("%s leads to %s without its %s", path, u, name)
				}
			}
		}
		if links := open(t, at(nil)).all("nav", "")[0].all("a", ""); len(links) == 0 || strings.Contains(links[0].attr("href"), "?") {
			t.Errorf("%s leads on with a time that nobody chose", path)
		}
	}
}

// TestIncidentsOfATime: the first page counts the incidents of a chosen time.
func TestIncidentsOfATime(t *testing.T) {
	t.Parallel()
	address := serve(t, many(t, 4))
	const count = "4 incidents were open in this time, 2 critical."
	for query, counted := range map[string]bool{"?span=1h": true, "": false} {
		if text := open(t, address+"/"+query).text(); strings.Contains(text, count) != counted {
			t.Errorf("/%s does not say %q as it should, %t: %s", query, count, counted, text)
		}
	}
}

// TestTablesOfATime: a table has the hottest key of the chosen time, what was throttled and
// how many incidents were open.
func TestTablesOfATime(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-3 * time.Hour).Truncate(time.Hour).UTC()
	s := heated(t, start, 3600, busy, nil, 0)
	address := serve(t, s)
	of := func(from, to time.Time) string {
		return open(t, address+"/tables?"+between(from, to).Encode()).all("tbody", "")[0].text()
	}
	text := of(start.Add(time.Minute), start.Add(40*time.Minute))
	for _, want := range []string{hostile, "150%", "This time: over the limit, highest in the "} {
		if !strings.Contains(text, want) {
			t.Errorf("the row does not say %q: %s", want, text)
		}
	}
	if text := of(start.Add(-2*time.Hour), start.Add(-time.Hour)); !strings.Contains(text, "not known") || !strings.Contains(text, "This time: not counted") {
		t.Errorf("before the first second the row says %s", text)
	}
}

// TestFollowedTimes: a page of a time that is over is not followed, and neither is a list of
// tables over days.
func TestFollowedTimes(t *testing.T) {
	t.Parallel()
	s, _ := filled(t)
	address := serve(t, s)
	for path, want := range map[string]bool{
		"/tables": true, "/tables?span=1h": true, "/tables?span=48h": false, "/tables?from=2026-11-01T00:00&to=2026-11-01T01:00": false,
		"/table?table=orders&span=1h": true, "/table?table=orders&from=2026-11-01T00:00&to=2026-11-01T01:00": false,
	} {
		text, _ := get(t, address+path, http.StatusOK)
		if followed := strings.Contains(text, `<main id="main" data-live>`); followed != want {
			t.Errorf("%s is followed: %t", path, followed)
		}
	}
}

// TestBusiestMinute: the partitions of a time are those of the minute with the hottest key,
// and nothing is known of a time whose seconds are not stored.
func TestBusiestMinute(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(-3 * time.Hour).Truncate(time.Hour).UTC()
	s := heated(t, start, 3600, func(second int) []load {
		if second/60 == 41 {
			return []load{{"key#7", 900, 0}}
		}
		return []load{{"key#7", 100, 0}}
	}, nil, 0)
	addPartitions(t, s)
	address := serve(t, s)
	text := open(t, address+"/partitions?table=orders&"+between(start, start.Add(time.Hour)).Encode()).text()
	if want := start.Add(41*time.Minute).Format("15:04:05") + " to " + start.Add(42*time.Minute).Format("15:04:05"); !strings.Contains(text, want) || !strings.Contains(text, "900 WCU/s") {
		t.Errorf("the busiest minute is not %s: %s", want, text)
	}
	text = open(t, address+"/partitions?table=orders&"+between(start.Add(-2*time.Hour), start.Add(-time.Hour)).Encode()).text()
	if !strings.Contains(text, "no second of this time is stored") {
		t.Errorf("before the first second the page says %s", text)
	}
	if partitions.Span != time.Minute {
		t.Errorf("the loads are of %s", partitions.Span)
	}
}

// TestLostOfATime: the status page has what was rejected in the chosen hours.
func TestLostOfATime(t *testing.T) {
	t.Parallel()
	s := many(t, 1)
	now := time.Now()
	must(t, s.StartWriter(t.Context(), store.Writer{ID: "a", Started: now}))
	must(t, s.Commit(t.Context(), store.Commit{
		Writer: "a", Seq: 1,
		Bad:  []store.BadSample{{Hour: now, Source: "kafka", Reason: "bad_table", Count: 30}, {Hour: now.Add(-24 * time.Hour), Source: "kafka", Reason: "bad_table", Count: 4}},
		Gaps: []store.Gap{{Gap: sample.Gap{Source: "kafka", Partition: "5", Since: now.Add(-25 * time.Hour), Until: now.Add(-24*time.Hour - time.Minute), Reason: "the records expired"}, Noticed: now.Add(-24 * time.Hour)}},
	}))
	p := open(t, serve(t, s)+"/status?span=2h")
	for _, want := range []string{"Rejected samples 30", "Gaps: none"} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("the page does not say %q: %s", want, p.text())
		}
	}
}
