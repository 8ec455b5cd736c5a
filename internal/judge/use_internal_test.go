package judge

import (
	"context"
	"testing"
	"time"

	"github.com/keyheat/keyheat/detect/corroboration"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// minutesOf is a store with one write unit in each minute from a time on, and reads in
// those that are named.
type minutesOf struct {
	Store
	from, to time.Time
	reads    map[time.Time]float64
	handed   int
}

func (m *minutesOf) CloudWatchMinutes(_ context.Context, at sample.Target, since time.Time) (all []store.CloudWatchMinute, _ error) {
	if since.Before(m.from) {
		since = m.from
	}
	for minute := since; minute.Before(m.to); minute = minute.Add(time.Minute) {
		metrics := map[string]float64{string(corroboration.ConsumedWrite): 1}
		if read := m.reads[minute]; read > 0 {
			metrics[string(corroboration.ConsumedRead)] = read
		}
		all = append(all, store.CloudWatchMinute{Target: at, Minute: minute, Metrics: metrics})
	}
	m.handed += len(all)
	return all, nil
}

// TestUseOfAnIndex: the sums are those of the last 14 days, whenever they are loaded, and
// what is loaded again is the last day.
func TestUseOfAnIndex(t *testing.T) {
	t.Parallel()
	index := sample.Target{Table: "orders", Index: "by-status"}
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	st, u := &minutesOf{from: begin, reads: map[time.Time]float64{begin.Add(26 * time.Hour): 5}}, make(uses)
	at := func(after time.Duration) corroboration.Use {
		t.Helper()
		st.to, st.handed = begin.Add(after), 0
		if _, err := u.load(t.Context(), st, index, st.to); err != nil {
			t.Fatal(err)
		}
		return u[index].sum()
	}
	if got := at(5 * day); got.Write != 5*24*60 || got.Read != 5 || got.Minutes != 5*24*60 || !got.Since.Equal(begin) || !got.Until.Equal(begin.Add(5*day)) {
		t.Errorf("after five days %+v", got)
	}
	if got := at(5*day + time.Minute); got.Write != 5*24*60 || st.handed != 0 {
		t.Errorf("a minute later %+v, of %d minutes", got, st.handed)
	}
	if got := at(5*day + 2*time.Hour); got.Write != 5*24*60+120 || got.Read != 5 || st.handed > 2*24*60 {
		t.Errorf("two hours later %+v, of %d minutes", got, st.handed)
	}
	for hour := 5*day + 3*time.Hour; hour < 16*day+12*time.Hour; hour += time.Hour {
		at(hour)
	}
	if got := at(16*day + 12*time.Hour); got.Read != 0 || !got.Since.Equal(begin.Add(2*day)) || got.Write != 14.5*24*60 {
		t.Errorf("when the read is longer ago %+v", got)
	}
}
