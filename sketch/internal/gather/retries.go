package gather

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/sample"
)

const (
	// retryCallersKept is the number of callers that one part of a second keeps for a key.
	// Callers who send less come and go, so little is known about them.
	retryCallersKept = 8
	// poolKeys is the most keys of a second with retries. Half of the places are reserved for
	// keys near a limit.
	poolKeys = 1024
	// warmWeight is the weight of a key near a limit, in thousandths: a tenth of a limit.
	warmWeight = 300_000
	// leastWeight is the weight from which a key's calls are added up even if none was retried:
	// a hundredth of a limit. So at most a hundredth is missing from the sums.
	leastWeight = warmWeight / 10
	// foldedSquares is the ratio of the mean square of folded waiting times to the square of
	// their mean, as for an exponential distribution. Backoff with full jitter has 4/3.
	foldedSquares = 2
)

// Retries adds up the attempts of one key's calls in one second, as far as records count them.
// Attempts, waiting times and failures of retried calls are complete. Calls sent once may be
// missing, up to a hundredth of a limit.
type Retries struct {
	sample.Sent
	// Untold is a lower bound of the requests whose records do not count attempts.
	Untold int64
	// WaitedVariance is the variance that sampling adds to Waited, in squared milliseconds, and
	// WaitedLargest the most that one more sampled call would have added. FailedVariance and
	// FailedLargest are the same for Failed, in calls. All are zero if no request was sampled.
	WaitedVariance, WaitedLargest float64
	FailedVariance, FailedLargest float64
	// Callers are the callers who sent most, ordered by Hash, each with lower bounds. The sums
	// above include all other callers.
	Callers []CallerRetries
}

// CallerRetries adds up the calls of one caller.
type CallerRetries struct {
	// Hash identifies Text. Of a long text only the beginning is kept.
	Hash uint64
	Text string
	sample.Sent
}

// Plus adds the retries of other requests of the key. It changes neither; either may be nil.
func (r *Retries) Plus(o *Retries) *Retries {
	switch {
	case r == nil:
		return o
	case o == nil:
		return r
	}
	return &Retries{
		Sent: r.Sent.Plus(o.Sent), Untold: r.Untold + o.Untold,
		WaitedVariance: r.WaitedVariance + o.WaitedVariance, WaitedLargest: max(r.WaitedLargest, o.WaitedLargest),
		FailedVariance: r.FailedVariance + o.FailedVariance, FailedLargest: max(r.FailedLargest, o.FailedLargest),
		Callers: addCallers(r.Callers, o.Callers),
	}
}

// AddUntold returns the retries with more requests whose records do not count attempts.
func (r *Retries) AddUntold(untold int64) *Retries {
	if r == nil || untold == 0 {
		return r
	}
	more := *r
	more.Untold += untold
	return &more
}

func addCallers(a, b []CallerRetries) []CallerRetries {
	sum := slices.Clone(a)
	for _, c := range b {
		i, found := slices.BinarySearchFunc(sum, c.Hash, func(x CallerRetries, hash uint64) int { return cmp.Compare(x.Hash, hash) })
		if found {
			sum[i].Sent = sum[i].Plus(c.Sent)
		} else {
			sum = slices.Insert(sum, i, c)
		}
	}
	return sum
}

// Cut keeps the callers who sent most.
func (r *Retries) Cut() *Retries {
	if r == nil || len(r.Callers) <= retryCallersKept {
		return r
	}
	kept := *r
	kept.Callers = slices.Clone(r.Callers)
	slices.SortFunc(kept.Callers, func(a, b CallerRetries) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(a.Hash, b.Hash))
	})
	kept.Callers = slices.Clip(kept.Callers[:retryCallersKept])
	slices.SortFunc(kept.Callers, compareCallers)
	return &kept
}

func compareCallers(a, b CallerRetries) int { return cmp.Compare(a.Hash, b.Hash) }
