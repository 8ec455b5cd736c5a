package detect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Source is what kind of samples a finding rests on.
type Source string

// The sources.
const (
	// SourceRequests are samples of requests: reads, writes, and what was
	// throttled.
	SourceRequests Source = "requests"
	// SourceChanges are changed items, as a stream tells of them: a lower bound of
	// the writes, without reads and without what was throttled.
	SourceChanges Source = "changes"
	// SourceMinutes are sums over minutes, such as Contributor Insights': a lower
	// bound of the highest second.
	SourceMinutes Source = "minutes"
	// SourceMixed are some of each.
	SourceMixed Source = "mixed"
)

// Sampling is how the requests of a finding were sampled.
type Sampling string

// The ways of sampling. The empty one is unknown.
const (
	// SamplingNone counts every request.
	SamplingNone Sampling = "none"
	// SamplingIndependent draws every request by itself, and says so.
	SamplingIndependent Sampling = "independent"
	// SamplingByCall draws whole calls, whose items come together.
	SamplingByCall Sampling = "by_call"
	// SamplingAssumed is sampled in a way that nothing tells: independence is
	// assumed, and the intervals hold only if that is so.
	SamplingAssumed Sampling = "assumed"
	// SamplingUnknowable is sampled in a way from which nothing can be proven,
	// such as whole callers.
	SamplingUnknowable Sampling = "unknowable"
)

// What the samples of a finding cannot show.
const (
	BlindReads     = "reads"
	BlindThrottled = "throttled_requests"
	BlindNoOps     = "unchanged_writes" // writes that change nothing
	BlindSeconds   = "seconds"          // times are those of a flush
	BlindHosts     = "whole_hosts"      // whether whole hosts were drawn: no request says who made it
)

// Quality is what the figures of a finding rest on, and how far they can be
// trusted. A field that nothing tells is null or empty.
type Quality struct {
	Source Source `json:"source"`
	// Resolution is the length of the shortest time that load is known for, in
	// seconds.
	Resolution int      `json:"resolution"`
	Sampling   Sampling `json:"sampling"`
	// Rate is the share of requests that was sampled, as the samples state it;
	// null when they differ or nothing tells.
	Rate *float64 `json:"rate"`
	// Coverage is the part of the table's real load that the samples show; null
	// when nothing tells.
	Coverage *float64 `json:"coverage"`
	// Estimated reports whether units were computed by Keyheat, not reported by
	// DynamoDB; null when nothing tells.
	Estimated *bool `json:"estimated"`
	// KeysHidden reports whether a policy hides keys: hashes have no order, and show
	// neither numbers that may be shards nor what keys are named after.
	KeysHidden bool `json:"keys_hidden"`
	// Gaps were open while the finding was made: its load may be higher.
	Gaps []sample.Gap `json:"gaps"`
	// CannotSee lists what such samples cannot show.
	CannotSee []string `json:"cannot_see"`
}

// NewQuality returns the quality of figures from a source. Nothing else is known
// of them yet.
func NewQuality(s Source) Quality {
	q := Quality{Source: s, Resolution: 1, Gaps: []sample.Gap{}, CannotSee: []string{}}
	if s == SourceMinutes {
		q.Resolution = 60
	}
	if s == SourceChanges {
		q.CannotSee = []string{BlindReads, BlindThrottled, BlindNoOps}
	}
	return q
}

// InBatches reports whether the requests carry the times of a producer's batches, as far
// as times tell: how the load was spread over the time between them is not known.
func (q *Quality) InBatches() bool { return slices.Contains(q.CannotSee, BlindSeconds) }

// Sentence says in words what the figures cannot show; empty when there is
// nothing to say.
func (q *Quality) Sentence() string {
	var all []string
	switch q.Source {
	case SourceChanges:
		all = append(all, "This is from a stream: a lower bound of the write load. Reads are not seen, nor writes that were throttled or changed nothing.")
	case SourceMixed:
		all = append(all, "A part of this is from a stream, which shows neither reads nor throttled writes; a write that both a stream and a sample show counts twice.")
	case SourceMinutes:
		all = append(all, "This is from sums over minutes: the highest second may be far above the mean of its minute.")
	}
	if of := q.Times(); of != "" {
		all = append(all, of)
	}
	all = append(all, q.samplingTexts()...)
	if q.Estimated != nil && *q.Estimated {
		all = append(all, "Some units were computed from what is known of the requests, since DynamoDB did not report them: the load is an estimate.")
	}
	if q.KeysHidden {
		all = append(all, "Keys are hidden by policy: the order of sort keys is not known, nor whether numbers in keys are shards; `reporter keys hash` finds the hash of a key.")
	}
	return strings.Join(all, " ")
}

