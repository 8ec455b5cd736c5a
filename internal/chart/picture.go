package chart

import "github.com/keyheat/keyheat/internal/say/wording"

// The geometry of a map, in pixels. The style sheet gives the lists beside it the same
// heights.
const (
	rowHeight, cellHeight, restHeight = 20, 15, 30
)

// Picture draws the map. The page lists the keys beside it, in rows of the same heights.
func (m *Map) Picture() *Picture {
	bottom := len(m.Rows) * rowHeight
	p := &Picture{From: m.From, Columns: len(m.Seen), Step: m.Step, Height: bottom + restHeight + 1}
	p.Gaps = p.spans(len(m.Seen), func(n int) bool { return m.Seen[n] == 0 })
	p.Partly = p.spans(len(m.Seen), func(n int) bool { return m.Seen[n] > 0 && m.Seen[n] < m.Step })
	p.addTimes()
	var cells [7]path
	var over, far, refused path
	for i, row := range m.Rows {
		top := float64(i * rowHeight)
		for _, c := range row.Cells {
			of := colour(c.Value / m.Limit)
			if of > 0 {
				cells[of].addRect(c.Column, top+1, cellHeight)
			}
			switch {
			case of == overLimit:
				over.addRect(c.Column, top, 1)
			case of > overLimit:
				far.addRect(c.Column, top+4, 2)
			}
			if c.Refused > 0 {
				refused.addRect(c.Column, top+cellHeight+2, 1)
			}
		}
		p.Rules = append(p.Rules, Tick{At: percent((top + rowHeight) / float64(p.Height))})
	}
	// The coldest first: a hot cell that is narrower than a pixel lies on its neighbours.
	for n, text := range colourTexts() {
		p.Layers = append(p.Layers, Layer{"cells " + class(n), cells[n].String(), text})
	}
	// No key has the load of everything else, so it has heights instead of colours.
	scale := float64(restHeight-6) / max(m.RestPeak(), 1)
	rest := steps(len(m.Rest), func(n int) (y float64, known bool) {
		return float64(bottom+restHeight-2) - scale*m.restRate(n), m.Rest[n] != nil
	})
	p.Layers = append(p.Layers, Layer{"cells over", over.String(), ""}, Layer{"cells far", far.String(), ""},
		Layer{"cells refused", refused.String(), "throttled"}, Layer{"others", rest, ""})
	return p
}

// colourTexts are the meanings of the colours, the coldest first.
func colourTexts() (all []string) {
	for _, share := range shares[:overLimit] {
		all = append(all, "to "+wording.Percent(share))
	}
	all[0] = "no colour: " + all[0]
	return append(all, "over the limit", "over twice the limit")
}
