package heatmap_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/web/address"
	"github.com/keyheat/keyheat/internal/web/heatmap"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// TestRange has the times of findings and of addresses, and the time of the chart.
func TestRange(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name        string
		first, last time.Time
		query       string
		from, to    time.Time
	}{
		{"a short episode", now.Add(-10 * time.Minute), now.Add(-9 * time.Minute), "", now.Add(-10*time.Minute - 30*time.Second), now.Add(-8*time.Minute - 30*time.Second)},
		{"a long one", now.Add(-5 * time.Hour), now, "", now.Add(-5*time.Hour - 30*time.Second), now},
		{"one beyond what a map shows", now.Add(-9000 * time.Hour), now, "", now.Add(-address.MaxSpan), now},
		{"one of a clock that is ahead", now.Add(time.Hour), now.Add(time.Hour), "", now.Add(-6 * time.Minute), now},
		{"a length", now.Add(-5 * time.Hour), now, "span=6h", now.Add(-6 * time.Hour), now},
		{"a time", now, now, "from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z", now.Add(-60 * time.Hour), now.Add(-36 * time.Hour)},
		{"a form's time", now, now, "from=2026-11-20T00:00&to=2026-11-21T00:00:30", now.Add(-60 * time.Hour), now.Add(-36*time.Hour + 30*time.Second)},
		{"the present", now.Add(-5 * time.Hour), now.Add(-4 * time.Hour), "span=1h&to=now", now.Add(-time.Hour), now},
		{"from an address's empty fields", now.Add(-5 * time.Hour), now, "span=&from=&to=", now.Add(-5*time.Hour - 30*time.Second), now},
	} {
		values, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.KeyString("k"))
		f.FirstSeen, f.LastSeen = c.first, c.last
		if r, err := address.ParseRange(values, now, heatmap.EpisodeRange(&f, now)); err != nil || !r.From.Equal(c.from) || !r.To.Equal(c.to) {
			t.Errorf("%s: from %s to %s, %v; want from %s to %s", c.name, r.From, r.To, err, c.from, c.to)
		}
	}
	f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.KeyString("k"))
	for _, wrong := range []url.Values{{"span": {"long"}}, {"from": {"yesterday"}}, {"span": {"9000h"}}} {
		if _, err := address.ParseRange(wrong, now, heatmap.EpisodeRange(&f, now)); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

// TestTimeControl: each link keeps the page's other parameters and changes one thing.
func TestTimeControl(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	asked := url.Values{"span": {"1h"}, "to": {"2026-11-22T10:00:00Z"}, "table": {"orders"}}
	r, err := address.ParseRange(asked, now, address.LastHour(now))
	if err != nil {
		t.Fatal(err)
	}
	c := address.NewTimeControl("/heat", url.Values{"table": {"orders"}}, asked, r, "Newest", now)
	got := []string{c.Window(), c.Spans[0].Link, c.Spans[1].Link, c.Back, c.Later, c.Now}
	want := []string{
		"22 Nov 09:00 – 10:00 UTC", "/heat?table=orders",
		"/heat?span=5m&table=orders&to=2026-11-22T10%3A00%3A00Z",
		"/heat?span=1h&table=orders&to=2026-11-22T09%3A30%3A00Z", "/heat?span=1h&table=orders&to=2026-11-22T10%3A30%3A00Z",
		"/heat?span=1h&table=orders&to=now",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the control has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := address.NewTimeControl("/", url.Values{}, url.Values{}, address.Range{}, "Any time", now); c.Back+c.Now != "" || c.Spans[0].Link != "/" || !c.Spans[0].Chosen {
		t.Errorf("without bounds the control is %+v", c)
	}
}

// TestNothingIsStored: a finding without times, or of which nothing is stored, has no
// picture.
func TestNothingIsStored(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), "sqlite::memory:", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, at := range []time.Time{{}, time.Now()} {
		f := detect.NewFinding(detect.KeyWrites, detect.Target{Table: "orders"}, sample.KeyString("k"))
		f.FirstSeen, f.LastSeen = at, at
		r := heatmap.EpisodeRange(&f, time.Now())
		if c, err := heatmap.LoadSeconds(t.Context(), s, &f, r); err != nil || c != nil {
			t.Errorf("a chart of nothing is %+v, %v", c, err)
		}
	}
}
