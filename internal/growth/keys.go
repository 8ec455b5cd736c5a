package growth

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// mostKeys bounds how many warm keys are followed.
const mostKeys = 10_000

// keyID is a key of a table or index.
type keyID struct {
	target detect.Target
	hash   uint64
}

// warmKey is a key with its hourly peaks.
type warmKey struct {
	key   sample.Key
	most  sketch.Load
	hours map[int64]sketch.Load
}

// Keys are the warm keys of seconds that are all at hand, such as those of files of weeks.
type Keys struct {
	keys map[keyID]*warmKey
	now  time.Time
	seed uint64
}

// Of returns the warm keys of seconds, of which from and to are the first and the last in
// Unix seconds, and whose keys were hashed with a seed. Nothing comes of less than [Span].
func Of(seconds iter.Seq[*sketch.Window], from, to int64, seed uint64) Keys {
	k := Keys{keys: make(map[keyID]*warmKey), seed: seed}
	if time.Duration(to-from)*time.Second < Span {
		return k
	}
	k.now = time.Unix(to+1, 0).UTC()
	for w := range seconds {
		for i := range w.Keys {
			k.add(w, &w.Keys[i])
		}
	}
	return k
}

func (k Keys) add(w *sketch.Window, load *sketch.KeyLoad) {
	if !Warm(load.Low) {
		return
	}
	id := keyID{w.Target, load.Hash}
	known := k.keys[id]
	if known == nil {
		if len(k.keys) == mostKeys {
			return
		}
		known = &warmKey{key: load.Key, hours: make(map[int64]sketch.Load)}
		k.keys[id] = known
	}
	hour := HourOf(w.Second)
	known.hours[hour] = detect.MaxLoad(known.hours[hour], load.Low)
	known.most = detect.MaxLoad(known.most, load.Low)
}

// of is the forecast of one key; nil when the data do not say.
func (k Keys) of(id keyID, kind detect.Kind) *detect.Forecast {
	known := k.keys[id]
	if known == nil {
		return nil
	}
	peaks := make([]forecast.HourPeak, 0, len(known.hours))
	for hour, load := range known.hours {
		peaks = append(peaks, Peak(time.Unix(hour, 0).UTC(), load))
	}
	return forecast.New(peaks, kind, k.now)
}

// OfFinding returns the forecast of a finding's key; nil when the data do not say.
func (k Keys) OfFinding(f *detect.Finding) *detect.Forecast {
	hash := sketch.Hash(f.Target, sample.Key{Type: f.KeyType, Text: f.Key}, k.seed)
	return k.of(keyID{f.Target, hash}, f.Kind)
}

// OfTable returns the keys of a table or index that grow, the hottest first.
func (k Keys) OfTable(of detect.Target) []detect.GrowingKey {
	all := []detect.GrowingKey{}
	for id, known := range k.keys {
		if id.target != of {
			continue
		}
		if f := k.of(id, Kind(of.Index, known.most)); f != nil {
			all = append(all, Key(known.key, known.most, f))
		}
	}
	slices.SortFunc(all, func(a, b detect.GrowingKey) int {
		return cmp.Or(cmp.Compare(detect.WritesInReads*b.WCU+b.RCU, detect.WritesInReads*a.WCU+a.RCU), cmp.Compare(a.Key, b.Key))
	})
	return all[:min(len(all), Listed)]
}
