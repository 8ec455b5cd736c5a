package contention

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// maxKeys is the most keys that a Watch follows. Further ones take the place of the key that lost
// no attempt for the longest.
const maxKeys = 256

// Watch follows the keys with lost attempts.
type Watch map[keyID]*key

type keyID struct {
	target detect.Target
	hash   uint64
}

// key is the last minutes of one key, and the contention of its most contended item.
type key struct {
	seconds []second // by time, within the horizon of a minute
	// since is the second from which all attempts are known: a shard counts a key from a lost
	// attempt on, and until a minute after the last one, which is lost.
	since, lost int64
	// silence is what the seconds before these show of it.
	silence sampling.Silence
	Episode
}

// second is the contention of a key in one second.
type second struct {
	at int64
	*sketch.Contention
	rate float64 // the smallest sampling rate, 0 if all requests were seen
	// assumed reports that records do not state which requests were drawn together.
	assumed bool
}

// Episode is a contention from its first minute on.
type Episode struct {
	Target detect.Target
	Key    sample.Key
	// First and Last are the first and the last second with a lost attempt, Through the last
	// second that was looked at, and Seconds counts the ones with attempts.
	First, Last, Through, Seconds int64
	// Severity is the worst of the episode; empty for none.
	Severity detect.Severity
	// Figures are of the newest minute of contention.
	Figures detect.Contention
	Sampled bool
	// Rate is the sampling rate, 0 if there are several.
	Rate float64
	// Silence is the time without a lost attempt. Requests do not count: a shard tells of a key
	// for a minute after its last lost attempt.
	Silence sampling.Silence
}

// Observe records a second of a table, in place of its earlier one.
func (w Watch) Observe(s *sketch.Window) {
	for i := range s.Keys {
		k := &s.Keys[i]
		if !k.IsContended() {
			continue
		}
		id := keyID{s.Target, k.Hash}
		of := w[id]
		if of == nil {
			w.makeRoom()
			of = &key{Episode: Episode{Target: s.Target}}
			w[id] = of
		}
		of.Key = k.Key
		of.observe(second{at: s.Second, Contention: k.Evidence.Contention, rate: k.Draws.RateLow, assumed: k.Draws.Assumed > 0})
	}
}

func (w Watch) makeRoom() {
	if len(w) < maxKeys {
		return
	}
	calm := slices.MinFunc(slices.Collect(maps.Keys(w)), func(a, b keyID) int {
		return cmp.Or(cmp.Compare(w[a].newest(), w[b].newest()), cmp.Compare(a.hash, b.hash))
	})
	delete(w, calm)
}

// Forget drops keys without contention since a second.
func (w Watch) Forget(before int64) {
	maps.DeleteFunc(w, func(_ keyID, k *key) bool { return k.newest() < before })
}

// Follows reports whether it follows a key of a table or index.
func (w Watch) Follows(target detect.Target) bool {
	for id := range w {
		if id.target == target {
			return true
		}
	}
	return false
}

// Select returns the keys of one table or index.
func (w Watch) Select(target detect.Target) Watch {
	own := Watch{}
	for id, k := range w {
		if id.target == target {
			own[id] = k
		}
	}
	return own
}

// Episodes returns the contentions, in the order of their keys.
func (w Watch) Episodes() (all []*Episode) {
	for _, k := range w {
		if k.Severity != "" {
			k.Silence = k.silenceBefore(math.MaxInt64)
			all = append(all, &k.Episode)
		}
	}
	slices.SortFunc(all, func(a, b *Episode) int {
		return cmp.Or(a.Target.Compare(b.Target), cmp.Compare(a.Key.Type, b.Key.Type), cmp.Compare(a.Key.Text, b.Key.Text))
	})
	return all
}

func (k *key) newest() int64 {
	if len(k.seconds) == 0 {
		return 0
	}
	return k.seconds[len(k.seconds)-1].at
}

// kept is the number of seconds that are kept: a minute, and as much for late ones.
const kept = 2 * detect.OutageSeconds

func (k *key) observe(s second) {
	i, found := slices.BinarySearchFunc(k.seconds, s.at, func(o second, at int64) int { return cmp.Compare(o.at, at) })
	if found {
		k.seconds[i] = s
	} else {
		k.seconds = slices.Insert(k.seconds, i, s)
	}
	newest := k.newest()
	if !found && s.at == newest {
		k.Seconds++
		if k.since == 0 || s.at-k.lost > detect.OutageSeconds {
			k.since = s.at
		}
	}
	if s.loses() {
		k.lost = max(k.lost, s.at)
	}
	k.Through = max(k.Through, newest)
	k.silence = k.silenceBefore(newest - kept + 1)
	k.seconds = slices.DeleteFunc(k.seconds, func(o second) bool { return o.at <= newest-kept })
	if s.at > newest-detect.OutageSeconds {
		k.judge(newest)
	}
}

// loses reports whether an attempt was lost in a second.
func (s *second) loses() bool {
	return slices.ContainsFunc(s.Items, func(i sketch.Contended) bool { return i.Lost() > 0 })
}

// silenceBefore returns the silence as the seconds before one show it.
func (k *key) silenceBefore(end int64) sampling.Silence {
	silence := k.silence
	for i := range k.seconds {
		if s := &k.seconds[i]; s.at < end {
			silence.Observe(s.at, s.loses(), k.Severity != "", 0)
		}
	}
	return silence
}

// isOver reports whether a lost attempt comes after the end of the contention before it.
func (k *key) isOver(next int64) bool {
	if k.Severity == "" || next-k.Last < detect.ResolveSeconds {
		return false
	}
	silence := k.silenceBefore(next)
	return !k.Sampled || silence.IsEnd(next-silence.Last())
}

// judge looks at the minute that ends with a second.
func (k *key) judge(newest int64) {
	m := k.minute(newest)
	if m == nil || m.last < k.Last || m.from < k.since {
		return
	}
	severity := m.severity()
	if k.isOver(m.last) { // another contention
		if severity == "" {
			return
		}
		k.silence = sampling.Silence{}
		k.Episode = Episode{Target: k.Target, Key: k.Key, Through: k.Through}
	}
	switch {
	case severity == "" && (k.Severity == "" || !m.stays()):
		return
	case k.Severity == "":
		k.First, k.Seconds = m.first, m.seconds
	}
	k.Last, k.Sampled, k.Rate = m.last, m.mostRate > 0, m.mostRate
	if m.leastRate < m.mostRate {
		k.Rate = 0
	}
	k.Severity = detect.WorstSeverity(k.Severity, severity)
	k.Figures = m.figures()
}
