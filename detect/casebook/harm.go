package casebook

import (
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

// Harm is the cost of a finding: the requests that DynamoDB refused, and the calls that
// failed.
type Harm struct {
	// Own reports that Keyheat itself cannot see: whether anybody is harmed is unknown.
	Own bool
	// Visible reports that the samples can show refused requests. A stream cannot.
	Visible bool
	// Attempts is how many refused attempts were seen in the seconds looked at: a lower
	// bound.
	Attempts int64
	// Refused is the refused share of the load from From to To, with its bounds: see
	// detect.Throttling.
	Refused, RefusedLow, RefusedHigh float64
	From, To                         time.Time
	// Failed is the share of the key's calls of the last minute that failed after all
	// retries; 0 if none is known.
	Failed float64
	Since  time.Time
}

// None reports that no request is known to have been refused, or to have failed.
func (h *Harm) None() bool { return !h.Own && h.Attempts == 0 && h.Refused == 0 && h.Failed == 0 }

const (
	// slight is the refused share of a load below which callers' retries absorb the harm.
	slight = 0.01
	// worthSlowing is the refused share of a load from which callers are slowed although a
	// split is likely.
	worthSlowing = 0.1
)

// IsSlight reports whether so few requests are refused that nobody need be slowed for it.
func (h *Harm) IsSlight() bool { return 0 < h.Refused && h.Refused < slight && h.Failed == 0 }

func harmOf(f *detect.Finding, blind bool) Harm {
	h := Harm{
		Own:      blind,
		Visible:  !slices.Contains(f.Quality.CannotSee, detect.BlindThrottled) && f.Quality.Source != detect.SourceMinutes,
		Attempts: f.Evidence.ThrottledRequests(), Since: f.FirstSeen,
	}
	h.Failed, _ = f.FailedShare()
	if t := f.Throttling; t != nil {
		h.Refused, h.RefusedLow, h.RefusedHigh, h.From, h.To = t.Share, t.ShareLow, t.ShareHigh, t.From, t.To
	}
	return h
}

func refusedFor(f *detect.Finding, reason sample.ThrottleReason) int64 {
	if f.Evidence == nil {
		return 0
	}
	return f.Evidence.Refused[reason.String()]
}

// StarvedAttempts returns how many attempts on a key were refused for lack of capacity of
// its table or account. It is 0 unless they outnumber those that the key's partition
// refused.
func StarvedAttempts(f *detect.Finding) (n int64) {
	for _, r := range []sample.ThrottleReason{sample.Provisioned, sample.MaxOnDemand, sample.AccountLimit} {
		n += refusedFor(f, r)
	}
	if n <= refusedFor(f, sample.KeyRange) {
		return 0
	}
	return n
}
