//go:build unix

// Package cputime compares what two ways of doing one thing cost, in processor time, so
// that a busy machine tells nearly the same as a quiet one.
package cputime

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// Used returns the processor time that this process has used, on all cores.
func Used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // only an unknown argument fails
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Rounds are the costs of one way, a round each.
type Rounds []time.Duration

// Take adds a round.
func (r *Rounds) Take(work func()) {
	began := Used()
	work()
	*r = append(*r, Used()-began)
}

// Median returns that of all rounds.
func (r Rounds) Median() time.Duration {
	sorted := slices.Sorted(slices.Values(r))
	return sorted[len(sorted)/2]
}

// Report reports the medians as nanoseconds of one of n things that a round does, the
// other way's over ours as ratio-to-name, and over how much half of the rounds' ratios
// spread, in percent of it.
func Report(b *testing.B, name string, n int, ours, other Rounds) {
	b.Helper()
	b.ReportMetric(0, "ns/op") // that of both ways together tells nothing
	b.ReportMetric(float64(ours.Median())/float64(n), "cpu-ns")
	b.ReportMetric(float64(other.Median())/float64(n), name+"-cpu-ns")
	ratio := float64(other.Median()) / float64(ours.Median())
	b.ReportMetric(ratio, "ratio-to-"+name)
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = float64(other[i]) / float64(ours[i])
	}
	slices.Sort(ratios)
	b.ReportMetric(100*(ratios[len(ratios)*3/4]-ratios[len(ratios)/4])/ratio, "%spread")
}
