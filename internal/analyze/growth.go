package analyze

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
	"github.com/keyheat/keyheat/internal/judge/heat"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// maxGrowing is the most warm keys that are followed.
const maxGrowing = 10_000

type growingID struct {
	target detect.Target
	hash   uint64
}

// warmKey is a key with its hourly peaks.
type warmKey struct {
	key   sample.Key
	most  sketch.Load
	hours map[int64]sketch.Load
}

// growingKeys are the warm keys of seconds that are all in memory, such as files of
// weeks.
type growingKeys struct {
	keys map[growingID]*warmKey
	now  time.Time
	seed uint64
}

// followGrowth returns the warm keys of some seconds. from and to are the first and the
// last Unix second, seed is the hash seed of the keys. A time shorter than
// [heat.GrowthSpan] has no warm keys.
func followGrowth(seconds iter.Seq[*sketch.Window], from, to int64, seed uint64) growingKeys {
	k := growingKeys{keys: make(map[growingID]*warmKey), seed: seed}
	if time.Duration(to-from)*time.Second < heat.GrowthSpan {
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

func (k growingKeys) add(w *sketch.Window, load *sketch.KeyLoad) {
	if !heat.Warm(load.Low) {
		return
	}
	id := growingID{w.Target, load.Hash}
	known := k.keys[id]
	if known == nil {
		if len(k.keys) == maxGrowing {
			return
		}
		known = &warmKey{key: load.Key, hours: make(map[int64]sketch.Load)}
		k.keys[id] = known
	}
	hour := heat.HourOf(w.Second)
	known.hours[hour] = detect.MaxLoad(known.hours[hour], load.Low)
	known.most = detect.MaxLoad(known.most, load.Low)
}

// forecast returns the forecast of one key; nil if the data allow none.
func (k growingKeys) forecast(id growingID, kind detect.Kind) *detect.Forecast {
	known := k.keys[id]
	if known == nil {
		return nil
	}
	peaks := make([]forecast.HourPeak, 0, len(known.hours))
	for hour, load := range known.hours {
		peaks = append(peaks, heat.HourPeak(time.Unix(hour, 0).UTC(), load))
	}
	return forecast.New(peaks, kind, k.now)
}

// forecastFinding returns the forecast of a finding's key; nil if the data allow none.
func (k growingKeys) forecastFinding(f *detect.Finding) *detect.Forecast {
	hash := sketch.Hash(f.Target, f.PartitionKey(), k.seed)
	return k.forecast(growingID{f.Target, hash}, f.Kind)
}

// growingKeysOf returns the keys of a table or index that grow, the hottest first.
func (k growingKeys) growingKeysOf(target detect.Target) []detect.GrowingKey {
	all := []detect.GrowingKey{}
	for id, known := range k.keys {
		if id.target != target {
			continue
		}
		if f := k.forecast(id, heat.GrowthKind(target.Index, known.most)); f != nil {
			all = append(all, heat.GrowingKey(known.key, known.most, f))
		}
	}
	slices.SortFunc(all, func(a, b detect.GrowingKey) int {
		return cmp.Or(cmp.Compare(detect.WritesInReads*b.WCU+b.RCU, detect.WritesInReads*a.WCU+a.RCU), cmp.Compare(a.Key, b.Key))
	})
	return all[:min(len(all), heat.GrowingListed)]
}
