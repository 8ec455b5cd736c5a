package storetest

import (
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var gaps = []obligation{
	{"a gap is kept as it was noticed", gapKept},
	{"gaps are found by the time that they may touch", gapsByTime},
	{"a database that was set back is recorded once", wentBackOnce},
}

var badSamples = []obligation{
	{"counts of bad samples add by the hour", badAdd},
	{"excerpts are bounded", badExcerpts},
	{"bad samples are found by source and time", badQuery},
}

// gap is a gap of a numbered partition.
func gap(n int, g sample.Gap) store.Gap {
	id := partition(n)
	g.Source, g.Partition = id.Source, id.Name
	return store.Gap{Gap: g}
}

func gapKept(t *testing.T, s *store.Store) {
	want := gap(1, sample.Gap{From: "5", To: "9", Since: noon, Until: noon.Add(time.Minute), Reason: "trimmed before it was read"})
	want.Noticed = noon.Add(time.Hour)
	unknown := gap(2, sample.Gap{Reason: "shard vanished"})
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Gaps: []store.Gap{want, unknown}}))
	got := value[[]store.Gap](t)(s.Gaps(t.Context(), store.GapQuery{}))
	if len(got) != 2 {
		t.Fatalf("there are %d gaps, want 2", len(got))
	}
	for _, g := range got {
		if g.Partition == "2" {
			near(t, "noticed", g.Noticed)
			unknown.Noticed = g.Noticed
			equal(t, "gap of unknown bounds", g, unknown)
		} else {
			equal(t, "gap", g, want)
		}
	}
}

func gapsByTime(t *testing.T, s *store.Store) {
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Gaps: []store.Gap{
		{Gap: sample.Gap{Source: "x", Reason: "10 to 20", Since: at(10), Until: at(20)}, Noticed: at(3)},
		{Gap: sample.Gap{Source: "x", Reason: "from 30", Since: at(30)}, Noticed: at(2)},
		{Gap: sample.Gap{Source: "y", Reason: "any time"}, Noticed: at(1)},
	}}))
	for _, c := range []struct {
		name  string
		query store.GapQuery
		want  []string
	}{
		{"all", store.GapQuery{}, []string{"10 to 20", "from 30", "any time"}},
		{"inside", store.GapQuery{From: at(12), To: at(13)}, []string{"10 to 20", "any time"}},
		{"between", store.GapQuery{From: at(21), To: at(29)}, []string{"any time"}},
		{"after", store.GapQuery{From: at(21)}, []string{"from 30", "any time"}},
		{"a source", store.GapQuery{Source: "x"}, []string{"10 to 20", "from 30"}},
		{"the newest", store.GapQuery{Limit: 1}, []string{"10 to 20"}},
	} {
		var got []string
		for _, g := range value[[]store.Gap](t)(s.Gaps(t.Context(), c.query)) {
			got = append(got, g.Reason)
		}
		equal(t, c.name, got, c.want)
	}
}

func badAdd(t *testing.T, s *store.Store) {
	put := func(writer string, seq int64, at time.Time, reason string, n int64) {
		must(t, s.Commit(t.Context(), store.Commit{Writer: writer, Seq: seq, Bad: []store.BadSample{
			{Hour: at, Source: "kafka", Reason: reason, Count: n}}}))
	}
	put("a", 1, noon, "units", 2)
	put("a", 2, noon.Add(time.Minute), "units", 3)
	put("a", 3, noon.Add(time.Hour), "units", 10)
	put("a", 4, noon, "table", 7)
	put("b", 1, noon, "units", 100)
	hour := noon.Truncate(time.Hour)
	equal(t, "bad samples", value[[]store.BadSample](t)(s.BadSamples(t.Context(), store.BadQuery{})), []store.BadSample{
		{Writer: "a", Hour: hour.Add(time.Hour), Source: "kafka", Reason: "units", Count: 10},
		{Writer: "a", Hour: hour, Source: "kafka", Reason: "table", Count: 7},
		{Writer: "a", Hour: hour, Source: "kafka", Reason: "units", Count: 5},
		{Writer: "b", Hour: hour, Source: "kafka", Reason: "units", Count: 100},
	})
}

