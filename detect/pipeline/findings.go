package pipeline

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/casebook"
)

// maxNamed is the most tables or collectors that a finding names.
const maxNamed = 5

// lagFinding is the finding that counting lags behind, or that partitions are not read.
func lagFinding(s *Status, behind time.Duration, unread []string) detect.Finding {
	if len(unread) > 0 {
		b := detect.Blind{Behind: behind.Seconds(), Names: unread[:min(maxNamed, len(unread))]}
		return newFinding(casebook.CollectionLags, detect.Warning, b, detect.FixRestartCollectors)
	}
	var records int64
	for _, p := range s.waitingPartitions() {
		records += p.Lag
	}
	return newFinding(casebook.CollectionLags, detect.Warning, detect.Blind{Behind: behind.Seconds(), Records: records}, detect.FixAddCollectors)
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
	return newFinding(casebook.BadSamples, detect.Warning, detect.Blind{BadShare: share, Names: slices.Compact(hosts)}, detect.FixMendProducer)
}

// refusedFinding is the finding that a collector has no room for tables.
func refusedFinding(s *Status, tables int) detect.Finding {
	return newFinding(casebook.TablesRefused, detect.Warning, detect.Blind{Tables: tables, Names: s.Refused[:min(maxNamed, len(s.Refused))]}, detect.FixRaiseTableLimit)
}
