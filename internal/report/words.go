package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
)

// summary describes the report in one sentence. Unseen parts come before calm.
func (p *Report) summary() string {
	firing := 0
	for _, i := range p.Hot {
		if i.State == detect.Firing {
			firing++
		}
	}
	var s string
	switch {
	case p.blind() && p.Files != nil:
		return cmp.Or(p.Files.Unjudged, "No samples were counted.") + " Whether any key was hot is not known."
	case p.blind():
		return "No collector wrote in this period: whether any key was hot is not known."
	case len(p.Hot) == 0:
		s = "Nothing fired in what was seen"
		if n := len(p.Warm); n > 0 {
			s += "; " + plural(n, "incident was", "incidents were") + " open without that, " + keyName(p.Warm[0].KeyRef) + " the worst" + percentOfLimit(p.Warm[0].Utilization)
		}
	case firing > 0:
		s = fmt.Sprintf("%s fired and %s still firing at the end: %s is the worst%s", plural(len(p.Hot), "incident", "incidents"),
			plural(firing, "is", "are"), keyName(p.Hot[0].KeyRef), percentOfLimit(p.Hot[0].Utilization))
	default:
		s = fmt.Sprintf("%s fired and none is firing at the end: %s was the worst%s", plural(len(p.Hot), "incident", "incidents"),
			keyName(p.Hot[0].KeyRef), percentOfLimit(p.Hot[0].Utilization))
	}
	if p.NotSeen.Stopped != nil {
		s += "; collection stopped at " + p.moment(*p.NotSeen.Stopped) + ", and nothing is known of what came after"
	} else if n := len(p.NotSeen.Gaps); n > 0 {
		s += "; " + plural(n, "gap", "gaps") + " in the samples may hide more"
	}
	return s + "."
}

// blind reports whether nothing was seen, so that nothing is known.
func (p *Report) blind() bool {
	if len(p.Hot)+len(p.Warm) > 0 {
		return false
	}
	if p.Files != nil {
		return p.Files.Samples == 0 || p.Files.Unjudged != ""
	}
	return p.NotSeen.Collectors != nil && *p.NotSeen.Collectors == 0
}

// at writes a load against the limit; nothing of an unknown one.
func percentOfLimit(utilization *float64) string {
	if utilization == nil {
		return ""
	}
	return fmt.Sprintf(" at %s of a partition's limit", percent(*utilization))
}

// whole writes a share in whole percents: 1,250%.
func percent(share float64) string { return wording.Count(int64(share*100+0.5)) + "%" }

// named names a key of a table, or the table.
func keyName(k detect.KeyRef) string {
	if k.Key == "" {
		return short(wording.Place(k.Target))
	}
	return "“" + short(k.Key) + "” of " + short(k.Name())
}

// How much of a key and of a text a page for people shows, in characters.
const (
	maxShort = 120
	maxLong  = 700
)

// short returns other people's text in readable form, cut if it is long: the cut gives
// its length.
func short[T ~string](text T) string { return clip(text, maxShort) }

func clip[T ~string](text T, most int) string {
	printable := wording.Printable(text)
	if utf8.RuneCountInString(printable) <= most {
		return printable
	}
	runes := []rune(printable)
	return string(runes[:most]) + "… (" + wording.Count(int64(len(text))) + " bytes)"
}

// sentences returns Keyheat's own text, with readable quotations of other people's; a
// long one ends behind a sentence.
func sentences(text string) string {
	parts := strings.Split(text, `\`) // of the escapes in quotes, which are not escaped again
	for i, part := range parts {
		parts[i] = wording.Printable(part)
	}
	printable := strings.Join(parts, `\`)
	if utf8.RuneCountInString(printable) <= maxLong {
		return printable
	}
	kept := string([]rune(printable)[:maxLong])
	if end := strings.LastIndex(kept, ". "); end > 0 {
		return kept[:end+1] + " …"
	}
	return kept + "…"
}

func count(n int) string { return wording.Count(int64(n)) }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// sentence makes a sentence of a clause.
func sentence(clause string) string {
	if clause == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(clause)
	return strings.ToUpper(string(first)) + strings.TrimSuffix(clause[size:], ".") + "."
}

// causes name the causes of incidents.
var causes = map[detect.Cause]string{
	detect.CauseHotKey: "hot key", detect.CauseShardedKey: "sharded key", detect.CauseRollingKey: "rolling key",
	detect.CauseMovingHotSpot: "moving hot spot", detect.CauseIndexBackPressure: "index that holds writes back",
	detect.CauseSingleCaller: "single caller", detect.CauseFewValues: "few key values", detect.CauseHotPartition: "hot partition",
	detect.CauseStarvation: "too little capacity", detect.CauseRetryStorm: "retries", detect.CausePipeline: "not fully seen",
}

func causeName(c detect.Cause) string {
	if words, known := causes[c]; known {
		return words
	}
	return wording.Printable(string(c))
}

// corroborations name CloudWatch's verdicts.
var corroborations = map[detect.Corroborated]string{
	detect.CloudWatchConfirms: "CloudWatch confirms it", detect.CloudWatchOtherCause: "CloudWatch shows another cause",
	detect.CloudWatchQuiet: "CloudWatch shows no throttling", detect.CloudWatchContradicts: "CloudWatch contradicts it",
}

// unitName writes wcu and rcu out.
func unitName(unit string) string {
	if unit == "rcu" {
		return "read units/s"
	}
	return "write units/s"
}

// location returns the time zone of a report; UTC where this machine does not know it.
func (p *Report) location() *time.Location {
	if zone, err := time.LoadLocation(p.Zone); err == nil {
		return zone
	}
	return time.UTC
}

// moment writes a time in the report's zone.
func (p *Report) moment(t time.Time) string {
	if p.To.Sub(p.From) < time.Hour {
		return t.In(p.location()).Format("2006-01-02 15:04:05 MST")
	}
	return t.In(p.location()).Format("2006-01-02 15:04 MST")
}

// day writes a date in the report's zone.
func (p *Report) day(t time.Time) string { return t.In(p.location()).Format("2006-01-02") }

// title names the report.
func (p *Report) title() string {
	if p.Name == "" {
		return "Keyheat report"
	}
	return "Keyheat report: " + short(p.Name)
}

// known writes a value; of an unknown one, that.
func orUnknown[T any](value *T, write func(T) string) string {
	if value == nil {
		return "not known"
	}
	return write(*value)
}

// crossing writes when a forecast reaches a share of the limit.
func (p *Report) crossing(c *detect.Crossing) string {
	return orUnknown(c, func(c detect.Crossing) string {
		return fmt.Sprintf("%s (%s to %s)", p.day(c.At), p.day(c.Earliest), p.day(c.Latest))
	})
}

// part writes a coverage; of an unknown one, that.
func part(f *detect.Figure) string {
	return orUnknown(f, func(f detect.Figure) string {
		return fmt.Sprintf("%s (%s to %s)", percent(min(1, f.Value)), percent(min(1, f.Low)), percent(min(1, f.High)))
	})
}

// subject describes the report's subject.
func (p *Report) subject() string {
	if len(p.Tables) == 0 {
		return "all tables"
	}
	names := make([]string, len(p.Tables))
	for i, name := range p.Tables {
		names[i] = short(name)
	}
	return wording.List(names)
}
