package storetest

import (
	"math"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

var peaks = []obligation{
	{"an hour's peak is raised and never lowered", peakRaised},
	{"peaks are found by key and in the order of time", peaksByKey},
	{"warm keys are found with their highest hour", warmKeys},
	{"of too many warm keys the highest stay", warmKeysBounded},
	{"a lost lease writes no peak and no view", peaksFenced},
	{"a table's view is replaced whole", viewReplaced},
}

func peak(hash uint64, hours int, write, read int64) store.HourPeak {
	return store.HourPeak{
		Target: byStatus, Hash: hash, KeyType: "S", Key: "OPEN",
		Hour:       noon.Truncate(time.Hour).Add(time.Duration(hours) * time.Hour),
		WriteMilli: write, ReadMilli: read,
	}
}

func hourPeaks(t *testing.T, s *store.Store, hash uint64, since time.Time) []store.HourPeak {
	t.Helper()
	return value[[]store.HourPeak](t)(s.HourPeaks(t.Context(), byStatus, hash, since))
}

func peakRaised(t *testing.T, s *store.Store) {
	// A hash above the largest signed number is one like any other.
	const hash = math.MaxUint64 - 1
	short := peak(hash, 0, 5000, 700)
	short.Key = "OP"
	judge(t, s, store.Judgement{Peaks: []store.HourPeak{short}})
	judge(t, s, store.Judgement{Peaks: []store.HourPeak{peak(hash, 0, 4000, 900)}})
	judge(t, s, store.Judgement{Peaks: []store.HourPeak{short}})
	equal(t, "peaks", hourPeaks(t, s, hash, time.Time{}), []store.HourPeak{peak(hash, 0, 5000, 900)})
}

func peaksByKey(t *testing.T, s *store.Store) {
	other := peak(7, 1, 1, 1)
	other.Index = ""
	judge(t, s, store.Judgement{Peaks: []store.HourPeak{peak(7, 2, 2, 0), peak(7, 0, 1, 0), peak(8, 1, 9, 9), other, peak(7, 1, 3, 0)}})
	equal(t, "all of a key", hourPeaks(t, s, 7, time.Time{}),
		[]store.HourPeak{peak(7, 0, 1, 0), peak(7, 1, 3, 0), peak(7, 2, 2, 0)})
	equal(t, "since an hour", hourPeaks(t, s, 7, peak(7, 1, 0, 0).Hour),
		[]store.HourPeak{peak(7, 1, 3, 0), peak(7, 2, 2, 0)})
}

func warmKeys(t *testing.T, s *store.Store) {
	judge(t, s, store.Judgement{Peaks: []store.HourPeak{
		peak(1, 0, 100, 0), peak(1, 1, 300, 10), peak(2, 0, 0, 2000), peak(3, 0, 1, 1),
	}})
	want := []store.WarmKey{
		{Hash: 2, KeyType: "S", Key: "OPEN", ReadMilli: 2000},
		{Hash: 1, KeyType: "S", Key: "OPEN", WriteMilli: 300, ReadMilli: 10},
		{Hash: 3, KeyType: "S", Key: "OPEN", WriteMilli: 1, ReadMilli: 1},
	}
	got := value[[]store.WarmKey](t)(s.WarmKeys(t.Context(), byStatus, time.Time{}, 0))
	equal(t, "warm keys", got, want)
	got = value[[]store.WarmKey](t)(s.WarmKeys(t.Context(), byStatus, peak(1, 1, 0, 0).Hour, 1))
	equal(t, "the first since an hour", got, []store.WarmKey{{Hash: 1, KeyType: "S", Key: "OPEN", WriteMilli: 300, ReadMilli: 10}})
}

func warmKeysBounded(t *testing.T, s *store.Store) {
	var all []store.HourPeak
	for hash := range uint64(5) {
		all = append(all, peak(hash, 0, 100*int64(hash), 0), peak(hash, 1, 1, 0))
	}
	other := peak(0, 0, 1, 0)
	other.Table = "carts"
	judge(t, s, store.Judgement{Peaks: append(all, other)})
	equal(t, "pruned", prune(t, s, store.Retention{WarmKeys: 2}), store.Pruned{"hourly_peaks": 6})
	got := value[[]store.WarmKey](t)(s.WarmKeys(t.Context(), byStatus, time.Time{}, 0))
	if len(got) != 2 || got[0].Hash != 4 || got[1].Hash != 3 {
		t.Errorf("left are %+v, want the two highest", got)
	}
	equal(t, "hours of the highest", len(value[[]store.HourPeak](t)(s.HourPeaks(t.Context(), byStatus, 4, time.Time{}))), 2)
	equal(t, "of another table", len(value[[]store.WarmKey](t)(s.WarmKeys(t.Context(), sample.Target{Table: "carts", Index: "by-status"}, time.Time{}, 0))), 1)
}

func peaksFenced(t *testing.T, s *store.Store) {
	old := lead(t, s, "first")
	must(t, s.ReleaseLease(t.Context(), old))
	lead(t, s, "second")
	err := s.Judge(t.Context(), old, store.Judgement{
		Peaks: []store.HourPeak{peak(1, 0, 1, 1)}, Views: []store.TargetDocument{{Target: sample.Target{Table: "t"}}},
	})
	if err == nil {
		t.Error("a judgement under a lost lease was written")
	}
	equal(t, "peaks", hourPeaks(t, s, 1, time.Time{}), nil)
	equal(t, "views", value[[]store.TargetDocument](t)(s.TableViews(t.Context())), nil)
}

func viewReplaced(t *testing.T, s *store.Store) {
	put := func(table, document string) {
		judge(t, s, store.Judgement{Views: []store.TargetDocument{{Target: sample.Target{Table: table, Index: "i"}, Document: []byte(document)}}})
	}
	put("orders", `{"first":1}`)
	put("carts", `{}`)
	put("orders", `{"second":2}`)
	got := value[[]store.TargetDocument](t)(s.TableViews(t.Context()))
	for i := range got {
		near(t, "written", got[i].Updated)
		got[i].Updated = time.Time{}
	}
	equal(t, "views", got, []store.TargetDocument{
		{Target: sample.Target{Table: "carts", Index: "i"}, Document: []byte(`{}`)}, {Target: sample.Target{Table: "orders", Index: "i"}, Document: []byte(`{"second":2}`)},
	})
}
