package detect

import (
	"math"
	"slices"
	"time"

	"github.com/keyheat/keyheat/sample"
)

// Source is the kind of samples behind a finding.
type Source string

const (
	// SourceRequests are samples of requests: reads, writes and throttled requests.
	SourceRequests Source = "requests"
	// SourceChanges are changed items from a stream: a lower bound of the writes, without
	// reads and throttled requests.
	SourceChanges Source = "changes"
	// SourceMinutes are sums over minutes, such as Contributor Insights', or over another
	// Resolution: a lower bound of the highest second.
	SourceMinutes Source = "minutes"
	// SourceMixed combines requests and changes.
	SourceMixed Source = "mixed"
)

// Sampling is the sampling method of requests.
type Sampling string

// The sampling methods. The empty one is unknown.
const (
	// SamplingNone counts every request.
	SamplingNone Sampling = "none"
	// SamplingByCall draws whole calls, whose items come together.
	SamplingByCall Sampling = "by_call"
	// SamplingAssumed is an unstated method. Independence is assumed, and the intervals
	// hold only if that is so.
	SamplingAssumed Sampling = "assumed"
	// SamplingUnknowable is a method that proves nothing, such as drawing whole callers.
	SamplingUnknowable Sampling = "unknowable"
)

// Blind spots of samples.
const (
	BlindReads     = "reads"
	BlindThrottled = "throttled_requests"
	BlindNoOps     = "unchanged_writes" // writes that change nothing
	BlindSeconds   = "seconds"          // request times are flush times
	BlindHosts     = "whole_hosts"      // no request names its caller, so whole hosts may have been drawn
)

// Quality describes the source of a finding's figures and how far to trust them. An
// unknown field is null or empty.
type Quality struct {
	Source Source `json:"source"`
	// Resolution is the shortest time with a known load, in seconds.
	Resolution int      `json:"resolution"`
	Sampling   Sampling `json:"sampling"`
	// Rate is the sampled share of requests, as the samples state it; null if they differ
	// or do not state it.
	Rate *float64 `json:"rate"`
	// Coverage is the part of the table's real load in the samples; null if unknown.
	Coverage *float64 `json:"coverage"`
	// Estimated reports whether Keyheat computed units that DynamoDB did not report; null
	// if unknown.
	Estimated *bool `json:"estimated"`
	// KeysHidden reports whether a policy hides keys. Hashes have no order, and show
	// neither shard numbers nor the time or word in a key's name.
	KeysHidden bool `json:"keys_hidden"`
	// Gaps were open while the finding was made: its load may be higher.
	Gaps []sample.Gap `json:"gaps"`
	// CannotSee lists the blind spots of the samples.
	CannotSee []string `json:"cannot_see"`
}

// NewQuality returns the quality of figures from a source. Its other fields are unknown.
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

// InBatches reports whether the requests carry the times of a producer's batches. The
// spread of the load over the time between batches is then unknown.
func (q *Quality) InBatches() bool { return slices.Contains(q.CannotSee, BlindSeconds) }

// IsSampled reports whether the samples show only a part of the requests, as far as they
// state it.
func (q *Quality) IsSampled() bool { return q.Sampling != "" && q.Sampling != SamplingNone }

// Extrapolate returns how many requests so many seen ones stand for, with its 95% interval; exact
// where all requests are seen, or where it is unknown how they were sampled.
func (q *Quality) Extrapolate(seen int64) Figure {
	n := float64(seen)
	if q.Rate == nil || *q.Rate <= 0 {
		return ExactFigure(n)
	}
	below, above := max(0, math.Sqrt(n)-normal95/2), math.Sqrt(n+1)+normal95/2
	return Figure{Value: n / *q.Rate, Low: max(n, below*below / *q.Rate), High: above * above / *q.Rate}
}

// normal95 is how many standard deviations about the mean of a normal distribution hold 95% of it.
const normal95 = 1.96

// Metric is a metric of the namespace AWS/DynamoDB. Its value is the sum over one minute.
type Metric string

// Corroborated is CloudWatch's verdict on a finding.
type Corroborated string

const (
	// CloudWatchConfirms means that DynamoDB throttled requests because of a key range in
	// the finding's minutes: a partition was full.
	CloudWatchConfirms Corroborated = "confirmed"
	// CloudWatchOtherCause means that all throttling then had other reasons: the table as
	// a whole has too little capacity.
	CloudWatchOtherCause Corroborated = "other_cause"
	// CloudWatchQuiet means that nothing was throttled then.
	CloudWatchQuiet Corroborated = "not_throttled"
	// CloudWatchContradicts means that the key's load exceeds the whole table's: the
	// samples are counted twice, or state a wrong rate.
	CloudWatchContradicts Corroborated = "contradicted"
	// CloudWatchNotAssessed means that Keyheat has no metrics of those minutes: there are
	// no data, it has not asked yet, or it may not read them. It is not health.
	CloudWatchNotAssessed Corroborated = "not_assessed"
)

// Unread is the reason why Keyheat has no metrics of some minutes.
type Unread string

// The reasons.
const (
	UnreadNoData Unread = "no_data" // CloudWatch knows no such table, or has no data of the minutes
	UnreadDenied Unread = "denied"  // the role may not read metrics
	UnreadFailed Unread = "failed"  // the request failed
	UnreadNotYet Unread = "not_yet" // CloudWatch has not reported the minutes
	UnreadTooFew Unread = "too_few" // too few minutes have load in both
)

// CloudWatch compares a finding with DynamoDB's own metrics, by minute.
type CloudWatch struct {
	Verdict Corroborated `json:"verdict"`
	// Unread is the reason for no assessment; empty with one.
	Unread Unread `json:"unread"`
	// Throttles are the throttle events in the finding's minutes, by metric; null if not
	// assessed.
	Throttles map[Metric]float64 `json:"throttles"`
	// Through is the end of the last minute that was assessed; null for none.
	Through *time.Time `json:"through"`
	// Coverage is the part of the table's or index's real load, in the finding's
	// dimension, that the samples show; null if unknown.
	Coverage *Figure `json:"coverage"`
}