func badExcerpts(t *testing.T, s *store.Store) {
	for seq, excerpts := range [][]sample.Text{{"1", "2", "3"}, {"4", "5", "6", "7"}, {"8"}} {
		must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: int64(seq) + 1, Bad: []store.BadSample{
			{Hour: noon, Source: "kafka", Reason: "json", Count: int64(len(excerpts)), Excerpts: excerpts}}}))
	}
	must(t, s.Commit(t.Context(), store.Commit{Writer: "b", Seq: 1, Bad: []store.BadSample{
		{Hour: noon, Source: "kafka", Reason: "json", Count: 1, Excerpts: []sample.Text{"of b"}},
		{Hour: noon.Add(time.Hour), Source: "kafka", Reason: "json", Count: 1, Excerpts: []sample.Text{"later"}},
		{Hour: noon, Source: "kafka", Reason: "key", Count: 1},
	}}))
	all := value[[]store.BadSample](t)(s.BadSamples(t.Context(), store.BadQuery{}))
	equal(t, "count", all[1].Count, 8)
	var got [][]sample.Text
	for _, b := range all {
		got = append(got, b.Excerpts)
	}
	equal(t, "excerpts", got, [][]sample.Text{{"later"}, {"1", "2", "3", "4", "5"}, {"of b"}, nil})
}

func badQuery(t *testing.T, s *store.Store) {
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Bad: []store.BadSample{
		{Hour: noon, Source: "x", Reason: "1", Count: 1},
		{Hour: noon.Add(time.Hour), Source: "x", Reason: "2", Count: 1},
		{Hour: noon.Add(time.Hour), Source: "y", Reason: "3", Count: 1},
	}}))
	for _, c := range []struct {
		name  string
		query store.BadQuery
		want  []string
	}{
		{"source", store.BadQuery{Source: "x"}, []string{"2", "1"}},
		{"limit", store.BadQuery{Limit: 1}, []string{"2"}},
		{"the hour of the beginning", store.BadQuery{From: noon.Add(90 * time.Minute)}, []string{"2", "3"}},
		{"the end is outside", store.BadQuery{To: noon.Truncate(time.Hour).Add(time.Hour)}, []string{"1"}},
	} {
		var got []string
		for _, b := range value[[]store.BadSample](t)(s.BadSamples(t.Context(), c.query)) {
			got = append(got, b.Reason)
		}
		equal(t, c.name, got, c.want)
	}
}

// wentBackOnce has a database that was set back noticed by everybody, a collector first: one
// gap tells of it, since the last commit that the database still has, and another setback is
// another gap.
func wentBackOnce(t *testing.T, s *store.Store) {
	claim := value[store.Position](t)(s.Claim(t.Context(), "a", store.Claim{PartitionID: partition(1), First: "0"}))
	must(t, s.Commit(t.Context(), store.Commit{Writer: "a", Seq: 1, Watermarks: []store.Watermark{{PartitionID: claim.PartitionID, Epoch: claim.Epoch, Time: noon}}}))
	since := value[[]store.Watermark](t)(s.Watermarks(t.Context()))[0].Seen
	for range 2 {
		must(t, s.RestartWriter(t.Context(), store.Writer{ID: "a", Started: noon}))
		equal(t, "gaps", len(value[[]store.Gap](t)(s.Gaps(t.Context(), store.GapQuery{Source: "store"}))), 1)
		must(t, s.RecordWentBack(t.Context(), "judge", since))
	}
	for times := 1; times <= 2; times++ {
		got := value[[]store.Gap](t)(s.Gaps(t.Context(), store.GapQuery{Source: "store"}))
		if len(got) != times || got[len(got)-1].Since != since || got[0].Until.Before(got[0].Since) {
			t.Fatalf("setback %d left the gaps %+v, want one each, the first since %s", times, got, since)
		}
		must(t, s.RecordWentBack(t.Context(), "judge", value[time.Time](t)(s.Now(t.Context())).Add(time.Microsecond)))
	}
}
