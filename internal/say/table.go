package say

import (
	"fmt"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// TableLoad returns the requests and the load of a table or index. Samples may not mark
// throttled requests: the others are known to be served only if some samples do.
func TableLoad(t *detect.Table) (all []Line) {
	about, consumed, sampled := "", "", ""
	if t.Provable.WCU > 0 || t.Provable.RCU > 0 { // each sample stands for some requests
		about, sampled = "about ", " of the samples"
	}
	seen := fmt.Sprintf("%s requests%s in %s, none marked as throttled", wording.Count(t.Requests), sampled, wording.Seconds(int(t.Seconds)))
	if t.Throttled.Requests > 0 {
		consumed = " consumed"
		seen = fmt.Sprintf("%s served requests%s in %s", wording.Count(t.Requests), sampled, wording.Seconds(int(t.Seconds)))
	}
	all = append(all, Line{"seen", seen})
	for _, l := range []struct {
		name, unit string
		sum        float64
	}{{"writes", "WCU", t.WCU}, {"reads", "RCU", t.RCU}} {
		text := "0 " + l.unit
		if l.sum > 0 {
			text = fmt.Sprintf("%s%s %s%s, on average %s %s/s", about, wording.About(l.sum), l.unit, consumed, wording.About(detect.Ratio(l.sum, float64(t.Seconds))), l.unit)
		}
		all = append(all, Line{l.name, text})
	}
	if n := t.Throttled; n.Requests > 0 {
		text := wording.Count(n.Requests) + " attempts" + sampled
		if n.WCU+n.RCU > 0 { // a request that was sent again has its units in its last attempt
			text += fmt.Sprintf(" of %s WCU and %s RCU", wording.About(n.WCU), wording.About(n.RCU))
		}
		all = append(all, Line{"throttled", text})
	}
	return all
}

// mostOfTheTime is the share of a table's time, from its first second to its last, that a
// view must cover to stand for all of it.
const mostOfTheTime = 0.9

// JudgedTime names the judged seconds of a table's keys, if it had load in few of them;
// empty otherwise.
func JudgedTime(t *detect.Table) string {
	from, to := t.View.From.UTC(), t.View.To.UTC()
	if float64(t.Seconds) >= mostOfTheTime*to.Sub(from).Seconds() {
		return ""
	}
	return fmt.Sprintf(" Judged over the %s with load, of the %s from %s to %s.",
		wording.Seconds(int(t.Seconds)), wording.Span(to.Sub(from)), from.Format(time.DateTime), to.Add(-time.Second).Format(moment))
}

// HeaviestKeys names the keys with the most load, if that is proven to exceed an even share.
func HeaviestKeys(v *detect.View) string {
	if last := v.Top[len(v.Top)-1].Share; len(v.Top) > 1 && v.DistinctKeys.Low > float64(len(v.Top)) && v.Top[0].Share == last {
		switch {
		case last.Low == last.High && last.Low*v.DistinctKeys.Value >= 2:
			return fmt.Sprintf("at least %d keys have %.3g%% each", len(v.Top), 100*last.Low)
		case last.Low == last.High:
			return fmt.Sprintf("no key stands out: at least %d have %.3g%% each", len(v.Top), 100*last.Low)
		}
		return "no key stands out: none has more than " + wording.PercentAtMost(last.High)
	}
	var all []string
	for _, k := range v.Top {
		if k.Share.Low*v.DistinctKeys.Value >= 1 {
			all = append(all, fmt.Sprintf("%s %.3g%%", quote(k.Key), 100*k.Share.Low))
		}
	}
	switch text := strings.Join(all, ", "); {
	case text == "":
		return "no key stands out"
	case v.WriteShare > 0 && v.WriteShare < 1:
		return text + ", of reads and writes together"
	default:
		return text
	}
}

// Growth writes the growth of a key's peaks, and when they reach the limit.
func Growth(g *detect.GrowingKey) string {
	unit, n := strings.ToUpper(g.Forecast.Unit), g.Forecast.Growth
	text := fmt.Sprintf("%s grows by %.3g %s a day (%.3g to %.3g)", quote(g.Key), n.Value, unit, n.Low, n.High)
	if c := g.Forecast.At100; c != nil {
		text += fmt.Sprintf(" and reaches the limit on %s (%s to %s)", c.At.Format(time.DateOnly), c.Earliest.Format(time.DateOnly), c.Latest.Format(time.DateOnly))
	}
	return text + "."
}
