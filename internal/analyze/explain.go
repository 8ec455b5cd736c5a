package analyze

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/whatif"
	"github.com/keyheat/keyheat/sample"
)

// keySeconds are the seconds of one key in one table or index, in order.
type keySeconds struct {
	table, index string
	key          sample.Key
	seconds      []whatif.Second
}

// find looks for a key by its text, in every table and index.
func (s *sketches) find(key string) []keySeconds {
	byTarget := map[[3]string]*keySeconds{}
	for at, w := range s.windows {
		for i := range w.Keys {
			k := &w.Keys[i]
			if k.Key.Text != key {
				continue
			}
			id := [3]string{at.table, at.index, k.Key.Type}
			if byTarget[id] == nil {
				byTarget[id] = &keySeconds{table: at.table, index: at.index, key: k.Key}
			}
			of := byTarget[id]
			of.seconds = append(of.seconds, whatif.Second{At: at.second, Low: k.Low, Err: k.Err, Requests: k.Requests})
		}
	}
	var all []keySeconds
	for _, of := range byTarget {
		slices.SortFunc(of.seconds, func(a, b whatif.Second) int { return cmp.Compare(a.At, b.At) })
		all = append(all, *of)
	}
	slices.SortFunc(all, func(a, b keySeconds) int {
		return cmp.Or(cmp.Compare(a.table, b.table), cmp.Compare(a.index, b.index), cmp.Compare(a.key.Type, b.key.Type))
	})
	return all
}

// explanation is what is told of one key, or pattern of keys.
type explanation struct {
	key         string
	found       []detect.Finding
	seconds     []keySeconds
	tables      map[[2]string]detect.Table
	suggestions []string
	samplesRead string // what was read
}

// mostSuggested is how many other keys are named to someone who asked for one
// that is not there.
const maxSuggestions = 10

// explain gathers what there is to tell of a key.
func (f *fold) explain(key string, r *Result) *explanation {
	e := &explanation{key: key, seconds: f.find(key), tables: map[[2]string]detect.Table{}, samplesRead: r.samplesRead()}
	for i := range r.Findings {
		found := &r.Findings[i]
		if found.Key == key {
			e.found = append(e.found, *found)
		} else if found.Key != "" && len(e.suggestions) < maxSuggestions && !slices.Contains(e.suggestions, found.Key) {
			e.suggestions = append(e.suggestions, found.Key)
		}
	}
	for i := range r.Tables {
		t := &r.Tables[i]
		e.tables[[2]string{t.Table, t.Index}] = *t
	}
	return e
}

// pageWidth is the width of a page of words.
const pageWidth = 88

// page writes paragraphs.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// say wraps a paragraph behind an indent; its first line stands behind mark.
func (p *page) paragraph(indent int, mark, paragraph string) {
	for i, line := range strings.Split(text.WrapSoft(paragraph, pageWidth-indent), "\n") {
		lead := strings.Repeat(" ", indent)
		if i == 0 {
			lead = fmt.Sprintf("%*s", indent, mark)
		}
		p.line("%s%s", lead, strings.TrimRight(line, " "))
	}
}

func (p *page) heading(title string) { p.line("\n%s", title) }

func (p *page) fact(name, format string, args ...any) {
	p.paragraph(14, fmt.Sprintf("  %-12s", name), fmt.Sprintf(format, args...))
}

// write tells everything about the key.
func (e *explanation) write(out io.Writer) error {
	p := &page{}
	if len(e.found) == 0 && len(e.seconds) == 0 {
		p.paragraph(0, "", fmt.Sprintf("%s is not in the samples, or so far from any limit that it was not kept.", printable(e.key)))
		if len(e.suggestions) > 0 {
			p.line("Keys with findings are:")
			for _, key := range e.suggestions {
				p.line("  %s", printable(key))
			}
		}
		p.WriteString(e.samplesRead)
	}
	explained := map[[2]string]bool{}
	for i := range e.found {
		f := &e.found[i]
		if i > 0 {
			p.line("\n%s", strings.Repeat("─", pageWidth))
		}
		e.finding(p, f)
		explained[[2]string{f.Table, f.Index}] = true
	}
	for _, s := range e.seconds {
		if !explained[[2]string{s.table, s.index}] {
			e.withoutFinding(p, s)
		}
	}
	_, err := io.WriteString(out, p.String())
	return err
}

