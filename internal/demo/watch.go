package demo

import (
	"maps"
	"time"

	"github.com/keyheat/keyheat/sample"
)

const secondsKept = 60

// keySecond is the outcome of a key's requests in one second. Units are the sum of reads and
// writes.
type keySecond struct {
	At time.Time
	// Asked is the requested load without retries, and Served the part that partitions
	// served; Fullest is one name's part of it, if the key is sharded.
	Asked, Served, Fullest sample.Milli
	// RefusedAt is how many attempts were refused, and Failed how many calls were given up.
	Refused, Failed int

	byName map[string]sample.Milli
}

func (w *keySecond) count(r *sample.Record, served bool) {
	if !served {
		w.Refused++
		if r.Failed {
			w.Failed++
		}
		return
	}
	w.Served += r.RCU + r.WCU
	if w.byName == nil {
		w.byName = make(map[string]sample.Milli)
	}
	w.byName[r.PK.Text] += r.RCU + r.WCU
	w.Fullest = max(w.Fullest, w.byName[r.PK.Text])
}

type watched struct {
	seconds map[int64]*keySecond
	refused time.Time
}

// watch counts something of a request in the second of a time, in Unix milliseconds, where
// the key is watched.
func (s *simulation) watch(key string, at int64, count func(*keySecond)) {
	w := s.watched[key]
	if w == nil {
		return
	}
	second := at / 1000
	if w.seconds[second] == nil {
		w.seconds[second] = &keySecond{At: time.Unix(second, 0)}
		maps.DeleteFunc(w.seconds, func(old int64, _ *keySecond) bool { return old < second-secondsKept-2 })
	}
	count(w.seconds[second])
	if w.refused.IsZero() && w.seconds[second].Refused > 0 {
		w.refused = time.UnixMilli(at)
	}
}

// Seconds returns the last secondsKept seconds of a watched key; seconds without a request are
// zero.
func (s *simulation) Seconds(key string) []keySecond {
	all := make([]keySecond, secondsKept)
	first := s.next - secondsKept
	for i := range all {
		all[i].At = time.Unix(first+int64(i), 0)
		if known := s.watched[key].seconds[first+int64(i)]; known != nil {
			all[i] = *known
		}
	}
	return all
}