// IsSampled reports whether only a part of the requests was seen, as far as they tell.
func (q *Quality) IsSampled() bool { return q.Sampling != "" && q.Sampling != SamplingNone }

// times is the proviso of what is known from the times of batches.
const times = "Many requests carry the same time, with few in the seconds before: a producer wrote them in one batch, or they were a burst. Which of the two cannot be proven from these times, so the load shown is the mean over the times between batches, of a minute at most, and nothing pages because of it."

// Times returns the proviso of figures from times of batches; empty for others.
func (q *Quality) Times() string {
	if q.InBatches() {
		return times
	}
	return ""
}

// samplingTexts says how requests were sampled, and which rate was believed: one that is
// stated ten times too small makes every figure ten times too large.
func (q *Quality) samplingTexts() (all []string) {
	sampled := "Requests were sampled at rates that differ"
	if q.Rate != nil {
		sampled = fmt.Sprintf("The samples say that %s%% of requests were sampled", strconv.FormatFloat(100**q.Rate, 'g', 4, 64))
	}
	switch q.Sampling {
	case SamplingByCall, SamplingIndependent:
		all = append(all, sampled+", and the load follows from that.")
	case SamplingAssumed:
		all = append(all, sampled+", and not which were drawn together: independent samples are assumed.")
		if slices.Contains(q.CannotSee, BlindHosts) {
			stands := "many"
			if q.Rate != nil {
				stands = strconv.FormatFloat(1 / *q.Rate, 'f', 0, 64)
			}
			all = append(all, fmt.Sprintf("No request names its caller: if whole hosts were drawn and not requests, each of them stands for %s, and the key's load may be far from what is shown, also below the limit. Draw each call by itself, or let requests name their callers.", stands))
		}
	case SamplingUnknowable:
		all = append(all, sampled+", and not how: that it is over the limit cannot be proven from this sampling. Requests that were folded before they were drawn, or whole callers that were drawn, look the same at a lower load.")
	}
	return all
}

// Metric is a metric of the namespace AWS/DynamoDB. Its value is the sum of one
// minute, but for the provisioned throughput, which is units a second, and for what is
// named with an operation and a statistic.
type Metric string

// Corroborated is what CloudWatch says of a finding.
type Corroborated string

const (
	// CloudWatchConfirms means that DynamoDB throttled requests because of a key
	// range in the finding's minutes: a partition was full.
	CloudWatchConfirms Corroborated = "confirmed"
	// CloudWatchOtherCause means that what was throttled then was throttled for
	// other reasons: the table as a whole has too little.
	CloudWatchOtherCause Corroborated = "other_cause"
	// CloudWatchQuiet means that nothing was throttled then.
	CloudWatchQuiet Corroborated = "not_throttled"
	// CloudWatchContradicts means that the key's load is above that of the whole
	// table: the samples are counted twice, or state a wrong rate.
	CloudWatchContradicts Corroborated = "contradicted"
	// CloudWatchNotAssessed means that CloudWatch tells nothing of those minutes:
	// it has no data, was not asked yet, or may not be read. It is not health.
	CloudWatchNotAssessed Corroborated = "not_assessed"
)

// CloudWatch is what DynamoDB's own metrics, by minute, say of a finding.
type CloudWatch struct {
	Verdict Corroborated `json:"verdict"`
	// Why says it in sentences.
	Why string `json:"why"`
	// Throttles are the throttle events in the finding's minutes, by metric; null
	// where they were not assessed.
	Throttles map[Metric]float64 `json:"throttles"`
	// Operations are the table's in the minute of the finding's highest second; null
	// where none was read. They are of the whole table, not of the key.
	Operations []OperationMinute `json:"operations"`
	// Through is the end of the last minute that was assessed; null for none.
	Through *time.Time `json:"through"`
	// Coverage is the part of the table's or index's real load, in the finding's
	// dimension, that the samples show; null when nothing tells.
	Coverage *Figure `json:"coverage"`
	// Scaled is the highest second of the finding's key, in write or read units, if what
	// the samples do not show is spread over keys as they are; null where the policy does
	// not want it, where the samples may show all, and of findings not of a key.
	Scaled *Figure `json:"scaled"`
}

// OperationMinute is what CloudWatch says of one operation on a table in a minute. What has
// no data point is null, which is not zero.
type OperationMinute struct {
	// Operation is its name in DynamoDB's API.
	Operation string `json:"operation"`
	// Throttled is how many requests were throttled.
	Throttled *float64 `json:"throttled"`
	// Latency is how long successful requests took on average, and MaxLatency the longest
	// of them, in milliseconds within DynamoDB.
	Latency    *float64 `json:"latency_ms"`
	MaxLatency *float64 `json:"latency_max_ms"`
}
