package say

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// TableLoad returns the requests and the load of a table or index. Samples may not mark
// throttled requests: the others are known to be served only if some samples do.
func TableLoad(t *detect.Table) (all []Line) {
	about, consumed, sampled := "", "", ""
	if t.IsSampled() {
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

// Sums says of which tables and indexes the rows are sums, with the highest mean of a key; empty if
// all rows are requests.
func Sums(tables []detect.Table) string {
	var all []string
	for i := range tables {
		t := &tables[i]
		if t.Resolution <= 1 {
			continue
		}
		span := wording.Span(time.Duration(t.Resolution) * time.Second)
		text := fmt.Sprintf("Rows of %s look like sums over %s: their times are so far apart. No single second can be judged", wording.Printable(t.Name()), span)
		if t.View != nil && len(t.View.Top) > 0 {
			top, seconds := t.View.Top[0], float64(t.Seconds)/float64(t.Resolution)
			load := wording.Significant(top.WCU/seconds) + " WCU/s"
			if top.RCU > top.WCU {
				load = wording.Significant(top.RCU/seconds) + " RCU/s"
			}
			text += fmt.Sprintf("; the busiest key, %s, has %s on average", quote(top.Key), load)
		}
		all = append(all, text+".")
	}
	return strings.Join(all, " ")
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

// Ceiling returns the load of the whole table at which one key fills a partition.
func Ceiling(units *float64, unit string) string {
	if units == nil {
		return "not limited by a key"
	}
	return "at about " + wording.Significant(*units) + " " + unit + "/s of the whole"
}

// DistinctKeys writes a count, with "about" for an estimate, and "at least" for a lower
// bound.
func DistinctKeys(f detect.Figure) string {
	if f.Low == f.High {
		return wording.About(f.Value)
	}
	digits := math.Pow(10, max(0, math.Floor(math.Log10(max(1, f.Value)))-2))
	if f.Low == f.Value {
		return "at least " + wording.About(math.Floor(f.Value/digits)*digits)
	}
	return "about " + wording.About(math.Round(f.Value/digits)*digits)
}

// Coverage returns the part of the real load that the samples show; empty if unknown.
func Coverage(of *detect.TableCloudWatch) string {
	switch {
	case of == nil || of.Write == nil && of.Read == nil:
		return ""
	case of.Read == nil:
		return wording.WholePercent(of.Write.Value) + " of writes"
	case of.Write == nil:
		return wording.WholePercent(of.Read.Value) + " of reads"
	}
	return wording.WholePercent(of.Write.Value) + " of writes, " + wording.WholePercent(of.Read.Value) + " of reads"
}

// EffectivePartitions explains how many partitions' load a table can serve.
func EffectivePartitions(n *float64) string {
	if n == nil {
		return "no key stands out"
	}
	return wording.About(*n) + ": when the hottest key reaches the limit of one partition, the table serves this many times that load"
}
