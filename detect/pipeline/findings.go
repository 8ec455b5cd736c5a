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

// stoppedFinding is the finding that no collector attends any more.
func stoppedFinding(s *Status) detect.Finding {
	return newFinding(detect.CollectionStopped, detect.Critical,
		fmt.Sprintf("No collector has attended since %s. What is shown is of then: a key that is hot now would not be seen.", moment(s.Silent)),
		detect.FixStartCollector,
	)
}

// stillFinding is the finding that event time stands still though records wait.
func stillFinding(since time.Time) detect.Finding {
	return newFinding(detect.CollectionStopped, detect.Critical,
		fmt.Sprintf("Collectors attend and records wait, but event time stands still since %s: nothing new is judged.", moment(since)),
		detect.FixRestartCollectors,
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
		detect.FixAddCollectors,
	)
}

// badSamplesFinding is the finding that a collector rejects samples.
func badSamplesFinding(s *Status, share float64) detect.Finding {
	return newFinding(detect.BadSamples, detect.Warning,
		fmt.Sprintf("%s of what a collector reads is rejected%s: the load of what is rejected is not seen.",
			wording.Percent(share), hostsText(s, func(c *detect.Collector) bool { return c.BadShare != nil && *c.BadShare == share })),
		detect.FixMendProducer,
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
		detect.FixRaiseTableLimit,
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
		detect.FixCompareRetention,
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
