package detect_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sketch"
)

// TestShards restates the sources' examples: units a second at the peak, and
// the shards that AWS's arithmetic with a headroom gives.
func TestShards(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		peak     int64
		limit    sample.Milli
		headroom float64
		want     int
	}{
		{500, detect.PartitionWrite, 1.5, 1},
		{5_000, detect.PartitionWrite, 1.5, 8},
		{50_000, detect.PartitionWrite, 1.5, 75},
		{500_000, detect.PartitionWrite, 1.5, 750},
		{5_000, detect.PartitionWrite, 1, 5}, // 5,000 writes of 1 KB a second: at least 5
		{10_000, detect.PartitionWrite, 1.5, 15},
		{10_000, detect.PartitionWrite, 2, 20},
		{4_000, detect.PartitionWrite, 1.5, 6}, // exact, not 7
		{3_000, detect.PartitionRead, 1.5, 2},
		{9_000, detect.PartitionRead, 1.5, 5},
		{0, detect.PartitionWrite, 1.5, 1},
	} {
		if got := detect.Shards(sample.Milli(c.peak*1000), c.limit, c.headroom); got != c.want {
			t.Errorf("%d units at %v with headroom %v: %d shards, want %d", c.peak, c.limit, c.headroom, got, c.want)
		}
	}
}

// TestLimits restates the numbers and what follows from them in the guide: 600
// strong reads of a 20 KB item a second fill a partition, and a full partition
// is 180,000 consumed-throughput units a minute.
func TestLimits(t *testing.T) {
	t.Parallel()
	if got := 600 * sample.ReadUnits(20*1024, sample.Strong); got != detect.PartitionRead {
		t.Errorf("600 strong reads of 20 KB are %d thousandths, want the read limit", got)
	}
	if got := 1000 * sample.WriteUnits(1024, false); got != detect.PartitionWrite {
		t.Errorf("1,000 writes of 1 KB are %d thousandths, want the write limit", got)
	}
	perMinute := 60 * detect.WritesInReads * detect.PartitionWrite / 1000
	if perMinute != 180_000 {
		t.Errorf("a full partition is %d units a minute, want 180,000", perMinute)
	}
}

// TestWeight restates docs/FACTS.md, "Throttling": ConsumedThroughputUnits are
// 3·WCU + RCU, in which both of a partition's limits are the same 3,000.
func TestWeight(t *testing.T) {
	t.Parallel()
	if sample.Milli(detect.WritesInReads)*detect.PartitionWrite != detect.PartitionRead {
		t.Errorf("%d × %d is not %d", detect.WritesInReads, detect.PartitionWrite, detect.PartitionRead)
	}
}

// TestTheSketchKeepsWhatIsFollowed: evidence is gathered from where keys are
// followed on. The sketch stands below this package and cannot ask it.
func TestTheSketchKeepsWhatIsFollowed(t *testing.T) {
	t.Parallel()
	if got, want := sample.Milli(sketch.WarmWeight), detect.ShareOf(detect.PartitionRead, detect.TrackShare); got != want {
		t.Errorf("the sketch gathers from %d on, and keys are followed from %d on", got, want)
	}
}
