package pipeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/wording"
)

// maxNamed is the most tables, gaps or collectors that a text names.
const maxNamed = 5

func step(effort detect.Effort, text string) detect.Step {
	return detect.Step{Action: detect.ActionPipeline, Effort: effort, Text: text}
}

// stoppedFinding is the finding that no collector attends any more.
func stoppedFinding(s *Status) detect.Finding {
	return newFinding(detect.CollectionStopped, detect.Critical,
		fmt.Sprintf("No collector has attended since %s. What is shown is of then: a key that is hot now would not be seen.", moment(s.Silent)),
		step(detect.EffortSetting, "Start a collector. Where one should be running, look at its log and its /-/ready: it ended, or does not reach the database."),
	)
}

// stillFinding is the finding that event time stands still though records wait.
func stillFinding(since time.Time) detect.Finding {
	return newFinding(detect.CollectionStopped, detect.Critical,
		fmt.Sprintf("Collectors attend and records wait, but event time stands still since %s: nothing new is judged.", moment(since)),
		step(detect.EffortSetting, "Look at the collectors' logs and their /-/ready: they say which topic, shard or request fails. Restart them if they say nothing. Samples that are produced again, with the times of then, look the same and are counted."),
	)
}

// lagFinding is the finding that counting lags behind.
func lagFinding(s *Status, behind time.Duration) detect.Finding {
	var records int64
	waiting := s.waitingPartitions()
	for _, p := range waiting {
		records += p.Lag
	}
	return newFinding(detect.CollectionLags, detect.Warning,
		fmt.Sprintf("What is counted is %s behind, and %s records wait in %s: hot keys are found that much later.",
			wording.Span(behind), wording.Count(records), number(len(waiting), "partition or shard", "partitions or shards")),
		step(detect.EffortSetting, "Look whether each partition has a reader (the consumer group's members and lag, the collectors' list in the API), and at the collectors' CPU and commit times. Add collectors, up to one a partition; a lag after an outage goes away by itself."),
	)
}

// badSamplesFinding is the finding that a collector rejects samples.
func badSamplesFinding(s *Status, share float64) detect.Finding {
	return newFinding(detect.BadSamples, detect.Warning,
		fmt.Sprintf("%s of what a collector reads is rejected%s: the load of what is rejected is not seen.",
			wording.Percent(share), hostsText(s, func(c *detect.Collector) bool { return c.BadShare != nil && *c.BadShare == share })),
		step(detect.EffortSetting, "See what is rejected and why: GET /api/v1/bad-samples has reasons and redacted excerpts, the collector's log has them, too. Most often a producer sends another form, or a table's keys are not configured."),
	)
}

// refusedFinding is the finding that a collector has no room for tables.
func refusedFinding(s *Status, tables int) detect.Finding {
	var names []string
	for _, name := range s.Refused[:min(maxNamed, len(s.Refused))] {
		names = append(names, wording.Quote(wording.Shorten(name, 80)))
	}
	examples := ""
	if len(names) > 0 {
		examples = ", such as " + wording.List(names)
	}
	return newFinding(detect.TablesRefused, detect.Warning,
		fmt.Sprintf("A collector has no room for %s%s: hot keys there are not seen.", number(tables, "table or index", "tables or indexes"), examples),
		step(detect.EffortSetting, "Raise the collector's limit of tables, or have samples without need left out. Names that are no tables come from a producer that fills the field with something else."),
	)
}

// lostFinding is the finding that records were lost.
func lostFinding(gaps []Gap) detect.Finding {
	var texts []string
	for _, g := range gaps[:min(maxNamed, len(gaps))] {
		texts = append(texts, fmt.Sprintf("%s of %s: %s", wording.Quote(wording.Shorten(g.Partition, 80)), wording.Quote(wording.Shorten(g.Source, 80)), wording.Printable(wording.Shorten(g.Reason, 300))))
	}
	why := fmt.Sprintf("%s of samples that can never be counted", number(len(gaps), "new gap", "new gaps"))
	if len(texts) > 0 {
		why += " (" + wording.List(texts) + ")"
	}
	f := newFinding(detect.SamplesLost, detect.Warning,
		why+": the load of that time is a lower bound, and a hot key may have been missed.",
		step(detect.EffortSetting, "Compare the log's retention with how long collectors were away: records expired before they were read. GET /api/v1/gaps lists all gaps."),
	)
	return f
}

// hostsText names the hosts of the collectors that satisfy a condition.
func hostsText(s *Status, holds func(*detect.Collector) bool) string {
	var hosts []string
	for i := range s.Collectors {
		if c := &s.Collectors[i]; holds(c) && c.Host != "" && len(hosts) < maxNamed {
			hosts = append(hosts, wording.Quote(wording.Shorten(c.Host, 80)))
		}
	}
	if len(hosts) == 0 {
		return ""
	}
	slices.Sort(hosts)
	return " on " + wording.List(slices.Compact(hosts))
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return wording.Count(int64(n)) + " " + many
}
