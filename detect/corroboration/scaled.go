package corroboration

import "github.com/keyheat/keyheat/detect"

// Scale adds to a comparison the scaled load of a finding's key. It assumes that the load
// missing from the samples is spread over keys like the rest. The load that the samples
// prove stays the least.
func Scale(c *detect.CloudWatch, f *detect.Finding) {
	part := c.Coverage
	if !f.Kind.OfKey() || part == nil || part.High >= 1 || part.Low <= 0 {
		return
	}
	s := sideOf(f.Kind)
	units := func(write, read float64) float64 { return s.sampled(Units{Write: write, Read: read}) }
	w, r := f.Peak.WCU, f.Peak.RCU
	c.Scaled = &detect.Figure{
		Value: units(w.Value, r.Value) / part.Value, Low: units(w.Low, r.Low), High: units(w.High, r.High) / part.Low,
	}
}