// isHeat says whether a kind is about what is too hot now, and not about how a
// key is made or used.
func isLoad(k detect.Kind) bool {
	switch k {
	case detect.HotKeyWrite, detect.HotKeyRead, detect.HotGSIKey, detect.HotPartition, detect.TableStarvation, detect.RollingHotKey:
		return true
	}
	return false
}

// headline is what a finding means to someone who sees one for the first time.
func headline(f *detect.Finding) string {
	switch {
	case f.Kind == detect.TableStarvation:
		return "the table as a whole is asked for more than it is given"
	case f.Kind == detect.HotPartition:
		return "a partition refuses requests, though no key is near a limit"
	case f.Severity == detect.Critical && f.OverSeconds > 0:
		return "this key is asked for more than one partition can give"
	case f.Severity == detect.Critical:
		return "this key has filled its partition: what it is asked for beyond that is refused"
	case f.Severity == detect.Warning:
		return "this key is close to what one partition can give"
	}
	return "worth knowing, no reason to wake anybody"
}

func (e *explanation) finding(p *page, f *detect.Finding) {
	p.line("%s in %s", printable(cmp.Or(f.Key, "All keys")), target(f.Table, f.Index))
	p.paragraph(2, "  ", fmt.Sprintf("%s (%s): %s.", strings.ToUpper(string(f.Severity)), f.Kind, headline(f)))

	p.heading("What was seen")
	reads := f.Peak.RCU.Value/3000 > f.Peak.WCU.Value/1000
	unit, limit, highest, mean := "WCU", 1000.0, f.Peak.WCU, f.Mean.WCU
	if reads {
		unit, limit, highest, mean = "RCU", 3000.0, f.Peak.RCU, f.Mean.RCU
	}
	p.fact("peak", "%s %s in the second %s, %s times the %s that one partition gives",
		figure(highest), unit, f.Peak.At.Format("2006-01-02 15:04:05 MST"), amount(highest.Value/limit), amount(limit))
	p.fact("mean", "%s %s over %d seconds", figure(mean), unit, f.Seconds)
	if other := f.Peak.RCU; !reads && other.Value >= 1 {
		p.fact("beside", "up to %s RCU in a second", figure(other))
	} else if other := f.Peak.WCU; reads && other.Value >= 1 {
		p.fact("beside", "up to %s WCU in a second", figure(other))
	}
	if f.OverSeconds+f.PossibleSeconds+f.SaturatedSeconds > 0 || isLoad(f.Kind) {
		p.fact("over", "%d seconds above the limit for certain, %d more perhaps, %d on a flat top at it", f.OverSeconds, f.PossibleSeconds, f.SaturatedSeconds)
	}
	if f.Kind != detect.HotPartition && f.Kind != detect.TableStarvation && f.Share > 0 {
		p.fact("share", "%s%% of the load of %s", amount(math.Round(1000*f.Share)/10), target(f.Table, f.Index))
	}
	if lost := max(f.Peak.WCU.Value-f.Consumed.WCU, f.Peak.RCU.Value-f.Consumed.RCU); lost >= 1 && f.Consumed.WCU+f.Consumed.RCU > 0 {
		p.fact("refused", "%s units of the peak's second were refused, or may have been", amount(lost))
	}
	e.chart(p, f, reads, limit)
	requests(p, f.Evidence)

	if isLoad(f.Kind) || f.Reason != detect.Undetermined {
		p.heading(fmt.Sprintf("Why DynamoDB does not heal it by itself: %s", f.Reason))
	} else {
		p.heading("Why this is said")
	}
	p.paragraph(2, "  ", f.Why)

	p.heading("What to do, in this order")
	for i, step := range f.Advice {
		p.paragraph(5, fmt.Sprintf("  %d. ", i+1), step.Text)
	}
	e.confidence(p, f)
}

