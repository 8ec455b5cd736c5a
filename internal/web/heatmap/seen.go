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

// countedTime has the seconds that were counted whole, as bits of stored minutes.
type countedTime map[int64]uint64

// loadCounted returns the counted seconds from one time to another. Gaps that were noticed
// later are taken out; one of unknown bounds has no seconds.
func loadCounted(ctx context.Context, st *store.Store, from, to time.Time) (countedTime, error) {
	begin := from.Truncate(time.Minute)
	rows, err := st.SeenMinutes(ctx, begin, to, int(to.Sub(begin)/time.Minute)+1)
	if err != nil {
		return nil, err
	}
	gaps, err := st.Gaps(ctx, store.GapQuery{From: from, To: to, Limit: maxGaps})
	c := make(countedTime, len(rows))
	for _, row := range rows {
		c[row.Minute.Unix()] = row.Seconds
	}
	for _, g := range gaps {
		if g.Since.IsZero() || g.Until.IsZero() {
			continue
		}
		for second := max(begin.Unix(), g.Since.Unix()); second <= min(to.Unix()-1, g.Until.Unix()); second++ {
			if minute := second - second%60; c[minute] != 0 {
				c[minute] &^= 1 << (second % 60)
			}
		}
	}
	return c, err
}

// seconds counts the seconds of a step that were counted whole, and reports whether a minute
// of it is stored. Steps are a part of a minute, or whole ones.
func (c countedTime) seconds(at time.Time, step int64) (n int64, stored bool) {
	for from := at.Unix(); from < at.Unix()+step; from += 60 {
		seconds, is := c[from-from%60]
		if stored = stored || is; step < 60 {
			seconds = seconds >> (from % 60) & (1<<step - 1)
		}
		n += int64(bits.OnesCount64(seconds))
	}
	return n, stored
}

// isWhole reports whether all seconds of a length were counted; of none they were.
func (c countedTime) isWhole(at time.Time, length time.Duration) bool {
	if length > time.Minute {
		length = length.Truncate(time.Minute)
	}
	n, _ := c.seconds(at, int64(length/time.Second))
	return n >= int64(length/time.Second)
}

// seenSeconds returns the seconds of each column that were counted whole. Where no minute is
// stored any more, these are the seconds of its roll-up.
func seenSeconds(ctx context.Context, st *store.Store, m *chart.Map, columns loads) ([]int64, error) {
	counted, err := loadCounted(ctx, st, m.From, m.To)
	if err != nil {
		return nil, err
	}
	all := make([]int64, m.To.Sub(m.From)/(time.Duration(m.Step)*time.Second))
	for i := range all {
		n, stored := counted.seconds(m.ColumnTime(i), m.Step)
		if r := columns[m.ColumnTime(i).Unix()]; r != nil {
			if !stored {
				n = r.Seconds
			}
			n = max(0, n-r.Incomplete)
		}
		all[i] = n
	}
	return all, nil
}
