//go:build e2e

package e2e_test

import (
	"flag"
	"syscall"
	"testing"
	"time"
)

var frozenFor = flag.Duration("faults.frozen", 0, "for how long TestFrozenCluster freezes every broker; 0 leaves the test out")

// thawed is for how long a partition may stay uncounted after all brokers go on: sessions of
// brokers have timed out, and partitions get leaders again.
const thawed = 30 * time.Second

// TestFrozenCluster freezes all three brokers of a cluster with SIGSTOP, as a hypervisor does
// that takes a snapshot: connections stay open and nothing is answered. Everything counts once,
// and is read on within seconds after they go on.
func TestFrozenCluster(t *testing.T) {
	if *frozenFor == 0 {
		t.Skip("make faults runs it")
	}
	t.Parallel() // it mostly waits
	f := newFailover(t)
	produced := f.produce(t)
	f.control(t)
	f.ours(t)
	f.settled(t)
	for _, p := range f.watch {
		p.forget()
	}
	for _, n := range f.nodes {
		n.Signal(t, syscall.SIGSTOP)
		t.Cleanup(func() { n.Signal(t, syscall.SIGCONT) })
	}
	time.Sleep(*frozenFor)
	for _, n := range f.nodes {
		n.Signal(t, syscall.SIGCONT)
	}
	f.goOn(t, time.Now())
	f.settled(t)
	acknowledged := produced()
	want := readTopic(t, f.nodes[0].Addr, failoverTopic)
	if want.requests < acknowledged {
		t.Errorf("the topic holds %d samples, %d were acknowledged", want.requests, acknowledged)
	}
	f.matchesTopic(t, want, time.Minute)
	f.noGaps(t)
	ours, control, log := f.watch["ours"].worst()-*frozenFor, f.watch["control"].worst()-*frozenFor, f.watch["log"].worst()-*frozenFor
	t.Logf("%d samples counted once; beyond the %s a partition was silent for %s at most, for %s in the control, and the log for %s",
		want.requests, *frozenFor, rounded(ours), rounded(control), rounded(log))
	if ours > thawed {
		t.Errorf("want at most %s", thawed)
	}
}
