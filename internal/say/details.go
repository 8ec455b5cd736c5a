package say

import (
	"fmt"
	"strings"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// Tell writes a finding's title, summary and text into it, for a client of the API.
func Tell(f *detect.Finding) {
	b := New(f)
	f.Title, f.Summary, f.Text = b.Title, b.Why, Text(b.Lines())
}

// Details returns the facts behind a finding's answers, beside its load and its requests.
func Details(f *detect.Finding) []Line {
	var all lines
	all.add("diagnosis", strings.ReplaceAll(string(f.Ground), "_", " "))
	if f.Members != nil {
		all.add("keys", members(f.Members))
	}
	if f.Partition != nil {
		all.add("partition", detailsOfPartition(f.Partition))
	}
	all = append(all, RefusedKeys(f.RefusedKeys)...)
	if f.Contention != nil {
		all = append(all, contended(f.Contention)...)
	}
	if f.Blind != nil {
		all = append(all, blind(f.Case, f.Blind)...)
	}
	if e := f.Evidence; e != nil {
		all.add("splits", splits(f, e.Split))
		if e.Split != nil && e.Split.Item >= 0.5 {
			all.add("one item", fmt.Sprintf("at least %s", ofKey(f, e.Split.Item)))
		}
		all.add("retries", toll(e.Retries))
		all.add("growth", growth(f))
	}
	if f.Combined > 1 && f.Utilization <= 1 {
		all.add("combined", fmt.Sprintf("reads and writes add up to %s of their limits", wording.Percent(f.Combined)))
	}
	if r := f.Replication; r != nil {
		text := "replicas in " + wording.Printable(strings.Join(r.Regions, ", "))
		if r.WCU > 0 {
			text += fmt.Sprintf("; other Regions wrote %s of the peak", ofKey(f, r.WCU))
		}
		all.add("global", text)
	}
	all.add("samples", Limits(&f.Quality))
	if f.CloudWatch != nil {
		all.add("CloudWatch", CloudWatch(f))
	}
	return all
}

// growth writes how fast a key's items grow, and when a local index stops them; empty if both
// are unknown. No sample carries their present size.
func growth(f *detect.Finding) string {
	bytes, rate, until := f.Evidence.GrowthBytes, wording.Size, ""
	if bytes == nil && f.Ground == detect.GroundLocalIndex && f.Quality.Estimated != nil && !*f.Quality.Estimated { // by write units
		bytes, until = new((1-deletes(f.Evidence))*f.Mean.WCU.High*sample.WriteUnitBytes), " at the earliest"
		rate = func(bytes float64) string { return "at most " + wording.AtMost(bytes/1024) + " KB" }
	}
	if bytes == nil || *bytes <= 0 {
		return ""
	}
	text := fmt.Sprintf("%s a second: from nothing to 10 GB in %s%s", rate(*bytes), fullIn(*bytes), until)
	if f.Ground == detect.GroundLocalIndex || f.Case == casebook.LargeCollection {
		text += "; writes with ReturnItemCollectionMetrics return the present size"
	}
	return text
}

// deletes returns the share of deletes in a key's writes: they add no item.
func deletes(e *detect.Evidence) float64 {
	deleted, written := 0.0, 0.0
	for _, o := range e.Operations {
		op, _ := sample.ParseOp(o.Op)
		if !op.IsRead() {
			written += o.Share
		}
		if op == sample.DeleteItem {
			deleted += o.Share
		}
	}
	return detect.Ratio(deleted, written)
}

// ofKey writes a load in the unit of a finding's.
func ofKey(f *detect.Finding, units float64) string {
	text := perSecond(units, detect.SideOf(f, "wcu", "rcu"))
	if each := unitsOfRequest(f); each >= manyUnits {
		text += fmt.Sprintf(" (%s %s/s)", perSecondOf(units/each), detect.SideOf(f, "writes", "reads"))
	}
	return text
}

// manyUnits is how many units a request costs, at least, for a rate to name requests, too: people
// set limits in requests.
const manyUnits = 10

// unitsOfRequest is the mean cost of a finding's requests, in the units of its side; 0 if unknown.
func unitsOfRequest(f *detect.Finding) float64 {
	requests, units := 0.0, 0.0
	if f.Evidence == nil {
		return 0
	}
	for _, o := range f.Evidence.Operations {
		if op, _ := sample.ParseOp(o.Op); op.IsRead() == f.InReads() {
			requests, units = requests+o.Requests, units+o.Requests*o.Units
		}
	}
	return detect.Ratio(units, requests)
}

func members(m *detect.Members) string {
	var names []string
	for _, key := range m.Keys {
		names = append(names, quote(key))
	}
	count := keyCount(m.Count)
	if len(names) == 0 {
		return count
	}
	if float64(len(names)) < m.Count.Value {
		return count + ", such as " + strings.Join(names, ", ")
	}
	return strings.Join(names, ", ")
}

// keyCount writes a number of keys: an estimate, a lower bound, or the number itself.
func keyCount(n detect.Figure) string {
	switch {
	case n.Low == n.High:
		return wording.Significant(n.Value)
	case n.Low == n.Value:
		return "at least " + wording.Significant(n.Value)
	}
	return "about " + wording.Significant(n.Value)
}

// splits writes the load that splits of the key's partition would leave.
func splits(f *detect.Finding, s *detect.Split) string {
	if s == nil || s.Seconds == 0 || s.Verdict == detect.SplitHidden {
		return ""
	}
	left := ofKey(f, s.ResidualHigh)
	if low := wording.About(s.ResidualLow); low != wording.About(s.ResidualHigh) {
		left = low + " to " + left
	}
	text := fmt.Sprintf("none in the last %s, at %s on average", wording.Seconds(s.Seconds), ofKey(f, s.Residual))
	switch {
	case s.Splits == 1:
		text = fmt.Sprintf("by the load of the last %s, one leaves %s on the fullest part on average", wording.Seconds(s.Seconds), left)
	case s.Splits > 1:
		text = fmt.Sprintf("by the load of the last %s, %d leave %s on the fullest part on average", wording.Seconds(s.Seconds), s.Splits, left)
	}
	if s.Refused >= 0.005 {
		text += fmt.Sprintf("; the parts refuse %s", wording.Part(s.Refused))
	}
	return text
}

// toll writes the cost of retries to the callers of a key.
func toll(r *detect.Retries) string {
	if r == nil || r.Waited.Value < 0.05 && r.Failed.Value < 1 {
		return ""
	}
	least := ""
	if r.Partial {
		least = "at least "
	}
	waited := least + wording.Figure(r.Waited)
	if r.Waited.Value == 0 && r.Waited.High > 0 {
		waited = "at most " + wording.AtMost(r.Waited.High)
	}
	text := fmt.Sprintf("in %s callers waited %s s", wording.Seconds(int(r.To.Sub(r.From).Seconds())), waited)
	if r.Failed.Value >= 1 {
		text += fmt.Sprintf(", and %s%s calls failed", least, wording.Figure(r.Failed))
	}
	return text
}

// blind writes the figures of a finding about Keyheat itself.
func blind(c detect.Case, b *detect.Blind) (all []Line) {
	var names []string
	for _, name := range b.Names {
		names = append(names, quote(name))
	}
	list := strings.Join(names, ", ")
	switch c {
	case casebook.CollectionLags:
		behind := time.Duration(b.Behind * float64(time.Second))
		waiting := wording.Count(b.Records) + " records wait"
		if list != "" {
			waiting = "how many records wait is not known"
		}
		all = []Line{{"behind", wording.Span(behind) + ", " + waiting}}
		if list != "" {
			all = append(all, Line{"not read", list})
		}
	case casebook.BadSamples:
		all = []Line{{"rejected", wording.Percent(b.BadShare) + " of a collector's samples"}}
		if list != "" {
			all = append(all, Line{"hosts", list})
		}
	case casebook.TablesRefused:
		all = []Line{{"tables", wording.Count(int64(b.Tables)) + " without room"}}
		if list != "" {
			all = append(all, Line{"such as", list})
		}
	case casebook.CoverageFell:
		if b.Before != nil && b.Now != nil {
			all = []Line{{"covered", fmt.Sprintf("%s before, %s now (%s)", wording.Percent(b.Before.Value), wording.Percent(b.Now.Value), wording.PercentRange(b.Now.Low, b.Now.High))}}
		}
	}
	return all
}