// sure says how far the figures can be trusted.
func (e *explanation) confidence(p *page, f *detect.Finding) {
	p.heading("How sure this is")
	highest := f.Peak.WCU
	if f.Peak.RCU.Value/3000 > f.Peak.WCU.Value/1000 {
		highest = f.Peak.RCU
	}
	switch {
	case highest.Low == highest.High:
		p.paragraph(2, "  ", "The peak is exact: every sample of the key was counted, and every request sampled.")
	case highest.Low == highest.Value:
		p.paragraph(2, "  ", fmt.Sprintf("The peak is at least %s for certain, and at most %s: that much may belong to keys that shared its place in the sketch.", amount(highest.Low), amount(highest.High)))
	default:
		p.paragraph(2, "  ", fmt.Sprintf("The samples stand for %s; with 95%% the truth is between %s and %s, because not every request was sampled. The severity is decided on what holds with 99.9999%%.", amount(highest.Value), amount(highest.Low), amount(highest.High)))
	}
	t := e.tables[[2]string{f.Table, f.Index}]
	if highest.Low != highest.Value {
		provable := t.Provable.WCU
		if f.Kind == detect.HotKeyRead {
			provable = t.Provable.RCU
		}
		p.paragraph(2, "  ", fmt.Sprintf("At this sampling a single second proves a load above the limit from %s on; a smaller one is proven by its mean of 10 or 60 seconds, or stays possible.", amount(provable)))
	}
	if u := t.Unseen; u.WCU > 0 || u.RCU > 0 {
		p.paragraph(2, "  ", fmt.Sprintf("A key that is not listed at all had at most %s WCU and %s RCU in any second.", amount(u.WCU), amount(u.RCU)))
	}
	for _, g := range f.Quality.Gaps {
		p.paragraph(2, "  ", fmt.Sprintf("Not counted: %s from %s: %s.", printable(g.Partition), g.From, printable(g.Reason)))
	}
}

// requests says what the requests were like.
func requests(p *page, e *detect.Evidence) {
	if e == nil || e.Records == 0 {
		return
	}
	p.heading(fmt.Sprintf("What the requests were like (%d samples from the %d hottest seconds)", e.Records, e.Seconds))
	var ops []string
	for _, o := range e.Operations {
		ops = append(ops, fmt.Sprintf("%s %.0f%%", o.Op, 100*o.Share))
	}
	if len(ops) > 0 {
		p.fact("operations", "%s of the load", strings.Join(ops, ", "))
	}
	if s := e.SortKeys; s != nil {
		order := "in no order"
		if s.Steps > 0 && s.Rising > detect.MonotonicShare {
			order = "rising from one write to the next"
		} else if s.Steps > 0 && s.Rising < 1-detect.MonotonicShare {
			order = "falling from one write to the next"
		}
		p.fact("sort keys", "about %.0f in the hottest second, %s", s.Distinct, order)
	}
	shares(p, "items", e.Items)
	shares(p, "callers", e.Callers)
	if e.ItemBytes > 0 {
		p.fact("item size", "%s bytes on average", amount(e.ItemBytes))
	}
	if e.ChangedShare != nil {
		p.fact("changes", "%.1f%% of an item's bytes in a write", 100**e.ChangedShare)
		shares(p, "attributes", e.Attributes)
	}
	for _, cause := range []sample.Cause{sample.KeyRange, sample.Provisioned, sample.MaxOnDemand, sample.AccountLimit, sample.CauseUnknown} {
		if n := e.Refused[cause.String()]; n > 0 {
			p.fact("refused", "%d requests, cause %s", n, cause)
		}
	}
}

// shares lists the three largest parts that are worth naming.
func shares(p *page, name string, parts []detect.Part) {
	var words []string
	for _, part := range parts[:min(3, len(parts))] {
		if part.Low >= 0.01 {
			words = append(words, fmt.Sprintf("%s with %.0f to %.0f%%", printable(part.Text), 100*part.Low, 100*part.High))
		}
	}
	if len(words) > 0 {
		p.fact(name, "%s", strings.Join(words, "; "))
	}
}

