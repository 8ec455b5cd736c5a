package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/heatmap"
)

// maxBars is how many bars a chart has at most, and maxColumns a heatmap: a longer period has
// several steps in each.
const (
	maxBars    = 240
	maxColumns = 120
)

// chart is the peaks of a key, laid out in a box of Width by 100: the page stretches it.
type chart struct {
	subject
	// Peak describes the highest bar in words, Each the length of a bar.
	Peak, Each, Description string
	// Width is how many bars the period has room for; Limit is where the limit lies,
	// from the top.
	Width int
	Limit string
	// Below and Above are the shapes of the bars up to the limit, and above it.
	Below, Above string
	// Days are marks below.
	Days []mark
}

type mark struct{ Text, Place string }

func (p *Report) step() time.Duration { return cmp.Or(p.Step, time.Hour) }

// columns returns a key's highest peak in each column of the period, by its number. A column
// is of one or more steps; an unknown one is missing.
func (p *Report) columns(k *Key, most int) (peaks map[int]Hour, width, each int) {
	from := p.From.Truncate(p.step())
	steps := max(1, int(math.Ceil(float64(p.To.Sub(from))/float64(p.step()))))
	each = (steps + most - 1) / most
	width = (steps + each - 1) / each
	peaks = make(map[int]Hour)
	for _, h := range k.Hours {
		if at := int(h.At.Sub(from)/p.step()) / each; at >= 0 && at < width && h.Units >= peaks[at].Units {
			peaks[at] = h
		}
	}
	return peaks, width, each
}

// chart lays out a key's peaks. An unknown step has no bar, and neither has an hour below
// a tenth of the limit; a note on the page explains that.
func (p *Report) chart(k *Key) chart {
	peaks, width, each := p.columns(k, maxBars)
	c := chart{subject: subjectOf(k.KeyRef), Width: width, Each: p.span(each), Days: p.marks()}
	c.Peak = fmt.Sprintf("%s %s, %s of the limit, %s", wording.About(k.Peak.Units), unitName(k.Unit), wording.WholePercent(k.Peak.Units/k.Limit), p.peakTime(k.Peak.At))
	top := max(1, k.Peak.Units/k.Limit) * 1.05
	y := func(utilization float64) float64 { return 100 * (1 - utilization/top) }
	c.Limit = decimals(y(1))
	over := 0
	var below, above strings.Builder
	for at := range width {
		h, known := peaks[at]
		if !known {
			continue
		}
		u := h.Units / k.Limit
		fmt.Fprintf(&below, "M%d %sh.86V100h-.86z", at, decimals(y(min(u, 1))))
		if u > 1 {
			over++
			fmt.Fprintf(&above, "M%d %sh.86V%sh-.86z", at, decimals(y(u)), c.Limit)
		}
	}
	c.Below, c.Above = below.String(), above.String()
	c.Description = wording.Plural(len(peaks), "bar", "bars") + ", " + count(over) + " above the limit."
	return c
}

func (p *Report) span(steps int) string {
	switch d := time.Duration(steps) * p.step(); {
	case d == time.Hour:
		return "hour"
	case d == time.Second:
		return "second"
	default:
		return wording.Span(d)
	}
}

func (p *Report) peakTime(at time.Time) string {
	if p.step() < time.Hour {
		return "at " + p.Moment(at)
	}
	return "in the hour of " + p.Moment(at)
}

func (p *Report) marks() (all []mark) {
	layout := "Jan 2, 15:04"
	if p.step() < time.Hour {
		layout = "15:04:05"
	}
	for i, part := range []float64{0, 0.5, 1} {
		at := p.From.Add(time.Duration(part * float64(p.To.Sub(p.From))))
		all = append(all, mark{at.In(p.location()).Format(layout), []string{"start", "middle", "end"}[i]})
	}
	return all
}

// heat is a heatmap of a table's or index's keys, a row each, the busiest first.
type heat struct {
	subject
	Keys []string
	// Height is that of the list of keys, in pixels.
	Width, Height     int
	Each, Description string
	// Cells are the cells of each colour, as one shape.
	Cells []cells
	Days  []mark
}

// rowHeight is the height of a heatmap's row in the style sheet, in pixels.
const rowHeight = 22

type cells struct{ Class, Shape string }

// leastDrawn is the share of the limit from which a key is worth a picture. Peaks of the
// store are above it.
const leastDrawn = 0.1

func (k *Key) isWarm() bool { return k.Peak.Units >= leastDrawn*k.Limit }

func (p *Report) heats() (all []heat) {
	var targets []detect.Target
	for i := range p.Keys {
		if k := &p.Keys[i]; k.isWarm() && !slices.Contains(targets, k.Target) {
			targets = append(targets, k.Target)
		}
	}
	for _, t := range targets {
		h := heat{subject: subjectOf(detect.KeyRef{Target: t}), Days: p.marks()}
		shapes := map[string]string{}
		hot := 0
		for i := range p.Keys {
			k := &p.Keys[i]
			if k.Target != t {
				continue
			}
			peaks, width, each := p.columns(k, maxColumns)
			h.Width, h.Each = width, p.span(each)
			for at := range width {
				peak, known := peaks[at]
				if !known {
					continue
				}
				if peak.Units > k.Limit {
					hot++
				}
				shapes[heatmap.Class(peak.Units/k.Limit)] += fmt.Sprintf("M%d %dh1v.9h-1z", at, len(h.Keys))
			}
			h.Keys = append(h.Keys, short(k.Key))
		}
		for _, s := range heatmap.Legend("") {
			if shapes[s.Class] != "" {
				h.Cells = append(h.Cells, cells{s.Class, shapes[s.Class]})
			}
		}
		h.Height = rowHeight * len(h.Keys)
		h.Description = wording.Plural(len(h.Keys), "key", "keys") + ", " + wording.Plural(hot, "cell", "cells") + " above the limit."
		all = append(all, h)
	}
	return all
}

func decimals(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64) }
