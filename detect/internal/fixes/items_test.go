package fixes_test

import (
	"math"
	"slices"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/sample"
)

// TestLargeItems: the bytes that compression has to save follow from the peak, in whole
// blocks; and a write costs whole units, however small its item becomes.
func TestLargeItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		kind    detect.Subject
		units   float64
		bytes   float64
		warning float64
		changed *float64
		save    float64 // the share of the bytes
		low     float64 // of what compression leaves
	}{
		{"six writes a second of 261 KB", detect.KeyWrites, 1501, 261 << 10, 0.8, nil, 0.34, 6},
		{"all of them is known to change", detect.KeyWrites, 1501, 261 << 10, 0.8, changed(1), 0.34, 6},
		{"below the limit", detect.KeyWrites, 900, 261 << 10, 0.8, nil, 0.12, 4},
		{"the policy has a finding from the limit on", detect.KeyWrites, 1501, 261 << 10, 1, nil, 0.34, 6},
		{"reads", detect.KeyReads, 4000, 261 << 10, 0.8, nil, 0.25, 4000. / 66},
		{"reads of five blocks", detect.KeyReads, 3200, 20 << 10, 0.8, nil, 0.2, 640},
		{"reads of five blocks, one of which is above the limit", detect.KeyReads, 16_000, 20 << 10, 0.8, nil, 0, 3200},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requests := op(sample.PutItem, 1, 5.75, 261)
			if c.kind == detect.KeyReads {
				requests = op(sample.GetItem, 1, 61, 66)
			}
			of := hot(c.kind, c.units, requests)
			of.Policy.Warning = c.warning
			of.Evidence.ItemBytes, of.Evidence.ChangedShare = c.bytes, c.changed
			steps := fixes.Steps(of)
			i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Fix == detect.FixCompression })
			if i < 0 {
				t.Fatalf("no step makes items smaller: %+v", steps)
			}
			if s := steps[i]; math.Abs(s.Arguments.Share-c.save) > 1e-9 || s.Arguments.Bytes != c.bytes || math.Abs(s.After.Low-c.low) > 0.01 || s.After.High != c.units {
				t.Errorf("it is %+v, and leaves %+v", s.Arguments, s.After)
			}
			for _, s := range steps {
				if s.Fix == detect.FixWrittenItem && (c.changed != nil || s.After != nil) {
					t.Errorf("a small item leaves %+v", s.After)
				}
				if s.Fix == detect.FixObjectStore && c.units == 1501 && (s.After.Low != 6 || s.After.High != 6) {
					t.Errorf("S3 leaves %+v", s.After)
				}
			}
			if c.units > 1000 && c.kind == detect.KeyWrites && steps[0].Fix != detect.FixObjectStore {
				t.Errorf("before S3, of which it is known what it leaves, comes %s", steps[0].Fix)
			}
		})
	}
}

// TestReadsOfLargeItemsWantProof: what is stored has to be made anew for either, so that S3, of
// which it is known what it leaves, comes first.
func TestReadsOfLargeItemsWantProof(t *testing.T) {
	t.Parallel()
	c := hot(detect.KeyReads, 4000, op(sample.GetItem, 1, 61, 66))
	c.Evidence.ItemBytes = 261 << 10
	at := map[string]int{}
	for i, s := range fixes.Steps(c) {
		at[s.Action] = i
		if (s.Action == detect.ActionObject || s.Action == detect.ActionCompress) && s.Effort != detect.EffortItems {
			t.Errorf("%s takes %s", s.Fix, s.Effort)
		}
	}
	if at[detect.ActionObject] >= at[detect.ActionCompress] {
		t.Errorf("the order is %v", at)
	}
}

// TestBackingOffLeavesTheDemand: attempts that are sent again are no part of it.
func TestBackingOffLeavesTheDemand(t *testing.T) {
	t.Parallel()
	c := with(hot(detect.KeyWrites, 2500, op(sample.PutItem, 1, 2500, 1)), func(c *fixes.Case) {
		c.Ground, c.Consumed.WCU = detect.GroundSplit, 1000
		c.Evidence.Refused = map[string]int64{sample.KeyRange.String(): 900}
		c.Evidence.Retries = &detect.Retries{Seconds: 60, SentCalls: detect.SentCalls{Calls: 150, Attempts: 330, Amplification: 2.2}}
	})
	i := slices.IndexFunc(fixes.Steps(c), func(s detect.Step) bool { return s.Fix == detect.FixBackOff })
	if i < 0 || fixes.Steps(c)[i].After.Low != 2500 {
		t.Errorf("the steps are %+v", fixes.Steps(c))
	}
}

// TestNamedItem holds that no key shards are made of a lock or a sequence where samples lack sort
// keys and only a name tells what the key is.
func TestNamedItem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story, table, key string
		first             detect.Fix
		shards            bool
	}{
		{"a lock", "state", "leader", detect.FixLease, false},
		{"a sequence", "state", "seq#order", detect.FixNumberBlocks, false},
		{"a key in a table of locks", "locks", "billing", detect.FixLease, false},
		{"a tenant", "orders", "tenant#4", detect.FixShardedKey, true},
	} {
		of := hot(detect.KeyWrites, 1500, op(sample.UpdateItem, 1, 1, 1500))
		of.Table, of.Key, of.Ground, of.Evidence.SortKeys, of.Evidence.Items = c.table, sample.Text(c.key), detect.GroundNoSortKeys, nil, nil
		steps := fixes.Steps(of)
		if len(steps) == 0 || steps[0].Fix != c.first {
			t.Errorf("%s: the first step is not %s: %+v", c.story, c.first, steps)
		}
		if got := slices.ContainsFunc(steps, func(s detect.Step) bool { return s.Fix == detect.FixShardedKey }); got != c.shards {
			t.Errorf("%s: makes key shards is %v: %+v", c.story, got, steps)
		}
	}
}
