package heatmap

import (
	"fmt"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// Number is a figure of a table with its unit and subject.
type Number struct {
	Name, Value, Text string
	// Earlier is the same figure of the time that this one is compared with; empty
	// without one.
	Earlier string
	// Over reports that the figure is above the limit, or of throttled requests.
	Over bool
}

// Unknown is the value of a number that nobody measured.
const Unknown = "unknown"

// Numbers returns the figures of a map's time, beside those of an earlier map if that is
// not nil. when says how much earlier it is.
func (m *Map) Numbers(earlier *Map, when string) []Number {
	all := []Number{m.rateNumber(), m.hottestNumber(), m.throttledNumber()}
	if earlier != nil {
		for i, before := range earlier.Numbers(nil, "") {
			all[i].Earlier = when + ": " + before.Value
		}
	}
	return all
}

// Peak returns the highest value of a row, as a share of the limit.
func (m *Map) Peak(row int) float64 { return m.Rows[row].Hottest().Value / m.Limit }

// Summary returns the worst row of a map with rows.
func (m *Map) Summary() say.Heat {
	hottest := m.Hottest()
	cell := hottest.Hottest()
	h := say.Heat{Key: hottest.Key, Share: cell.Value / m.Limit, Throttled: m.What == Throttled, At: m.ColumnTime(cell.Column), Dated: m.To.Sub(m.From) > 24*time.Hour}
	for _, c := range hottest.Cells {
		if c.Value <= m.Limit {
			continue
		}
		if h.From.IsZero() {
			h.From = m.ColumnTime(c.Column)
		}
		h.To = m.ColumnTime(c.Column + 1)
	}
	for _, row := range m.Rows {
		if row.Over > 0 && row.Key != hottest.Key {
			h.Others++
		}
	}
	return h
}

func (m *Map) rateNumber() Number {
	n := Number{Name: "Requested on average", Value: Unknown, Text: "no second was counted"}
	if m.Seconds > 0 {
		rate := func(units float64) string { return wording.Significant(units / float64(m.Seconds)) }
		n.Value = rate(detect.Units(m.Total.Load.Write)) + " WCU/s"
		n.Text = fmt.Sprintf("and %s RCU/s, in %s counted seconds", rate(detect.Units(m.Total.Load.Read)), wording.Count(m.Seconds))
	}
	return n
}

func (m *Map) hottestNumber() Number {
	side := map[string]string{Write: "writes", Read: "reads", Throttled: "throttled"}[m.What]
	n := Number{Name: "Hottest key, " + side, Value: Unknown, Text: "no second was counted"}
	hottest := m.Hottest()
	switch {
	case hottest != nil:
		cell := hottest.Hottest()
		n.Value, n.Over = wording.Percent(cell.Value/m.Limit), cell.Value > m.Limit
		n.Text = fmt.Sprintf("of a partition's limit, %s at %s", wording.Quote(wording.Shorten(hottest.Key, 24)), m.ColumnTime(cell.Column).Format("15:04:05"))
		if m.What == Throttled {
			n.Text = "of its requested units, " + wording.Quote(wording.Shorten(hottest.Key, 24))
		}
	case m.Seconds > 0:
		n.Value, n.Text = "below 2%", "of a partition's limit"
	}
	return n
}

func (m *Map) throttledNumber() Number {
	n := Number{Name: "Throttled", Value: Unknown, Text: "no request was counted"}
	switch t := m.Total; {
	case t.ThrottledRequests > 0:
		n.Value, n.Text, n.Over = wording.Percent(detect.Ratio(float64(t.ThrottledRequests), float64(t.Requests))), "of the requests", true
	case t.Requests > 0:
		n.Value, n.Text = "none seen", "of "+wording.Count(t.Requests)+" requests"
	}
	return n
}

// KeysNumber is how many keys were requested; nil for an unknown number.
func KeysNumber(keys *int64) Number {
	if keys == nil {
		return Number{Name: "Keys requested", Value: Unknown, Text: fmt.Sprintf("known for times up to %d hours", MaxDistinctMinutes/60)}
	}
	return Number{Name: "Keys requested", Value: "about " + wording.Significant(float64(*keys)), Text: "distinct keys"}
}
