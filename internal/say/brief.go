// Package say writes the words that people read about a finding: a title and five answers, in the
// order in which on-call needs them. The answers come from [casebook.New] as codes and
// figures. Text of the monitored system, such as a key or a caller, enters a sentence
// through quote alone.
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

// Brief is a finding in ten seconds. Each text is plain, has no line break, and ends with
// a full stop; an empty one has nothing to say.
type Brief struct {
	// Title has at most 80 characters and no full stop.
	Title string
	// Harm is who is hurt since when, Why the cause with its callers, Now the action for
	// tonight, Heals whether it heals by itself, Then the lasting fix.
	Harm, Why, Now, Heals, Then string
	// Cause is Why without the callers of the key's load, and Callers are the busiest of
	// them.
	Cause   string
	Callers []Caller
}

// Line is one answer under its name.
type Line struct{ Name, Text string }

// lines are answers or facts that have a text.
type lines []Line

// add adds a text under its name, unless it is empty.
func (l *lines) add(name, text string) {
	if text != "" {
		*l = append(*l, Line{name, text})
	}
}

// Label is the name with the colon that stands before the text.
func (l Line) Label() string {
	if strings.HasSuffix(l.Name, "?") {
		return l.Name
	}
	return l.Name + ":"
}

// Text writes lines as plain text, each in a line of its own.
func Text(lines []Line) string {
	all := make([]string, len(lines))
	for i, l := range lines {
		all[i] = l.Label() + " " + l.Text
	}
	return strings.Join(all, "\n")
}

// The names of the lines, in their order.
const (
	LineHarm  = "Harm"
	LineWhy   = "Why"
	LineNow   = "Now"
	LineHeals = "Heals by itself?"
	LineThen  = "Then"
)

// Lines returns the answers that have a text, in their order.
func (b *Brief) Lines() []Line {
	var all lines
	for _, l := range []Line{{LineHarm, b.Harm}, {LineWhy, b.Why}, {LineNow, b.Now}, {LineHeals, b.Heals}, {LineThen, b.Then}} {
		all.add(l.Name, l.Text)
	}
	return all
}

// New returns the brief of a finding.
func New(f *detect.Finding) Brief {
	a := casebook.New(f)
	b := Brief{
		Title: Title(f), Harm: harm(f, &a), Cause: cards[a.Code].why.say(f, &a), Now: now(f, &a), Heals: heals(f, &a), Then: lastingFix(f, &a),
	}
	if b.Cause != "" && a.Code != casebook.RetryStorm {
		b.Callers = callers(a.Callers)
	}
	if b.Cause != "" {
		b.Cause += listCallers(" Callers of the whole table: ", callers(casebook.MainCallers(f.TableCallers)))
	}
	if b.Cause != "" {
		b.Cause += recurrence(f)
	}
	b.Why = b.Cause + whoCalls(f, &a, b.Callers)
	return b
}

// recurrence tells how often bursts came at fixed times; empty for others.
func recurrence(f *detect.Finding) string {
	for i := range f.Advice {
		if a := &f.Advice[i].Arguments; a.Every > 0 && a.Count > 0 {
			times := fmt.Sprintf(" %d times", a.Count)
			if a.AtLeast {
				times = " At least" + times
			}
			return times + ", every " + wording.Span(time.Duration(a.Every)*time.Second) + "."
		}
	}
	return ""
}

const (
	// shownKey is how many characters of a key or caller a sentence shows.
	shownKey = 40
	// shownPlace is how many characters of a table's and index's name a title shows.
	shownPlace = 36
)

// quote is the one way of other people's text into a sentence.
func quote[T ~string](text T) string { return wording.Quote(wording.Shorten(text, shownKey)) }

// subject names the key, keys or table of a finding within a sentence.
func subject(f *detect.Finding) string {
	switch {
	case f.IsPattern():
		return "keys like " + quote(f.Rolling.Template)
	case f.Sharding != nil && !f.Subject.OfKey():
		return "the key shards of " + quote(f.Sharding.Base)
	case f.Key != "":
		return quote(f.Key)
	}
	return wording.Printable(wording.Shorten(f.Name(), shownKey))
}

// requests names the requests that a finding is about.
func requests(f *detect.Finding) string {
	switch {
	case f.Subject.OfTable() && f.Evidence != nil && f.Evidence.Refused[sample.OfIndex.String()]+f.Evidence.Refused[sample.OfIndexCapacity.String()] > 0:
		return "writes"
	case f.Throttling != nil && f.Throttling.Unit == "wcu":
		return "writes"
	case f.Subject.OfTable() && f.Peak.WCU.Value >= 1 && f.Peak.RCU.Value >= 1:
		return "requests"
	}
	return detect.SideOf(f, "writes", "reads")
}

// requestsTo names the requests with the preposition before their key.
func requestsTo(f *detect.Finding) string {
	if w := requests(f); w != "reads" {
		return w + " to"
	}
	return "reads of"
}

