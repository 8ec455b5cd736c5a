package episode

import (
	"slices"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sketch"
)

// regions holds the parts of a second of a global table's key.
type regions struct {
	own   point // as the Region's own requests show it
	parts []part
}

// part is another Region's part of the second.
type part struct {
	region string
	point
}

// Replicate adds the key's writes in a window of another Region of a global table,
// replacing that Region's earlier ones of the second. DynamoDB replicates them to this
// Region, so they load the key here too. Writes read from a stream are not added: they
// may be replicated from here.
func (t *Track) Replicate(region string, w *sketch.Window, k *sketch.KeyLoad, batch sampling.Batch, oldest int64) {
	t.replicate(region, keyPoint(w, k, batch), oldest)
}

// ReplicateAll adds every second that the track of another Region has.
func (t *Track) ReplicateAll(region string, other *Track, oldest int64) {
	for p := range other.points.pointsAfter(noSecond) {
		if p.regions != nil {
			p = &p.regions.own
		}
		t.replicate(region, *p, oldest)
	}
}

func (t *Track) replicate(region string, p point, oldest int64) {
	if p.tableChanges > 0 || p.write.Value == 0 || p.second < oldest {
		return
	}
	if !t.points.isEmpty() && t.changed >= t.points.first() {
		return // a stream shows replicated writes itself, perhaps a second later
	}
	own, found := t.points.get(p.second)
	if !found {
		own = point{second: p.second}
	}
	t.put(own.addPart(part{region, p}), oldest, Largest{})
}

// addPart returns the second with another Region's part added.
func (p point) addPart(other part) point {
	r := regions{own: p}
	if p.regions != nil {
		r = regions{p.regions.own, slices.DeleteFunc(slices.Clone(p.regions.parts), func(o part) bool { return o.region == other.region })}
	}
	r.parts = append(r.parts, other)
	return r.sum()
}

// keepRegions adds the other Regions' earlier parts to the own Region's second.
func (p point) keepRegions(before *point) point {
	if p.regions != nil || before.regions == nil {
		return p
	}
	return (&regions{p, before.regions.parts}).sum()
}

// sum returns the second with the writes of all Regions. A Region's throttled writes were
// not replicated, and a stream already shows replicated ones.
func (r *regions) sum() point {
	p := r.own
	p.regions = r
	if p.tableChanges > 0 {
		return p
	}
	var batches sampling.Batches
	batches.Add(p.load(), p.batch)
	for i := range r.parts {
		o := &r.parts[i]
		written := o.write.Reduce(o.throttled.Write)
		p.write = p.write.Plus(written)
		p.independent[1] = p.independent[1].Plus(o.independent[1].Reduce(o.throttled.Write))
		p.whole[1] += o.whole[1]
		p.replicated += written.Value
		p.table.Write += o.table.Write - o.throttled.Write
		batches.Add(sketch.Load{Write: written.Value}, o.batch)
		if p.tableRequests == 0 { // no request for the key here in this second
			p.tableRequests, p.draws = o.tableRequests, o.draws
		} else {
			p.draws = p.draws.Plus(o.draws)
		}
	}
	p.batch = batches.Batch()
	return p
}

// Replication returns the other Regions' part of an episode's peak, for a table with a replica
// in each Region of the list; nil if they have none. Of a sampled peak it is their part of all
// writes.
func (e *Episode) Replication(k detect.Subject, peak float64, in []string) *detect.Replication {
	switch {
	case len(in) == 0 || k == detect.KeyReads:
		return nil
	case e.sampled:
		return &detect.Replication{Regions: in, WCU: peak * detect.Ratio(float64(e.replicatedTotal), float64(e.writeTotal.Value()))}
	}
	return &detect.Replication{Regions: in, WCU: detect.Units(e.replicated)}
}
