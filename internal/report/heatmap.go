package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/internal/web/heatmap"
)

// Key is a key that a report about files draws.
type Key struct {
	detect.KeyRef
	// Steps are in the order of time. A missing step had no request of the key.
	Steps []Step
}

// Step is a key's highest second in a step of time, as a share of the partition's limit.
type Step struct {
	At          time.Time
	Utilization float64
}

// Raise raises the key's step at a time, which is the last one or later.
func (k *Key) Raise(at time.Time, utilization float64) {
	if n := len(k.Steps); n > 0 && k.Steps[n-1].At.Equal(at) {
		k.Steps[n-1].Utilization = max(k.Steps[n-1].Utilization, utilization)
	} else {
		k.Steps = append(k.Steps, Step{at, utilization})
	}
}

// leastDrawn is the share of the limit from which a key is worth a picture.
const leastDrawn = 0.1

func (k *Key) isWarm() bool {
	return slices.ContainsFunc(k.Steps, func(s Step) bool { return s.Utilization >= leastDrawn })
}

// heat is a heatmap of a table's or index's keys, a row each, the busiest first.
type heat struct {
	subject
	Keys []string
	// Width is the number of columns, Height that of the list of keys in pixels.
	Width, Height     int
	Each, Description string
	// Cells are the cells of each colour, as one shape.
	Cells []cells
	// Times are marks below.
	Times []string
}

// rowHeight is the height of a heatmap's row in the style sheet, in pixels.
const rowHeight = 22

type cells struct{ Class, Shape string }

func (p *Report) heats() (all []heat) {
	var targets []detect.Target
	for i := range p.Keys {
		if k := &p.Keys[i]; k.isWarm() && !slices.Contains(targets, k.Target) {
			targets = append(targets, k.Target)
		}
	}
	for _, t := range targets {
		all = append(all, p.heat(t))
	}
	return all
}

func (p *Report) heat(t detect.Target) heat {
	column := func(at time.Time) int {
		return int(at.Unix()/int64(p.Step/time.Second) - p.From.Unix()/int64(p.Step/time.Second))
	}
	h := heat{
		subject: subjectOf(detect.KeyRef{Target: t}), Each: wording.Span(p.Step), Width: 1 + column(p.To.Add(-time.Second)),
		Times: []string{p.Moment(p.From), p.Moment(p.To)},
	}
	shapes := map[string]string{}
	hot := 0
	for _, k := range p.Keys {
		if k.Target != t {
			continue
		}
		for _, s := range k.Steps {
			if s.Utilization > 1 {
				hot++
			}
			shapes[heatmap.Class(s.Utilization)] += fmt.Sprintf("M%d %dh1v.9h-1z", column(s.At), len(h.Keys))
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
	return h
}