func harm(f *detect.Finding, a *casebook.Answer) string {
	h, since := &a.Harm, ""
	switch {
	case cards[a.Code].harm != nil:
		since = " " + fromTo(f, f.FirstSeen, f.LastSeen)
	case h.Own || h.Since.IsZero() || f.State == detect.Resolved && h.None():
	case h.Failed == 0 && h.Refused > 0:
		since = atTimes(f, h.From, h.To, 0.5) + " " + fromTo(f, h.From, h.To)
	case f.Severity != detect.Info && (!h.None() || h.Visible):
		since = "; " + heat(f, h) + " " + fromTo(f, f.FirstSeen, f.LastSeen)
	}
	return strings.TrimSuffix(loss(f, a), ".") + since + "."
}

// atTimes says that a key was above the limit in a part of the time only, of up to a share.
func atTimes(f *detect.Finding, from, to time.Time, share float64) string {
	lasted := int(to.Sub(from).Seconds()) + 1
	if !f.Subject.OfKey() || f.Quality.IsSampled() || f.OverSeconds == nil || lasted < detect.HarmOf || float64(f.SecondsOver()) > share*float64(lasted) {
		return ""
	}
	return " at times"
}

// heat is how hot a finding is: by its limit if it has harmed nobody.
func heat(f *detect.Finding, h *casebook.Harm) string {
	switch {
	case f.Subject == detect.SubjectTable && h.None():
		return "above its capacity"
	case !f.Subject.OfKey() || !h.None() || f.State == detect.Resolved:
		return "hot"
	case f.MayBeServed():
		return "above " + limit(f) + " RCU/s"
	case f.SecondsOver() > 0 && f.OnlyMean():
		return "proven above the limit" // it may have been above it before
	case f.SecondsOver() > 0:
		return "above the limit" + atTimes(f, f.FirstSeen, f.LastSeen, 0.75)
	case f.Severity == detect.Critical:
		return "at the limit"
	case isLikely(f):
		return "probably above the limit"
	case f.PossibleSeconds > 0:
		return "maybe above the limit"
	}
	return "near the limit"
}

// isLikely reports whether the bounds of a sampled key's load, which hold with 95%
// confidence, lie above the limit.
func isLikely(f *detect.Finding) bool {
	return f.PossibleSeconds > 0 && sampledLoad(f).Low > detect.Units(f.Limit())
}

// sampledLoad is the load that few samples show: a mean where they show no second.
func sampledLoad(f *detect.Finding) detect.Figure {
	if f.OnlyMean() {
		return detect.SideOf(f, f.Mean.WCU, f.Mean.RCU)
	}
	return detect.SideOf(f, f.Peak.WCU, f.Peak.RCU)
}

// loss is the harm without its time.
func loss(f *detect.Finding, a *casebook.Answer) string {
	h := &a.Harm
	switch {
	case cards[a.Code].harm != nil:
		return cards[a.Code].harm.say(f, a)
	case h.Own:
		return tense(f, "Unknown: a hot key may go unseen.", "Unknown: a hot key may have gone unseen.")
	case h.Failed > 0:
		of := ownRequests(f)
		if f.Key != "" {
			of = "the key's calls"
		}
		how := "despite retries"
		if f.FailsAtOnce() {
			how = "at their first attempt: these callers do not retry"
		}
		return fmt.Sprintf("%s of %s failed %s.", capital(wording.Part(h.Failed)), of, how)
	case h.Refused > 0:
		return fmt.Sprintf("%s of %s refused.", capital(wording.PartWithin(h.Refused, h.RefusedLow, h.RefusedHigh)), ownRequests(f))
	case h.Attempts > 0:
		return refusedAttempts(f, h.Attempts)
	case !h.Visible && f.Quality.Source == detect.SourceChanges:
		return "Unknown: a stream shows no refusals; check CloudWatch."
	case !h.Visible:
		return "Unknown: the samples do not show refusals."
	case f.State == detect.Resolved && f.Healed != nil:
		return "None since " + f.Healed.Since.UTC().Format("15:04:05 UTC") + ": all requests were served."
	case f.State == detect.Resolved:
		return "None: no refused request was seen."
	}
	if f.Ground == detect.GroundItem && !f.MayBeServed() && f.SecondsOver() >= detect.HarmOf { // DynamoDB must refuse some by now
		return "No refusals in the samples."
	}
	return "No refusals seen yet."
}

// noticed is the mean time, in seconds, from which calls that wait for their retries are the harm.
const noticed = 0.05

// refusedAttempts is the cost of refused attempts: how long calls waited in the last seconds with
// retries, or else how many there were in the hottest seconds.
func refusedAttempts(f *detect.Finding, seen int64) string {
	e := f.Evidence
	if r := e.Retries; r != nil && r.Waited.Low >= noticed*r.Calls {
		return fmt.Sprintf("Calls %s %.1f s on average for retries.", tense(f, "wait", "waited"), detect.Ratio(r.Waited.Value, r.Calls))
	}
	text := capital(attemptsOf(f, seen, e.Seconds)) + " attempts refused"
	if e.Seconds > 0 {
		text += " in " + wording.Seconds(e.Seconds)
	}
	return text + "."
}

