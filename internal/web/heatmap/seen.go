package heatmap

import (
	"context"
	"math/bits"
	"time"

	"github.com/keyheat/keyheat/internal/heat"
	"github.com/keyheat/keyheat/store"
)

// maxGaps bounds the gaps that are looked at, the newest of the time of a map.
const maxGaps = 1000

// seen returns how many seconds of each column were counted whole.
func (l loader) seen(ctx context.Context, m *Map, columns map[int64]*heat.Rollup) ([]int64, error) {
	from := m.From.Truncate(time.Minute)
	rows, err := l.SeenMinutes(ctx, from, m.To, int(m.To.Sub(from)/time.Minute)+1)
	if err != nil {
		return nil, err
	}
	first, err := l.SeenMinutes(ctx, time.Time{}, time.Time{}, 1)
	if err != nil {
		return nil, err
	}
	gaps, err := l.Gaps(ctx, store.GapQuery{From: m.From, To: m.To, Limit: maxGaps})
	if err != nil {
		return nil, err
	}
	minutes := make(map[int64]uint64, len(rows))
	for _, row := range rows {
		minutes[row.Minute.Unix()] = row.Seconds
	}
	for _, g := range gaps {
		clearGap(minutes, g, m.From.Unix(), m.To.Unix())
	}
	all := make([]int64, m.To.Sub(m.From)/(time.Duration(m.Step)*time.Second))
	for i := range all {
		at := m.At(i)
		all[i] = count(minutes, at.Unix(), m.Step)
		r := columns[at.Unix()]
		if r == nil {
			continue
		}
		if len(first) == 0 || at.Before(first[0].Minute) { // of before this was kept
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

// count counts the seconds from one on. Steps are a part of a minute, or whole ones.
func count(minutes map[int64]uint64, from, step int64) (n int64) {
	if step < 60 {
		return int64(bits.OnesCount64(minutes[from-from%60] >> (from % 60) & (1<<step - 1)))
	}
	for minute := from; minute < from+step; minute += 60 {
		n += int64(bits.OnesCount64(minutes[minute]))
	}
	return n
}
