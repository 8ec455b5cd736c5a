package partition

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample/position"
	"github.com/keyheat/keyheat/sketch"
)

const (
	walkCellBits = 12
	walkCells    = 1 << walkCellBits
	// LeastWalk and leastShare are the write units a second, and the share of the table's load,
	// from which walking load is told.
	LeastWalk  = 200
	leastShare = 0.1
	// meanSeconds is the time of a cell's mean, and warmUp the seconds before it tells anything.
	meanSeconds, warmUp = 60, 5
	// A cell is high from leastExcess units and leastSigmas standard deviations above its mean. A
	// peak is neighbouring high cells, at most maxGap low ones apart, with leastPeak units and
	// leastPeakShare of the load.
	leastExcess, leastSigmas  = 6, 5
	maxGap                    = 2
	leastPeak, leastPeakShare = 40, 0.02
	// WalkMemory is the pause after which walking load is another walk, in seconds.
	WalkMemory = 180
)

// WalkDetector follows the load of one table, second by second, and finds load that walks
// through the key space: a copy in the order of a Scan, an export that is loaded as it was
// written, an import sorted by position. Such load fills one partition after another, and no
// split of DynamoDB comes in time.
//
// It compares each 4,096th of the key space with its own mean of about a minute. Neighbouring
// cells far above it are a peak. Peaks of successive seconds that move evenly are a track, and a
// track that has moved in a straight line for most of its last 30, 60 or 180 seconds walks.
//
// A walk slower than about 0.02 cells a second is not found: it fills one partition for minutes,
// and is a hot partition. A walk of less than 40 units a second at each place harms nobody.
type WalkDetector struct {
	// second is the newest one. load is its load by cell.
	second      int64
	load        [walkCells]float32 `checkpoint:"-"`
	total, unit float64
	mean        [walkCells]float32
	seen        int64 // seconds in the mean
	tracks      []*track
	// since and last are the first and the last second of the latest walk, most its highest load.
	since, last int64
	most        float64
}

// Observe adds a second that is over, with all its keys. Call it once a second, in order; earlier
// seconds are left out.
func (d *WalkDetector) Observe(w *sketch.Window) {
	if w.Second <= d.second {
		return
	}
	idle := float32(1) // the rest of the mean after seconds without load
	if d.second != 0 {
		idle = float32(math.Pow(1-1.0/meanSeconds, float64(w.Second-d.second-1)))
	}
	d.second = w.Second
	d.place(w)
	if idle < 1 {
		for i := range d.mean {
			d.mean[i] *= idle
		}
	}
	d.seen++
	if peaks := d.peaks(); d.seen > warmUp {
		d.follow(peaks)
		d.tell()
	}
}

// place divides a second's load among the cells.
func (d *WalkDetector) place(w *sketch.Window) {
	d.load = [walkCells]float32{}
	d.total, d.unit = WriteUnits(w.Total.Load), max(1, w.Total.WriteLargest, w.Total.ReadLargest/readsPerWrite)
	eachPosition(w, func(k *sketch.KeyLoad, first, _ position.Position) {
		d.load[first.Cell(walkCellBits)] += float32(WriteUnits(k.Low))
	})
	for _, c := range w.Cells {
		d.load[c.At>>(sketch.CellBits-walkCellBits)] += float32(WriteUnits(sketch.Load{Read: c.Read, Write: c.Write}))
	}
}

// readsPerWrite is how many read units take as much of a partition as a write unit.
const readsPerWrite = 3

// WriteUnits returns a load in write units.
func WriteUnits(l sketch.Load) float64 { return detect.Units(detect.Weight(l)) / readsPerWrite }

// peak is load above the mean in neighbouring cells.
type peak struct{ at, load float64 }

// peaks returns the load above the mean, and adds the second to the mean.
func (d *WalkDetector) peaks() (all []peak) {
	share := 1 / float32(min(d.seen, meanSeconds))
	moment, load, last := 0.0, 0.0, -1
	end := func() {
		if load >= leastPeak && load >= leastPeakShare*d.total {
			all = append(all, peak{moment / load, load})
		}
		moment, load = 0, 0
	}
	for i, l := range d.load {
		before := d.mean[i]
		d.mean[i] += share * (l - before)
		if l <= before {
			continue // most cells
		}
		mean := float64(before)
		excess := float64(l) - mean
		if excess < leastExcess*d.unit || excess < leastSigmas*math.Sqrt(mean*d.unit) {
			continue
		}
		if i-last > maxGap+1 {
			end()
		}
		moment, load, last = moment+float64(i)*excess, load+excess, i
	}
	end()
	slices.SortFunc(all, func(a, b peak) int { return cmp.Compare(b.load, a.load) })
	return all
}

// follow continues each peak's nearest track, or begins one.
func (d *WalkDetector) follow(peaks []peak) {
	d.tracks = slices.DeleteFunc(d.tracks, func(t *track) bool { return d.second-t.newest().second > trackEnds })
	for _, p := range peaks {
		var nearest *track
		least := math.Inf(1)
		for _, t := range d.tracks {
			if far := t.distance(p, d.second); far < least && t.newest().second < d.second {
				nearest, least = t, far
			}
		}
		switch {
		case nearest != nil:
			nearest.add(point{d.second, p.at, p.load})
		case len(d.tracks) < maxTracks:
			d.tracks = append(d.tracks, &track{points: []point{{d.second, p.at, p.load}}})
		}
	}
}

// tell notes whether enough load walks.
func (d *WalkDetector) tell() {
	load, since := 0.0, d.second
	for _, t := range d.tracks {
		if began, walks := t.walks(d.second); walks {
			load += t.newest().load
			since = min(since, began)
		}
	}
	if load < LeastWalk || load < leastShare*d.total {
		return
	}
	if d.last == 0 || d.second-d.last > WalkMemory {
		d.since, d.most = since, 0
	}
	d.last, d.most = max(d.last, d.second), max(d.most, load)
}

// Walk returns the load that walked in the three minutes before a second; nil for none.
func (d *WalkDetector) Walk(at int64) *detect.Walk {
	if d == nil || d.last == 0 || at-d.last > WalkMemory {
		return nil
	}
	return &detect.Walk{From: time.Unix(d.since, 0).UTC(), Through: time.Unix(d.last, 0).UTC(), Share: d.most / detect.Units(detect.PartitionWrite)}
}

// HasWalked reports whether load walked between two seconds.
func (d *WalkDetector) HasWalked(from, to int64) bool {
	return d != nil && d.last >= from && d.since <= to && d.last > 0
}

// IsQuiet reports whether nothing is left of the table at a second. A walk is kept for as long as
// findings count its seconds.
func (d *WalkDetector) IsQuiet(at int64) bool {
	return at-d.second > WalkMemory && at-d.last > detect.Horizon
}
