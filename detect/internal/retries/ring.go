// Package retries keeps how the calls of a key were sent in its last seconds, and how often they were
// sent again.
package retries

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/sampling"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// callersShown is the number of callers that a finding names.
const callersShown = 5

// Ring keeps how a key's calls were sent in its last seconds. The zero value is
// ready.
type Ring []second

// second holds the calls of one second; it is shared and never changed.
type second struct {
	at      int64
	retries *sketch.Retries
}

// Add records a second's calls, replacing its earlier ones. It leaves out seconds far
// from a limit, except for a sampled key, whose samples per second depend on chance. It
// also leaves out seconds without a record of how calls were sent.
func (r *Ring) Add(at int64, k *sketch.KeyLoad) {
	if k.Retries == nil {
		return
	}
	if k.Draws.RateLow == 0 && detect.Weight(k.Low) < detect.ShareOf(detect.WritesInReads*detect.PartitionWrite, detect.EvidenceShare) {
		return
	}
	all := *r
	s := second{at, k.Retries.Cut()}
	i, found := slices.BinarySearchFunc(all, at, func(s second, at int64) int { return cmp.Compare(s.at, at) })
	switch {
	case found:
		all[i] = s
		return
	case i == 0 && len(all) == detect.TollSeconds:
		return
	}
	all = slices.Insert(all, i, s)
	if n := len(all) - detect.TollSeconds; n > 0 {
		all = slices.Delete(all, 0, n)
	}
	*r = all
}

// Summarise returns how calls were sent in the last minute up to a second, but not before
// first. If that minute has no record, it uses the last minute with one. It is nil
// without records.
func (r Ring) Summarise(first, last int64) *detect.Retries {
	within := r.cut(max(first, last-detect.TollSeconds+1), last)
	if len(within) == 0 && len(r) > 0 {
		last = r[len(r)-1].at
		within = r.cut(last-detect.TollSeconds+1, last)
	}
	if len(within) == 0 {
		return nil
	}
	var sum *sketch.Retries
	for _, s := range within {
		sum = sum.Plus(s.retries)
	}
	summary := summarise(sum)
	summary.From, summary.To, summary.Seconds = detect.TimeOf(within[0].at), detect.TimeOf(within[len(within)-1].at+1), len(within)
	return summary
}

func (r Ring) cut(first, last int64) Ring {
	from, _ := slices.BinarySearchFunc(r, first, func(s second, at int64) int { return cmp.Compare(s.at, at) })
	to := from
	for to < len(r) && r[to].at <= last {
		to++
	}
	return r[from:to]
}

// summarise returns sums as a finding shows them.
func summarise(r *sketch.Retries) *detect.Retries {
	all := countSent(r.Sent)
	summary := &detect.Retries{
		SentCalls: all, Estimated: r.FailedLargest > 0, Partial: r.Untold > 0,
		Waited:  toFigure(sample.Milli(r.Waited), sketch.Spread{Variance: r.WaitedVariance * 1e-6, Largest: r.WaitedLargest * 1e-3}),
		Failed:  toFigure(sample.Milli(r.Failed), sketch.Spread{Variance: r.FailedVariance, Largest: r.FailedLargest}),
		Callers: []detect.CallerRetries{},
	}
	if r.Waited == 0 { // nobody measured it, and either policy may hold
		summary.Waited.High = detect.LongestWaitSeconds * all.Retries()
	}
	for _, c := range r.Callers {
		summary.Callers = append(summary.Callers, detect.CallerRetries{
			Caller: sample.Text(c.Text), SentCalls: countSent(c.Sent),
			Share:  detect.Ratio(float64(c.Attempts), float64(r.Attempts)),
			Waited: detect.Units(sample.Milli(c.Waited)), Failed: detect.Units(sample.Milli(c.Failed)),
		})
	}
	slices.SortFunc(summary.Callers, func(a, b detect.CallerRetries) int {
		return cmp.Or(cmp.Compare(b.Retries(), a.Retries()), cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(a.Caller, b.Caller))
	})
	summary.Callers = summary.Callers[:min(callersShown, len(summary.Callers))]
	return summary
}

// countSent returns how calls were sent.
func countSent(s sample.Sent) detect.SentCalls {
	return detect.SentCalls{
		Calls: detect.Units(sample.Milli(s.Calls)), Attempts: detect.Units(sample.Milli(s.Attempts)),
		Amplification: detect.Ratio(float64(s.Attempts), float64(s.Calls)),
	}
}

// toFigure returns an amount, given in thousandths, with its 95% interval.
func toFigure(value sample.Milli, s sketch.Spread) detect.Figure {
	if s.Largest == 0 {
		return detect.Figure{Value: detect.Units(value), Low: detect.Units(value), High: detect.Units(value)}
	}
	a := sampling.NewAmounts(value, 0, s)
	return detect.Figure{Value: detect.Units(value), Low: detect.Units(a.Low), High: detect.Units(a.High(0))}
}

// Bytes returns about how many bytes the ring takes.
func (r Ring) Bytes() (n int64) {
	n = int64(cap(r)) * int64(unsafe.Sizeof(second{}))
	for _, s := range r {
		n += int64(unsafe.Sizeof(*s.retries))
		for _, c := range s.retries.Callers {
			n += int64(unsafe.Sizeof(c)) + int64(len(c.Text))
		}
	}
	return n
}
