package pipeline

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
)

// maxNamed is the most tables or collectors that a finding names.
const maxNamed = 5

func step(effort detect.Effort, text string) detect.Step {
	return detect.Step{Action: detect.ActionPipeline, Effort: effort, Text: text}
}

// stoppedFinding is the finding that no collector attends any more.
func stoppedFinding() detect.Finding {
	return newFinding(detect.CollectionStopped, detect.Critical, detect.Blind{},
		step(detect.EffortSetting, "Start a collector. Where one should be running, look at its log and its /-/ready: it ended, or does not reach the database."),
	)
}

// stillFinding is the finding that event time stands still though records wait.
func stillFinding() detect.Finding {
	return newFinding(detect.CollectionStopped, detect.Critical, detect.Blind{},
		step(detect.EffortSetting, "Look at the collectors' logs and their /-/ready: they say which topic, shard or request fails. Restart them if they say nothing. Samples that are produced again, with the times of then, look the same and are counted."),
	)
}

// lagFinding is the finding that counting lags behind.
func lagFinding(s *Status, behind time.Duration) detect.Finding {
	var records int64
	for _, p := range s.waitingPartitions() {
		records += p.Lag
	}
	return newFinding(detect.CollectionLags, detect.Warning, detect.Blind{Behind: behind.Seconds(), Records: records},
		step(detect.EffortSetting, "Look whether each partition has a reader (the consumer group's members and lag, the collectors' list in the API), and at the collectors' CPU and commit times. Add collectors, up to one a partition; a lag after an outage goes away by itself."),
	)
}

// badSamplesFinding is the finding that a collector rejects samples.
func badSamplesFinding(s *Status, share float64) detect.Finding {
	var hosts []string
	for i := range s.Collectors {
		if c := &s.Collectors[i]; c.BadShare != nil && *c.BadShare == share && c.Host != "" && len(hosts) < maxNamed {
			hosts = append(hosts, c.Host)
		}
	}
	slices.Sort(hosts)
	return newFinding(detect.BadSamples, detect.Warning, detect.Blind{BadShare: share, Names: slices.Compact(hosts)},
		step(detect.EffortSetting, "See what is rejected and why: GET /api/v1/bad-samples has reasons and redacted excerpts, the collector's log has them, too. Most often a producer sends another form, or a table's keys are not configured."),
	)
}

// refusedFinding is the finding that a collector has no room for tables.
func refusedFinding(s *Status, tables int) detect.Finding {
	return newFinding(detect.TablesRefused, detect.Warning, detect.Blind{Tables: tables, Names: s.Refused[:min(maxNamed, len(s.Refused))]},
		step(detect.EffortSetting, "Raise the collector's limit of tables, or have samples without need left out. Names that are no tables come from a producer that fills the field with something else."),
	)
}

// lostFinding is the finding that records were lost.
func lostFinding() detect.Finding {
	return newFinding(detect.SamplesLost, detect.Warning, detect.Blind{},
		step(detect.EffortSetting, "Compare the log's retention with how long collectors were away: records expired before they were read. GET /api/v1/gaps lists all gaps."),
	)
}
