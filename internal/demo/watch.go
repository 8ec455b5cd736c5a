package demo

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// secondsKept is how many seconds of a watched key are known.
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

// watched is the last seconds of a key, the newest last.
type watched struct {
	seconds []keySecond
	// refused is when its first attempt was refused.
	refused time.Time
}

// watch counts something of a request in the second of its time, where the key is
// watched.
func (s *simulation) watch(r *request, count func(*keySecond)) {
	w := s.watched[r.key]
	if w == nil {
		return
	}
	at := time.UnixMilli(r.at).Truncate(time.Second)
	i, found := slices.BinarySearchFunc(w.seconds, at, func(s keySecond, at time.Time) int { return s.At.Compare(at) })
	if !found {
		w.seconds = slices.Insert(w.seconds, i, keySecond{At: at})
		if len(w.seconds) > secondsKept+2 { // the newest may have just begun
			w.seconds = slices.Delete(w.seconds, 0, 1)
			i = max(i-1, 0)
		}
	}
	count(&w.seconds[i])
	if w.refused.IsZero() && w.seconds[i].Refused > 0 {
		w.refused = time.UnixMilli(r.at)
	}
}

// RefusedAt returns when the first attempt for a watched key was refused; zero before.
func (s *simulation) RefusedAt(key string) time.Time { return s.watched[key].refused }

// Seconds returns the seconds of a watched key that are over at a time, the last
// secondsKept of them; seconds without a request are zero.
func (s *simulation) Seconds(key string, at time.Time) []keySecond {
	all := make([]keySecond, secondsKept)
	first := at.Truncate(time.Second).Add(-secondsKept * time.Second)
	for i := range all {
		all[i].At = first.Add(time.Duration(i) * time.Second)
	}
	for _, known := range s.watched[key].seconds {
		if i := int(known.At.Sub(first) / time.Second); i >= 0 && i < secondsKept {
			all[i] = known
			all[i].byName = nil
		}
	}
	return all
}
