package gather

import (
	"cmp"
	"slices"

	"github.com/keyheat/keyheat/sample"
)

const (
	// CallersKept is how many callers of a key one part of a second keeps: of more, those
	// who send little come and go, and little is known of them.
	retryCallersKept = 8
	// poolKeys is of how many keys a second's retries are added up; half of them are
	// for keys that are near a limit.
	poolKeys = 1024
	// warmWeight is the weight, in thousandths, of a key that is: a tenth of a limit.
	warmWeight = 300_000
	// leastWeight is the weight from which a key's calls are added up while none was
	// sent again: a hundredth of a limit, so that at most so much is missing of them.
	leastWeight = warmWeight / 10
	// foldedSquares times the square of their mean is taken for the mean square of times
	// that were folded: as of exponential ones. Backoff with full jitter has 4/3.
	foldedSquares = 2
)

// Retries is how the calls of one key in one second were sent, by what records tell of
// it. What was sent again, waited and failed is all of that; of calls that were sent
// once as many may be missing as make a hundredth of a limit.
type Retries struct {
	sample.Sent
	// Untold is how many requests tell nothing of it, at least.
	Untold int64
	// WaitedVariance is what sampling leaves open of Waited, in squared milliseconds, and
	// WaitedLargest what one more sampled call would have added; FailedVariance and
	// FailedLargest are of Failed, in calls. All are zero where all requests were seen.
	WaitedVariance, WaitedLargest float64
	FailedVariance, FailedLargest float64
	// Callers are those who sent most, ordered by Hash, each with a lower bound of what
	// it sent. The rest is of others.
	Callers []CallerRetries
}

// CallerRetries is how one caller sent calls.
type CallerRetries struct {
	// Hash identifies Text, of which only the beginning is kept when it is long.
	Hash uint64
	Text string
	sample.Sent
}

// Plus adds the retries of other requests of the key. Neither is changed; either may
// be nil.
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

// AddUntold returns the retries with so many requests more that tell nothing.
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