// attemptsOf is how many refused attempts so many seen ones stand for. Those of some seconds are the
// least of all.
func attemptsOf(f *detect.Finding, seen int64, seconds int) string {
	n := f.Quality.Extrapolate(seen)
	switch {
	case n.Low < n.High:
		return wording.Significant(n.Low) + " to " + wording.Significant(n.High)
	case seconds > 0:
		return wording.Count(seen)
	}
	return "at least " + wording.Count(seen)
}

// fromTo is the time of a finding's heat or refusals: its first second and how long it has
// lasted or, if it is over, its last second.
func fromTo(f *detect.Finding, first, last time.Time) string {
	first, last = first.UTC(), last.UTC()
	switch {
	case last.Equal(first):
		return first.Format("at 15:04:05 UTC") + ", for 1 s" // a 1 within a layout is the month
	case f.State == detect.Resolved, f.Through.Sub(last) >= detect.ResolveSeconds*time.Second:
		return first.Format("from 15:04:05 to ") + last.Format("15:04:05 UTC")
	}
	lasted := last.Sub(first) + time.Second
	if lasted > 2*time.Minute {
		lasted = lasted.Truncate(time.Minute)
	}
	return first.Format("since 15:04:05 UTC, for ") + wording.Span(lasted)
}

// ownRequests names the requests whose refused share is known: a key's own, the ones of
// several hot keys, or all.
func ownRequests(f *detect.Finding) string {
	switch {
	case f.Case == casebook.FewValues, f.Case == casebook.MovingSpot, f.IsPattern():
		return "the hot keys' " + requests(f)
	case f.Subject.OfTable():
		return "the " + targetWord(f) + "'s " + requests(f)
	}
	if f.Key != "" {
		return "the key's " + requests(f)
	}
	return requests(f)
}

func capital(text string) string {
	if text == "" || text[0] < 'a' || text[0] > 'z' {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// load writes the load of a finding with its limit, and where it is between the two:
// 1,680 WCU/s on one key; one partition takes 1,000.
func load(f *detect.Finding, where string) string {
	text := amount(f) + where
	if _, may := f.Resends(); may {
		text += ", resends included"
	}
	figure := detect.SideOf(f, f.Peak.WCU, f.Peak.RCU)
	switch {
	case f.ReadsEventually():
		return text + fmt.Sprintf("; one partition takes %s to %s", limit(f), wording.Amount(detect.EventualRead))
	case f.Subject.OfKey() && f.Evidence.ThrottledRequests() > 0 && figure.High <= detect.Units(f.Limit()):
		return text + "; its partition takes " + limit(f) + " in all"
	}
	return text + "; one partition takes " + limit(f)
}

// amount writes the load of a finding in its highest second or, where samples do not
// show that, on average.
func amount(f *detect.Finding) string {
	figure, mean, unit := detect.SideOf(f, f.Peak.WCU, f.Peak.RCU), detect.SideOf(f, f.Mean.WCU, f.Mean.RCU), detect.SideOf(f, "WCU/s", "RCU/s")
	text := wording.Significant(figure.Value) + " " + unit
	if _, may := f.Resends(); may {
		return wording.Range(figure.Low, figure.Value) + " " + unit
	}
	if f.OnlyMean() && f.Quality.Source == detect.SourceMinutes && mean.Low < mean.High {
		return "at least " + wording.AtLeast(mean.Low) + " " + unit + " on average"
	}
	if f.OnlyMean() {
		return wording.Significant(mean.Value) + " " + unit + " on average"
	}
	if figure.Low != figure.High {
		text = "about " + text
	}
	if (f.Subject.OfKey() || f.Case == casebook.FewValues && mean.Value > 0) && mean.Value < steady*figure.Value {
		text = "up to " + text
	}
	return text
}

// steady is the least mean of a load whose highest second stands for all of its seconds, as a
// share of that second.
const steady = 0.98

// limit writes a partition's limit, in the unit of a finding's load.
func limit(f *detect.Finding) string {
	return wording.Amount(f.Limit())
}

// Row is a finding in a row of a list. Each text is plain, and has no line break.
type Row struct {
	// Harm is who is hurt, and Now the action for tonight.
	Harm, Now string
	// Caller is the busiest caller with its share of the load; empty if unknown.
	Caller string
	// Hurt reports that requests are known to have been refused, or to have failed.
	Hurt bool
}

// NewRow returns the row of a finding.
func NewRow(f *detect.Finding) Row {
	a := casebook.New(f)
	r := Row{Harm: loss(f, &a), Hurt: !a.Harm.Own && !a.Harm.None()}
	r.Now = strings.Replace(act(f, &a), ifThrottled(f), "If throttled", 1) // a column is narrow
	switch {
	case len(a.Callers) > 0:
		r.Caller = newCaller(&a.Callers[0]).text()
	case f.Evidence != nil && len(f.Evidence.Callers) > 0:
		r.Caller = "none above 10%"
	}
	return r
}
