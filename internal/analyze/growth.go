package analyze

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
	"github.com/keyheat/keyheat/internal/growth"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// growthKeys bounds how many warm keys are followed.
const growthKeys = 10_000

// keyID is a key of a table or index.
type keyID struct {
	target detect.Target
	hash   uint64
}

// warm is a key with its hourly peaks.
type warm struct {
	key   sample.Key
	most  sketch.Load
	hours map[int64]sketch.Load
}

// growths are the forecasts of the warm keys of a file of weeks.
type growths struct {
	keys map[keyID]*warm
	now  time.Time
}

// growths looks at every second once more; nothing comes of a file of days.
func (s *sketches) growths(order []instant) growths {
	g := growths{keys: make(map[keyID]*warm)}
	if len(order) == 0 || time.Duration(order[len(order)-1].second-order[0].second)*time.Second < growth.Span {
		return g
	}
	g.now = time.Unix(order[len(order)-1].second+1, 0).UTC()
	for _, at := range order {
		w := &s.windows[at].Window
		for i := range w.Keys {
			g.add(w, &w.Keys[i])
		}
	}
	return g
}

func (g growths) add(w *sketch.Window, k *sketch.KeyLoad) {
	if !growth.Warm(k.Low) {
		return
	}
	id := keyID{w.Target, k.Hash}
	known := g.keys[id]
	if known == nil {
		if len(g.keys) == growthKeys {
			return
		}
		known = &warm{key: k.Key, hours: make(map[int64]sketch.Load)}
		g.keys[id] = known
	}
	hour := growth.HourOf(w.Second)
	known.hours[hour] = detect.MaxLoad(known.hours[hour], k.Low)
	known.most = detect.MaxLoad(known.most, k.Low)
}

// of is the forecast of one key; nil when the data do not say.
func (g growths) of(id keyID, k detect.Kind) *detect.Forecast {
	known := g.keys[id]
	if known == nil {
		return nil
	}
	peaks := make([]forecast.HourPeak, 0, len(known.hours))
	for hour, load := range known.hours {
		peaks = append(peaks, growth.Peak(time.Unix(hour, 0).UTC(), load))
	}
	return forecast.New(peaks, k, g.now)
}

// ofFinding is the forecast of a finding's key.
func (g growths) ofFinding(f *detect.Finding) *detect.Forecast {
	hash := sketch.Hash(f.Target, sample.Key{Type: f.KeyType, Text: f.Key}, seed)
	return g.of(keyID{f.Target, hash}, f.Kind)
}

// ofTable are the keys of a table or index that grow, the hottest first.
func (g growths) ofTable(of detect.Target) []detect.GrowingKey {
	all := []detect.GrowingKey{}
	for id, known := range g.keys {
		if id.target != of {
			continue
		}
		if f := g.of(id, growth.Kind(of.Index, known.most)); f != nil {
			all = append(all, growth.Key(known.key, known.most, f))
		}
	}
	slices.SortFunc(all, func(a, b detect.GrowingKey) int {
		return cmp.Or(cmp.Compare(detect.WritesInReads*b.WCU+b.RCU, detect.WritesInReads*a.WCU+a.RCU), cmp.Compare(a.Key, b.Key))
	})
	return all[:min(len(all), growth.Listed)]
}
