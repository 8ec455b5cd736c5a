package fold

import (
	"maps"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

const (
	// lateShare is the least part of a table's requests, at one reading, that has to be late:
	// a stray sample says nothing of the others.
	lateShare = 0.01
	// lateMemory is how long after the last late sample, beside the lateness itself, late
	// samples may still come.
	lateMemory = 2 * time.Minute
)

// Late knows how late samples come: how long after their second counted as complete. Samples
// of a partition that lags are not late, since no second is complete without it.
type Late map[sample.Target]lateness

type lateness struct {
	seconds int64
	// at is when so late a sample came, and newest when any late one did; the database's
	// time.
	at, newest time.Time
}

// Observe takes the deltas of one reading. All seconds before complete counted as complete
// before. It returns the tables and indexes whose lateness changed.
func (l Late) Observe(deltas []Delta, complete int64, now time.Time) (changed map[sample.Target]int64) {
	before := maps.Clone(l)
	for of, latest := range lateParts(deltas, complete) {
		known, has := l[of]
		if !has && len(l) >= maxTargets {
			continue
		}
		if latest >= known.seconds || now.Sub(known.at) > lateMemory {
			known.seconds, known.at = latest, now
		}
		known.newest = now
		l[of] = known
	}
	changed = make(map[sample.Target]int64)
	for of, known := range l {
		if now.Sub(known.newest) > lateMemory+time.Duration(known.seconds)*time.Second {
			delete(l, of)
		}
		if l[of].seconds != before[of].seconds {
			changed[of] = l[of].seconds
		}
	}
	return changed
}

// lateParts returns how late the latest samples are of each table and index with late ones.
func lateParts(deltas []Delta, complete int64) map[sample.Target]int64 {
	latest := make(map[sample.Target]int64)
	all, late := make(map[sample.Target]int64), make(map[sample.Target]int64)
	for i := range deltas {
		for at, parts := range deltas[i].windows {
			requests := int64(0)
			for _, w := range parts {
				requests += w.Total.Requests
			}
			all[at.Target] += requests
			if by := complete - at.Second; by > 0 && complete > 0 {
				late[at.Target] += requests
				latest[at.Target] = min(detect.Horizon, max(latest[at.Target], by))
			}
		}
	}
	maps.DeleteFunc(latest, func(of sample.Target, _ int64) bool { return float64(late[of]) < lateShare*float64(all[of]) })
	return latest
}

// Suppose expects samples of a table or index to come as late as an outage lasted.
func (l Late) Suppose(of sample.Target, seconds int64, now time.Time) {
	if _, has := l[of]; has || len(l) < maxTargets {
		l[of] = lateness{seconds, now, now}
	}
}

// Seconds returns how late the samples of a table or index come; 0 if they come in time.
func (l Late) Seconds(of sample.Target) int64 { return l[of].seconds }
