package web

import (
	"fmt"
	"strings"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/internal/web/heatmap"
)

// number is a figure of a table with its unit and subject.
type number struct {
	Name, Value, Text string
	// Earlier is the same figure of the time that this one is compared with; empty
	// without one.
	Earlier string
	// Over reports that the figure is above the limit, or of refused requests.
	Over bool
}

// unknown is the value of a number that nobody measured.
const unknown = "unknown"

// numbers returns the figures of a map's time, beside those of an earlier map if that is
// not nil. when says how much earlier it is.
func numbers(m, earlier *heatmap.Map, when string, keys *int64, c *detect.TableCloudWatch) []number {
	all := []number{rateNumber(m), hottestNumber(m), refusedNumber(m)}
	if earlier != nil {
		for i, before := range []number{rateNumber(earlier), hottestNumber(earlier), refusedNumber(earlier)} {
			all[i].Earlier = when + ": " + before.Value
		}
	}
	known := number{Name: "Keys requested", Value: unknown, Text: fmt.Sprintf("counted for at most %d hours", maxMinutes/60)}
	if keys != nil {
		known.Value, known.Text = "about "+wording.Significant(float64(*keys)), fmt.Sprintf("distinct keys, %d in the map", len(m.Rows))
	}
	covered := number{Name: "Coverage", Value: unknown, Text: "not compared with CloudWatch"}
	if text := coverage(c); text != "" {
		covered.Value, covered.Text, _ = strings.Cut(text, " ")
		covered.Text += " are in the samples, by CloudWatch"
	}
	return append(all, known, covered)
}

// rateNumber is the requested load a second.
func rateNumber(m *heatmap.Map) number {
	n := number{Name: "Requested on average", Value: unknown, Text: "no second was counted"}
	if m.Seconds > 0 {
		rate := func(units float64) string { return wording.Significant(units / float64(m.Seconds)) }
		n.Value = rate(detect.Units(m.Total.Load.Write)) + " WCU/s"
		n.Text = "and " + rate(detect.Units(m.Total.Load.Read)) + " RCU/s, in " + count(int(m.Seconds), "counted second", "counted seconds")
	}
	return n
}

// hottestNumber is the highest second of a key.
func hottestNumber(m *heatmap.Map) number {
	side := map[string]string{heatmap.Write: "writes", heatmap.Read: "reads", heatmap.Throttled: "refused"}[m.What]
	n := number{Name: "Hottest key, " + side, Value: unknown, Text: "no second was counted"}
	if m.Seconds == 0 {
		return n
	}
	hottest := m.Hottest()
	if hottest == nil {
		n.Value, n.Text = "below 2%", "of a partition's limit"
		return n
	}
	cell := hottest.Hottest()
	n.Value, n.Over = percent(cell.Value/m.Limit), cell.Value > m.Limit
	n.Text = fmt.Sprintf("of a partition's limit, %s at %s", keytext(wording.Shorten(hottest.Key, 24)), m.ColumnTime(cell.Column).Format("15:04:05"))
	return n
}

// refusedNumber is the throttled share of the requests.
func refusedNumber(m *heatmap.Map) number {
	n := number{Name: "Refused", Value: unknown, Text: "no request was counted"}
	if m.Total.Requests > 0 {
		share := detect.Ratio(float64(m.Total.ThrottledRequests), float64(m.Total.Requests))
		n.Value, n.Text, n.Over = sharePercent(share), "of the requests", share > 0
		if share == 0 {
			n.Value, n.Text = "none seen", "of "+wording.Count(m.Total.Requests)+" requests"
		}
	}
	return n
}
