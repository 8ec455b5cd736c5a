package heatmap

import (
	"context"
	"math/bits"
	"time"

	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/store"
)

// maxGaps bounds the gaps that are looked at, the newest of the time of a map.
const maxGaps = 1000

// countedTime knows the seconds that were counted whole.
type countedTime struct {
	minutes map[int64]uint64
	// first and last are the first stored minute and the last one of the time that was
	// asked for; zero for none.
	first, last time.Time
}

// loadCounted returns the seconds from one time to another that were counted whole. Gaps
// that were noticed later are taken out.
func loadCounted(ctx context.Context, st *store.Store, from, to time.Time) (c countedTime, err error) {
	begin := from.Truncate(time.Minute)
	rows, err := st.SeenMinutes(ctx, begin, to, int(to.Sub(begin)/time.Minute)+1)
	if err != nil {
		return c, err
	}
	first, err := st.SeenMinutes(ctx, time.Time{}, time.Time{}, 1)
	if err != nil {
		return c, err
	}
	gaps, err := st.Gaps(ctx, store.GapQuery{From: from, To: to, Limit: maxGaps})
	if err != nil {
		return c, err
	}
	c.minutes = make(map[int64]uint64, len(rows))
	for _, row := range rows {
		c.minutes[row.Minute.Unix()], c.last = row.Seconds, row.Minute
	}
	for _, g := range gaps {
		clearGap(c.minutes, g, from.Unix(), to.Unix())
	}
	if len(first) > 0 {
		c.first = first[0].Minute
	}
	return c, nil
}

// seconds counts the seconds of a step that were counted whole. Steps are a part of a
// minute, or whole ones.
func (c countedTime) seconds(at time.Time, step int64) (n int64) {
	from := at.Unix()
	if step < 60 {
		return int64(bits.OnesCount64(c.minutes[from-from%60] >> (from % 60) & (1<<step - 1)))
	}
	for minute := from; minute < from+step; minute += 60 {
		n += int64(bits.OnesCount64(c.minutes[minute]))
	}
	return n
}

func (c countedTime) any() bool {
	for _, seconds := range c.minutes {
		if seconds != 0 {
			return true
		}
	}
	return false
}

func (c countedTime) isBefore(at time.Time) bool { return c.first.IsZero() || at.Before(c.first) }

// isDecided reports whether the counted seconds of a minute are known by now: they are
// written when the minute is over.
func (c countedTime) isDecided(minute time.Time) bool { return !minute.After(c.last) }

// seenSeconds returns the seconds of each column that were counted whole.
func seenSeconds(ctx context.Context, st *store.Store, m *chart.Map, columns loads) ([]int64, error) {
	counted, err := loadCounted(ctx, st, m.From, m.To)
	if err != nil {
		return nil, err
	}
	all := make([]int64, m.To.Sub(m.From)/(time.Duration(m.Step)*time.Second))
	for i := range all {
		at := m.ColumnTime(i)
		all[i] = counted.seconds(at, m.Step)
		r := columns[at.Unix()]
		if r == nil {
			continue
		}
		if counted.isBefore(at) {
			all[i] = max(all[i], r.Seconds)
		}
		all[i] = max(0, all[i]-r.Incomplete)
	}
	return all, nil
}

// clearGap takes the seconds of a gap out. One of unknown bounds has none.
func clearGap(minutes map[int64]uint64, g store.Gap, from, to int64) {
	if g.Since.IsZero() || g.Until.IsZero() {
		return
	}
	for second := max(from, g.Since.Unix()); second <= min(to-1, g.Until.Unix()); second++ {
		minutes[second-second%60] &^= 1 << (second % 60)
	}
}
