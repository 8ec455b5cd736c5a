package report

import (
	"math"
	"strconv"
	"time"

	"github.com/keyheat/keyheat/internal/say/wording"
)

func formatAbout(v float64) string { return wording.About(v) }

// maxBars is how many bars a chart has at most: a longer period has several hours in
// each.
const maxBars = 240

// chart is the hourly peaks of a key, laid out in a box of Width by 100: the page
// stretches it.
type chart struct {
	subject
	// Peak describes the highest hour in words, Each the length of a bar.
	Peak, Each, Description string
	// Width is how many bars the period has room for; Limit is where the limit lies,
	// from the top.
	Width int
	Limit string
	Bars  []bar
	// Days are marks below.
	Days []mark
	Over bool
}

// bar is one or more hours: the part up to the limit, and the part above it.
type bar struct {
	X, Y, Height      string
	HasOver           bool
	OverY, OverHeight string
	Title             string
}

type mark struct{ Text, Place string }

// chart lays out a key's hours. An unknown hour has no bar, and neither has an hour below
// a tenth of the limit; a note on the page explains that.
func (p *Report) chart(k *Key) chart {
	from := p.From.Truncate(time.Hour)
	hours := int(math.Ceil(p.To.Sub(from).Hours()))
	each := (hours + maxBars - 1) / maxBars
	c := chart{
		subject: subjectOf(k.KeyRef), Width: (hours + each - 1) / each, Each: "hour",
		Peak: formatAbout(k.Peak.Units) + " " + unitName(k.Unit) + ", " + percent(k.Peak.Units/k.Limit) + " of the limit, in the hour of " + p.moment(k.Peak.At),
		Over: k.Peak.Units > k.Limit,
	}
	if each > 1 {
		c.Each = count(each) + " hours"
	}
	top := max(1, k.Peak.Units/k.Limit) * 1.05
	y := func(utilization float64) float64 { return 100 * (1 - utilization/top) }
	c.Limit = decimals(y(1))
	peaks := make(map[int]Hour)
	for _, h := range k.Hours {
		if at := int(h.At.Sub(from).Hours()) / each; at >= 0 && at < c.Width && h.Units >= peaks[at].Units {
			peaks[at] = h
		}
	}
	over := 0
	for at := range c.Width {
		h, known := peaks[at]
		if !known {
			continue
		}
		u := h.Units / k.Limit
		below := min(u, 1)
		b := bar{X: strconv.Itoa(at), Y: decimals(y(below)), Height: decimals(100 - y(below)), Title: p.moment(h.At) + ": " + formatAbout(h.Units) + " " + unitName(k.Unit)}
		if u > 1 {
			over++
			b.HasOver, b.OverY, b.OverHeight = true, decimals(y(u)), decimals(y(1)-y(u))
		}
		c.Bars = append(c.Bars, b)
	}
	c.Description = plural(len(c.Bars), "bar", "bars") + ", " + count(over) + " above the limit."
	for i, part := range []float64{0, 0.5, 1} {
		at := p.From.Add(time.Duration(part * float64(p.To.Sub(p.From))))
		c.Days = append(c.Days, mark{at.In(p.location()).Format("Jan 2, 15:04"), []string{"start", "middle", "end"}[i]})
	}
	return c
}

// decimals writes a place in a chart.
func decimals(v float64) string { return strconv.FormatFloat(math.Round(100*v)/100, 'f', -1, 64) }
