package say

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/internal/say/wording"
	"github.com/keyheat/keyheat/sample"
)

// Outline is the figures of a report's summary.
type Outline struct {
	// Hot, Warm and Gaps count the report's; Firing counts the ones that fire at the end.
	Hot    int `json:"hot"`
	Firing int `json:"firing"`
	Warm   int `json:"warm"`
	Gaps   int `json:"gaps"`
	// Blind means that nothing was seen.
	Blind bool `json:"blind"`
	// Worst is the worst incident's subject, with its highest second as a share of the
	// limit; null if unknown.
	Worst       detect.KeyRef `json:"worst"`
	Utilization *float64      `json:"utilization"`
	// Stopped is since when no collector wrote; null while one did.
	Stopped *time.Time `json:"stopped"`
}

// Describe describes a report in one sentence, with times as moment writes them. Unseen
// parts come before calm.
func (o *Outline) Describe(moment func(time.Time) string) string {
	if o.Blind {
		return "No collector wrote in this period: whether any key was hot is not known."
	}
	worst, at := reportSubject(o.Worst), ""
	if o.Utilization != nil {
		at = " at " + wording.WholePercent(*o.Utilization) + " of a partition's limit"
	}
	text := wording.Plural(o.Hot, "incident", "incidents")
	switch {
	case o.Hot == 0 && o.Warm == 0:
		text = "Nothing fired in the counted time"
	case o.Hot == 0:
		text = "Nothing fired in the counted time; " + wording.Plural(o.Warm, "incident was", "incidents were") + " open without firing, " + worst + " the worst" + at
	case o.Firing > 0:
		text += " fired and " + wording.Plural(o.Firing, "is", "are") + " still firing at the end: " + worst + " is the worst" + at
	default:
		text += " fired and none is firing at the end: " + worst + " was the worst" + at
	}
	if o.Stopped != nil {
		return text + "; collection stopped at " + moment(*o.Stopped) + ", and the time after it is not known."
	}
	if o.Gaps > 0 {
		text += "; " + wording.Plural(o.Gaps, "gap", "gaps") + " in the samples may hide more"
	}
	return text + "."
}

// reportKey is how much of a key a report's sentence shows, in characters.
const reportKey = 120

// reportSubject names a key of a table, or the table.
func reportSubject(k detect.KeyRef) string {
	if k.Key == "" {
		return wording.Printable(wording.Shorten(wording.Place(k.Target), reportKey))
	}
	return wording.Quote(wording.Shorten(k.Key, reportKey)) + " of " + wording.Printable(wording.Shorten(k.Name(), reportKey))
}

// CollectorFault is the trouble of a collector by its last report.
type CollectorFault struct {
	// Silent reports that it stopped without notice, and Failing that it fails for Reason.
	Silent, Failing bool
	Reason          string
	// Refused are the tables for which it has no room, and Bad is the share of bad samples;
	// zero for few.
	Refused []string
	Bad     float64
}

// String returns the fault in a sentence; empty for none.
func (c CollectorFault) String() string {
	var parts []string
	if c.Silent {
		parts = append(parts, "it has been silent since then, and had not announced its end")
	}
	if c.Failing {
		parts = append(parts, "it was failing: "+cmp.Or(c.Reason, "the reason is not known"))
	}
	if len(c.Refused) > 0 {
		parts = append(parts, fmt.Sprintf("it had no room for %s (%s)", wording.Plural(len(c.Refused), "table", "tables"), strings.Join(c.Refused[:min(len(c.Refused), 5)], ", ")))
	}
	if c.Bad > 0 {
		parts = append(parts, wording.Percent(c.Bad)+" of the samples that it read were bad")
	}
	clause := strings.Join(parts, "; ")
	if clause == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(clause)
	return strings.ToUpper(string(first)) + strings.TrimSuffix(clause[size:], ".") + "."
}

// FileCoverage and StaleCoverage explain the coverage of a table without an estimate: of
// files, and of a period in which none of its requests were counted.
const (
	FileCoverage  = "Files do not show which part of the table's load is in the samples."
	StaleCoverage = "None of its requests were counted in this period; it may not have been quiet."
)

// ExplainCoverage explains a table's part of the real load that its samples show.
func ExplainCoverage(c *detect.TableCloudWatch) string {
	if c == nil {
		return "CloudWatch is not read for it: the part of its load in the samples is not known."
	}
	return TableCloudWatch(c)
}

// Cut says of some of a report's entries that it leaves others out.
func Cut(entries string) string {
	return "There may be more " + entries + " than a report reads. They are left out."
}

// CollectionStopped states since when no collector has written.
func CollectionStopped(since string) string {
	return "No collector has written since " + since + ". Nothing is known of the keys after that."
}

// CollectorsWrote counts the collectors of a period; nil means that it is not known.
func CollectorsWrote(n *int) string {
	switch {
	case n == nil:
		return "How many collectors wrote in this period is not kept any more."
	case *n == 0:
		return "No collector wrote in this period."
	}
	return wording.Plural(*n, "collector", "collectors") + " wrote in this period."
}

// FileSamples counts the samples of files, and the rejected ones by reason, before notes
// about them.
func FileSamples(counted int64, rejected map[sample.RejectReason]int64, notes []string) string {
	text := wording.Plural(int(counted), "sample was", "samples were") + " counted"
	var bad []string
	for _, reason := range slices.Sorted(maps.Keys(rejected)) {
		bad = append(bad, wording.Count(rejected[reason])+" because of "+wording.Printable(string(reason)))
	}
	if len(bad) > 0 {
		text += ", and others were not: " + strings.Join(bad, ", ")
	}
	return strings.Join(append([]string{text + "."}, notes...), " ")
}

// BlindFiles states that files have no verdict, and why not if that is known.
func BlindFiles(why string) string {
	return cmp.Or(why, "No samples were counted.") + " Whether any key was hot is not known."
}
