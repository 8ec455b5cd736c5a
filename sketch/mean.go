package sketch

import (
	"slices"

	"github.com/keyheat/keyheat/sample"
)

// Mean returns the window of a mean second, if this one holds the sums of so many seconds. Its loads
// are rounded towards what they prove. Counts of requests stay, and so does evidence, whose loads
// are a base for shares.
func (w *Window) Mean(seconds int64) *Window {
	m := *w
	m.Span = seconds
	part := 1 / float64(seconds)
	m.Total.Load, m.Total.Throttled, m.Total.Keyless = w.Total.Load.part(seconds), w.Total.Throttled.part(seconds), w.Total.Keyless.part(seconds)
	m.Total.ReadLargest, m.Total.WriteLargest = part*w.Total.ReadLargest, part*w.Total.WriteLargest
	m.Callers, m.Scanners = meanOf(w.Callers, seconds), meanOf(w.Scanners, seconds)
	m.Unseen = w.Unseen.partUp(seconds)
	m.Keys, m.Cells = slices.Clone(w.Keys), slices.Clone(w.Cells)
	for i := range m.Keys {
		k := &m.Keys[i]
		k.Low, k.Err, k.Throttled = k.Low.part(seconds), k.Err.partUp(seconds), k.Throttled.part(seconds)
		for _, s := range []*Spread{&k.ReadSpread, &k.WriteSpread} {
			s.Variance, s.Largest = part*part*s.Variance, part*s.Largest
		}
	}
	for i := range m.Cells {
		m.Cells[i].Read, m.Cells[i].Write = m.Cells[i].Read/sample.Milli(seconds), m.Cells[i].Write/sample.Milli(seconds)
	}
	return &m
}

func meanOf(t Top, seconds int64) Top {
	mean := Top{Entries: slices.Clone(t.Entries), Missing: (t.Missing + uint64(seconds) - 1) / uint64(seconds)}
	for i := range mean.Entries {
		mean.Entries[i].Weight /= uint64(seconds)
	}
	return mean
}

func (l Load) part(of int64) Load {
	return Load{Read: l.Read / sample.Milli(of), Write: l.Write / sample.Milli(of)}
}

func (l Load) partUp(of int64) Load {
	return Load{Read: l.Read + sample.Milli(of) - 1, Write: l.Write + sample.Milli(of) - 1}.part(of)
}
