package analyze

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/internal/judge/fold"
	"github.com/keyheat/keyheat/internal/settings/options"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// sketches are the records' sketches, by target and second.
type sketches struct {
	shard   *sketch.Shard
	views   *fold.Views
	windows *packedWindows
	// grids are the times of each table and index; nil if a source states them itself.
	grids map[detect.Target]*grid
}

// trims returns the trims of seconds over the bound of memory: to keys above a hundredth
// of a limit, and then to the keys that a judge tracks. A table's default quota of 40,000
// units leaves room for some 500 tracked keys in a second.
func trims(place bool) []trim {
	var all []trim
	for _, share := range []float64{0.01, detect.TrackShare} {
		floor := sketch.Load{Read: detect.ShareOf(detect.PartitionRead, share), Write: detect.ShareOf(detect.PartitionWrite, share)}
		all = append(all, trim{Floor: floor, Most: 1024, Place: place})
	}
	return all
}

// newSeconds returns no seconds yet, of tables whose keys are judged by a policy. place reports
// whether positions of keys are kept.
func newSeconds(memory int64, place bool, policy func(detect.Target) detect.Policy) *sketches {
	s := &sketches{
		shard: sketch.NewShard(config()), views: fold.NewViewsOfAll(policy),
		windows: newPackedWindows(packing{Bytes: memory, Trims: trims(place)}),
	}
	if place {
		s.shard.PlaceKeys(func(sample.Target) bool { return true })
	}
	return s
}

// sealAt is the number of bytes that the shard may hold in seconds that have left its
// ring. Sealing cuts the live seconds in two, which widens their bounds, so it is rare.
const sealAt = 32 << 20

// sealIfFull keeps the shard and the seconds within their memory.
func (s *sketches) sealIfFull() error {
	if s.shard.Pending() <= sealAt {
		return nil
	}
	s.seal()
	return s.windows.Pack()
}

// seal merges the shard's seconds into the others.
func (s *sketches) seal() {
	d := sketch.NewDelta(config())
	s.shard.Seal(d)
	for i := range d.Windows {
		w := &d.Windows[i]
		if s.grids != nil {
			if s.grids[w.Target] == nil {
				s.grids[w.Target] = &grid{}
			}
			s.grids[w.Target].add(w)
		}
		s.windows.Add(w)
	}
	for _, r := range d.Cardinality {
		s.views.Count(r)
	}
}

// look returns the views of all seconds, without a verdict on any.
func (s *sketches) look() []detect.Table {
	s.seal()
	for w := range s.windows.All() {
		s.views.Observe(fold.Instant{Target: w.Target, Second: w.Second}, &fold.OpenWindow{Window: *w}, time.Time{})
	}
	return s.views.Tables()
}

// addLoads measures what each partition carried.
func (s *sketches) addLoads(v *partition.View, m *partition.Map) {
	loads := m.Loads()
	for w := range s.windows.All() {
		if w.Target == v.Target {
			loads.Add(w)
		}
	}
	v.Partitions = loads.List()
}

// keySeconds are the seconds of one key in one table or index, in order.
type keySeconds struct {
	target  detect.Target
	key     sample.Key
	seconds []whatif.Second
	// write and read are its load in these seconds together.
	write, read sampling.Total
}

// find returns the seconds of a key by its text, in every table and index.
func (s *sketches) find(key sample.Text) []keySeconds {
	type id struct {
		target  detect.Target
		keyType string
	}
	byID := map[id]*keySeconds{}
	for w := range s.all() {
		for i := range w.Keys {
			k := &w.Keys[i]
			if sample.Text(k.Key.Text) != key {
				continue
			}
			of := byID[id{w.Target, k.Key.Type}]
			if of == nil {
				of = &keySeconds{target: w.Target, key: k.Key}
				byID[id{w.Target, k.Key.Type}] = of
			}
			addLoad(&of.write, k.Low.Write, k.Err.Write, k.WriteSpread, &k.Draws)
			addLoad(&of.read, k.Low.Read, k.Err.Read, k.ReadSpread, &k.Draws)
			of.seconds = append(of.seconds, whatif.Second{At: w.Second, Low: k.Low, Err: k.Err, Requests: k.Requests})
		}
	}
	var all []keySeconds
	for _, of := range byID {
		all = append(all, *of)
	}
	slices.SortFunc(all, func(a, b keySeconds) int {
		return cmp.Or(compareTargets(a.target, b.target), cmp.Compare(a.key.Type, b.key.Type))
	})
	return all
}

// addLoad adds a key's load in a second to its total.
func addLoad(t *sampling.Total, low, missing sample.Milli, s sketch.Spread, d *sketch.Draws) {
	t.Add(sampling.NewAmounts(low, missing, s), sampling.Second{Estimate: sampling.Estimate{Units: detect.Units(low), Spread: s}, Assumed: d.Assumed > 0})
}

func compareTargets(a, b detect.Target) int {
	return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.Index, b.Index), a.Compare(b))
}

// nearestKey returns the kept key that is nearest to a text; empty if none is near.
func (s *sketches) nearestKey(text sample.Text) sample.Text {
	seen := map[sample.Text]bool{}
	for w := range s.windows.All() {
		for i := range w.Keys {
			seen[sample.Text(w.Keys[i].Key.Text)] = true
		}
	}
	return options.Nearest(text, slices.Sorted(maps.Keys(seen)))
}

// seed is the hash seed of every key. It never changes, so that the same file gives the
// same result.
const seed = 0x6b657968656174

// sets is the width of the sketch's front. One process has memory for the larger width,
// which proves more in dense traffic.
const sets = 1024

func config() sketch.Config { return sketch.Config{Seed: seed, Sets: sets} }
