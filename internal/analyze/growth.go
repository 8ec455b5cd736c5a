package analyze

import (
	"cmp"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/forecast"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

const (
	// growthSpan is how many seconds a file must reach over for growth to be
	// looked for: a forecast asks for three weeks.
	growthSpan = 21 * 24 * 60 * 60
	// warmShare of a limit makes a key warm; growthKeys bounds how many are
	// followed, growingKeys how many of a table are listed.
	warmShare, growthKeys, growingKeys = 10, 10_000, 5
)

// keyID is a key of a table or index.
type keyID struct {
	table, index string
	hash         uint64
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
	if len(order) == 0 || order[len(order)-1].second-order[0].second < growthSpan {
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
	if k.Low.Write < detect.PartitionWrite/warmShare && k.Low.Read < detect.PartitionRead/warmShare {
		return
	}
	id := keyID{w.Table, w.Index, k.Hash}
	known := g.keys[id]
	if known == nil {
		if len(g.keys) == growthKeys {
			return
		}
		known = &warm{key: k.Key, hours: make(map[int64]sketch.Load)}
		g.keys[id] = known
	}
	hour := w.Second - w.Second%3600
	known.hours[hour] = higher(known.hours[hour], k.Low)
	known.most = higher(known.most, k.Low)
}

func higher(a, b sketch.Load) sketch.Load {
	return sketch.Load{Read: max(a.Read, b.Read), Write: max(a.Write, b.Write)}
}

// of is the forecast of one key; nil when the data do not say.
func (g growths) of(id keyID, k detect.Kind) *detect.Forecast {
	known := g.keys[id]
	if known == nil {
		return nil
	}
	peaks := make([]forecast.HourPeak, 0, len(known.hours))
	for hour, load := range known.hours {
		peaks = append(peaks, forecast.HourPeak{
			Hour: time.Unix(hour, 0).UTC(), WCU: float64(load.Write) / 1000, RCU: float64(load.Read) / 1000,
		})
	}
	return forecast.New(peaks, k, g.now)
}

// ofFinding is the forecast of a finding's key.
func (g growths) ofFinding(f *detect.Finding) *detect.Forecast {
	hash := sketch.Hash(f.Table, f.Index, sample.Key{Type: f.KeyType, Text: f.Key}, seed)
	return g.of(keyID{f.Table, f.Index, hash}, f.Kind)
}

// ofTable are the keys of a table or index that grow, the hottest first.
func (g growths) ofTable(table, index string) []detect.GrowingKey {
	all := []detect.GrowingKey{}
	for id, known := range g.keys {
		if id.table != table || id.index != index {
			continue
		}
		kind := detect.HotKeyWrite
		if known.most.Read > detect.WritesInReads*known.most.Write {
			kind = detect.HotKeyRead
		}
		if f := g.of(id, kind); f != nil {
			all = append(all, detect.GrowingKey{
				Key: known.key.Text, KeyType: known.key.Type, Forecast: *f,
				WCU: float64(known.most.Write) / 1000, RCU: float64(known.most.Read) / 1000,
			})
		}
	}
	slices.SortFunc(all, func(a, b detect.GrowingKey) int {
		return cmp.Or(cmp.Compare(3*b.WCU+b.RCU, 3*a.WCU+a.RCU), cmp.Compare(a.Key, b.Key))
	})
	return all[:min(len(all), growingKeys)]
}
