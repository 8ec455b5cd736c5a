package chart

// Picture is a map in SVG. The page lists the keys beside it, in rows of the same heights.
type Picture struct {
	Plot
	Height int
	// Cells are the colours, the coldest first: a hot cell that is narrower than a pixel
	// lies on its neighbours. Over and Far mark cells above the limit and above twice the
	// limit, and Refused those with throttled requests: paths.
	Cells              []Layer
	Over, Far, Refused string
	// Partly are columns of which some seconds were not counted.
	Partly []Span
	// Rules are the heights of the lines below the rows.
	Rules []int
	// Rest is the load of everything without a row: a path.
	Rest string
}

// Layer is the cells of one colour.
type Layer struct{ Class, Path string }

// The geometry of a map, in pixels. The style sheet gives the lists beside it the same
// heights.
const (
	rowHeight, cellHeight, restHeight = 20, 15, 30
)

// Picture draws the map.
func (m *Map) Picture() *Picture {
	p := &Picture{Plot: Plot{From: m.From, Columns: len(m.Seen), Step: m.Step}}
	p.Gaps = p.spans(len(m.Seen), func(n int) bool { return m.Seen[n] == 0 })
	p.Partly = p.spans(len(m.Seen), func(n int) bool { return m.Seen[n] > 0 && m.Seen[n] < m.Step })
	p.addTimes()
	var layers [7]path
	var over, far, refused path
	for i, row := range m.Rows {
		top := float64(i * rowHeight)
		for _, c := range row.Cells {
			x, of := float64(c.Column), colour(c.Value/m.Limit)
			if of > 0 {
				layers[of].addRect(x, top+1, cellHeight)
			}
			switch {
			case of == overLimit:
				over.addRect(x, top, 1)
			case of > overLimit:
				far.addRect(x, top+4, 2)
			}
			if c.Refused > 0 {
				refused.addRect(x, top+cellHeight+2, 1)
			}
		}
		p.Rules = append(p.Rules, (i+1)*rowHeight)
	}
	for n := range layers {
		p.Cells = append(p.Cells, Layer{class(n), layers[n].String()})
	}
	p.Over, p.Far, p.Refused = over.String(), far.String(), refused.String()
	bottom := len(m.Rows) * rowHeight
	p.Height = bottom + restHeight + 1
	// No key has this load, so it has heights instead of colours.
	scale := float64(restHeight-6) / max(m.RestPeak(), 1)
	p.Rest = steps(len(m.Rest), func(n int) (y float64, known bool) {
		return float64(bottom+restHeight-2) - scale*m.restRate(n), m.Rest[n] != nil
	})
	return p
}