// cool tells of a key without a finding.
func (e *explanation) withoutFinding(p *page, s keySeconds) {
	var writes, reads whatif.Second
	for _, second := range s.seconds {
		if second.Low.Write >= writes.Low.Write {
			writes = second
		}
		if second.Low.Read >= reads.Low.Read {
			reads = second
		}
	}
	p.line("%s in %s", printable(s.key.Text), target(s.table, s.index))
	p.paragraph(2, "  ", noFinding(writes.Low.Plus(writes.Err).Write, reads.Low.Plus(reads.Err).Read))
	p.heading("What was seen")
	p.fact("writes", "up to %s WCU in one second, of 1,000", amount(float64(writes.Low.Write+writes.Err.Write)/1000))
	p.fact("reads", "up to %s RCU in one second, of 3,000", amount(float64(reads.Low.Read+reads.Err.Read)/1000))
	p.fact("seconds", "%d in which it was seen, from %s to %s", len(s.seconds), clock(s.seconds[0].At), clock(s.seconds[len(s.seconds)-1].At))
}

// noFinding says why there is none, given a key's highest seconds: seen from a few
// samples it may look hot without being so.
func noFinding(writes, reads sample.Milli) string {
	if float64(writes) > detect.DefaultWarning*float64(detect.PartitionWrite) || float64(reads) > detect.DefaultWarning*float64(detect.PartitionRead) {
		return "No finding: from what was seen the key may have been near what one partition gives, but nothing proves it, or the policy leaves it out."
	}
	return "No finding: this key is not near what one partition gives."
}

func clock(second int64) string { return time.Unix(second, 0).UTC().Format("15:04:05") }

// The picture of a key's seconds.
const (
	chartWidth  = 72
	chartHeight = 8
)

// picture draws the key's load second by second, its highest one for each
// column, against the limit.
func (e *explanation) chart(p *page, f *detect.Finding, reads bool, limit float64) {
	for _, s := range e.seconds {
		if s.table != f.Table || s.index != f.Index || s.key.Text != f.Key {
			continue
		}
		from, to := s.seconds[0].At, s.seconds[len(s.seconds)-1].At+1
		each := (to - from + chartWidth - 1) / chartWidth
		loads := make([]float64, (to-from+each-1)/each)
		highest := limit
		for _, at := range s.seconds {
			load := float64(at.Low.Write) / 1000
			if reads {
				load = float64(at.Low.Read) / 1000
			}
			i := (at.At - from) / each
			loads[i] = max(loads[i], load)
			highest = max(highest, load)
		}
		draw(p, loads, highest, limit)
		axis := fmt.Sprintf("%-*s%s", max(1, len(loads)-8), clock(from), clock(to-1))
		p.line("          %s", axis)
		p.line("          each column %s, its highest second; ┄ is the limit of %s", duration(each), amount(limit))
		return
	}
}

func duration(seconds int64) string {
	if seconds == 1 {
		return "is one second"
	}
	return fmt.Sprintf("is %d seconds", seconds)
}

var eighths = []rune(" ▁▂▃▄▅▆▇█")

func draw(p *page, loads []float64, highest, limit float64) {
	p.line("")
	line := min(chartHeight-1, int(limit/highest*chartHeight))
	for row := chartHeight - 1; row >= 0; row-- {
		label := ""
		switch row {
		case chartHeight - 1:
			label = amount(highest)
		case line:
			label = amount(limit)
		}
		var b strings.Builder
		for _, load := range loads {
			level := int(math.Ceil(load/highest*chartHeight*8)) - 8*row
			mark := eighths[min(8, max(0, level))]
			if mark == ' ' && row == line {
				mark = '┄'
			}
			b.WriteRune(mark)
		}
		p.line("  %7s %s", label, strings.TrimRight(b.String(), " "))
	}
}

// figure is an amount with its bounds, where these differ.
func figure(f detect.Figure) string {
	if amount(f.Low) == amount(f.Value) && amount(f.High) == amount(f.Value) {
		return amount(f.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", amount(f.Value), amount(f.Low), amount(f.High))
}

// amount writes an amount for people: thousands apart, small ones with a decimal.
func amount(v float64) string {
	if v < 10 && v != math.Trunc(v) {
		return fmt.Sprintf("%.1f", v)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
