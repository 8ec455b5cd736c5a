package chart_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/rollup"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// minutes returns a map of an hour by minutes: a key with so many write units in some of
// them, a tenth of them refused above the limit. The minutes 10 to 19 were not counted, and
// half of minute 20.
func minutes(wcu map[int]int) *chart.Map {
	columns := make(map[int64]*rollup.Rollup)
	for minute, units := range wcu {
		at := noon.Add(time.Duration(minute) * time.Minute)
		load := sketch.KeyLoad{Key: sample.KeyString("k"), Low: sketch.Load{Write: sample.Milli(1000 * units)}}
		if units > 1000 {
			load.Throttled.Write = load.Low.Write / 10
		}
		w := &sketch.Window{Second: at.Unix(), Keys: []sketch.KeyLoad{load}}
		w.Total.Write = load.Low.Write
		columns[at.Unix()] = rollup.OfSecond(w, true)
	}
	m := chart.NewMap(sample.Target{Table: "orders"}, rollup.Minute, noon.Unix(), noon.Add(time.Hour).Unix())
	m.Seen = slices.Concat(slices.Repeat([]int64{60}, 10), make([]int64, 10), []int64{30}, slices.Repeat([]int64{60}, 39))
	m.Lay(columns, chart.Write, 30)
	return m
}

// TestMapPicture: each cell is in its column with the colour of its load; what is over the
// limit or throttled has marks, and times that were not counted are hatched.
func TestMapPicture(t *testing.T) {
	t.Parallel()
	p := minutes(map[int]int{0: 50, 1: 200, 2: 900, 3: 1500, 5: 2500}).Picture()
	got := []string{fmt.Sprint(p.Gaps), fmt.Sprint(p.Partly), fmt.Sprint(p.Columns, p.Height, p.Rules)}
	for _, l := range p.Layers {
		got = append(got, fmt.Sprintf("%s|%s|%s", l.Class, l.Path, l.Text))
	}
	want := []string{
		"[{16.67% 16.67%}]", "[{33.33% 1.67%}]", "60 51 [{39.22% }]",
		"cells heat-0||no colour: to 10%", "cells heat-1|M1 1h1v15h-1z|to 25%", "cells heat-2||to 50%", "cells heat-3||to 80%", "cells heat-4|M2 1h1v15h-1z|to 100%",
		"cells heat-5|M3 1h1v15h-1z|over the limit", "cells heat-6|M5 1h1v15h-1z|over twice the limit",
		"cells over|M3 0h1v1h-1z|", "cells far|M5 4h1v2h-1z|", "cells refused|M3 17h1v1h-1zM5 17h1v1h-1z|throttled",
		"others|" + p.Layers[10].Path + "|",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the picture has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if want := []chart.Tick{{"16.67%", "12:10"}, {"33.33%", "12:20"}, {"50%", "12:30"}, {"66.67%", "12:40"}, {"83.33%", "12:50"}}; !slices.Equal(p.Times, want) {
		t.Errorf("the times are %v, want %v", p.Times, want)
	}
}

// TestSeconds: the load of a key is beside the limit, in its served and its throttled part.
func TestSeconds(t *testing.T) {
	t.Parallel()
	m := minutes(map[int]int{0: 500, 3: 2000})
	s := chart.NewSeconds(m)
	if len(s.Rules) != 6 || s.Rules[4].Text != "2,000" || s.Limit != (chart.Tick{At: "61.6%", Text: "limit 1,000"}) {
		t.Errorf("the rules are %v, the limit %v", s.Rules, s.Limit)
	}
	got := []string{fmt.Sprint(s.Gaps)}
	for _, l := range s.Layers {
		got = append(got, fmt.Sprintf("%s|%.40s|%s", l.Class, l.Path, l.Text))
	}
	want := []string{
		"[{16.67% 16.67%}]", "consumed|M0 242.4h1v57.6h-1zM3 92.64h1v207.36h-1z|consumed", "throttled|M3 69.6h1v23.04h-1z|throttled",
		"line|M0 242.4h1V300h1V300h1V69.6h1V300h1V300h|",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the picture has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if chart.NewSeconds(nil) != nil {
		t.Error("no map has a picture")
	}
}

// TestTrend: bars are up to the limit or over it, and what was not counted is neither.
func TestTrend(t *testing.T) {
	t.Parallel()
	for want, cells := range map[string][]chart.TrendCell{
		"Last hour: not counted":                                                      {{Unknown: true}, {Unknown: true}},
		"Last hour: no load seen near the limit":                                      {{}, {Load: true}},
		"Last hour: over the limit, highest in the 60 s from 12:01; 60 s not counted": {{Share: 0.5, Load: true}, {Share: 1.5, Load: true}, {Unknown: true}},
	} {
		if p := chart.NewTrend("Last hour", cells, noon, time.Minute); p.Text != want || p.Width() != 2*len(cells) {
			t.Errorf("the picture is %d wide and says %q, want %q", p.Width(), p.Text, want)
		}
	}
}
