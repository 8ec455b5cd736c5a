package heatmap

import (
	"fmt"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/chart"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// Number is a figure of a table with its unit and subject.
type Number struct {
	Name, Value, Text string
	// Over reports that the figure is above the limit, or of throttled requests.
	Over bool
}

// unknown is the value of a number that nobody measured.
const unknown = "unknown"

// Numbers returns the figures of a map's time.
func Numbers(m *chart.Map) []Number {
	return []Number{rateNumber(m), hottestNumber(m), throttledNumber(m)}
}

// Summary returns the worst row of a map with rows.
func Summary(m *chart.Map) say.Heat {
	hottest := &m.Rows[0]
	cell := hottest.Hottest()
	h := say.Heat{Key: hottest.Key, Share: m.Peak(0), At: m.ColumnTime(cell.Column), Dated: m.To.Sub(m.From) > 24*time.Hour}
	for _, c := range hottest.Cells {
		if c.Value <= m.Limit {
			continue
		}
		if h.From.IsZero() {
			h.From = m.ColumnTime(c.Column)
		}
		h.To = m.ColumnTime(c.Column + 1)
	}
	for _, row := range m.Rows[1:] {
		if row.Over > 0 {
			h.Others++
		}
	}
	return h
}

func rateNumber(m *chart.Map) Number {
	n := Number{Name: "Requested on average", Value: unknown, Text: "no second was counted"}
	if m.Seconds > 0 {
		rate := func(units float64) string { return wording.Significant(units / float64(m.Seconds)) }
		n.Value = rate(detect.Units(m.Total.Load.Write)) + " WCU/s"
		n.Text = fmt.Sprintf("and %s RCU/s, in %s counted seconds", rate(detect.Units(m.Total.Load.Read)), wording.Count(m.Seconds))
	}
	return n
}

func hottestNumber(m *chart.Map) Number {
	n := Number{Name: "Hottest key, " + m.What + "s", Value: unknown, Text: "no second was counted"}
	switch {
	case len(m.Rows) > 0:
		row := &m.Rows[0]
		n.Value, n.Over = wording.Percent(m.Peak(0)), row.Over > 0
		n.Text = fmt.Sprintf("of a partition's limit, %s at %s", wording.Quote(wording.Shorten(row.Key, 24)), m.ColumnTime(row.Hottest().Column).Format(time.TimeOnly))
	case m.Seconds > 0:
		n.Value, n.Text = "below 2%", "of a partition's limit"
	}
	return n
}

func throttledNumber(m *chart.Map) Number {
	n := Number{Name: "Throttled", Value: unknown, Text: "no request was counted"}
	switch t := m.Total; {
	case t.ThrottledRequests > 0:
		n.Value, n.Text, n.Over = wording.Percent(detect.Ratio(float64(t.ThrottledRequests), float64(t.Requests))), "of the requests", true
	case t.Requests > 0:
		n.Value, n.Text = "none seen", "of "+wording.Count(t.Requests)+" requests"
	}
	return n
}
