package fixes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/detect/internal/fixes"
	"github.com/keyheat/keyheat/detect/wording"
	"github.com/keyheat/keyheat/sample"
)

// TestLargeItemsSayWhatHasToBeSaved: what compression has to reach follows from the peak; a
// mean size of the requests looked at has no more digits than it is good for; and a write
// costs whole units, however small its item becomes.
func TestLargeItemsSayWhatHasToBeSaved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		kind    detect.Kind
		units   float64
		warning float64
		changed *float64
		says    []string
		never   []string
		leaves  string // of the first step
	}{
		{
			"six writes a second of 261 KB", detect.HotKeyWrite, 1501, 0.8, nil,
			[]string{"of about 260 KB on average of a sample worth 1,000 records", "a write of one costs about 260 times", "at least 34% of the bytes have to be saved to reach the limit, and 47% for 80% of it."},
			[]string{"261"}, "6 to 1,501 WCU",
		},
		{"all of them is known to change", detect.HotKeyWrite, 1501, 0.8, changed(1), []string{"at least 34%"}, nil, "6 to 1,501 WCU"},
		{"below the limit", detect.HotKeyWrite, 900, 0.8, nil, []string{"half of the load: at least 12% of the bytes have to be saved for 80% of the limit."}, []string{"to reach the limit"}, "4 to 900 WCU"},
		{"the policy has a finding from the limit on", detect.HotKeyWrite, 1501, 1, nil, []string{"at least 34% of the bytes have to be saved to reach the limit."}, nil, "6 to 1,501 WCU"},
		{"reads", detect.HotKeyRead, 4000, 0.8, nil, []string{"a read of one costs about 66 times", "at least 25% of the bytes have to be saved to reach the limit, and 41% for 80% of it."}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			requests := op(sample.PutItem, 1, 5.75, 261)
			if c.kind == detect.HotKeyRead {
				requests = op(sample.GetItem, 1, 61, 66)
			}
			of := hot(c.kind, c.units, requests)
			of.Policy.Warning = c.warning
			of.Evidence.ItemBytes, of.Evidence.ChangedShare = 261*1024, c.changed
			steps := fixes.New().Steps(of)
			i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Action == detect.ActionCompress })
			if i < 0 {
				t.Fatalf("no step makes items smaller: %+v", steps)
			}
			for _, words := range c.says {
				if !strings.Contains(steps[i].Text, words) {
					t.Errorf("it does not say %q: %s", words, steps[i].Text)
				}
			}
			for _, words := range c.never {
				if strings.Contains(steps[i].Text, words) {
					t.Errorf("it says %q: %s", words, steps[i].Text)
				}
			}
			if got := wording.Leaves(&steps[i]); !strings.HasPrefix(got, c.leaves) {
				t.Errorf("it leaves %q, want %q", got, c.leaves)
			}
			for _, s := range steps {
				if s.Action == detect.ActionVertical && c.kind == detect.HotKeyWrite && (c.changed != nil || s.After != nil || !strings.HasSuffix(wording.Leaves(&s), "how much of an item a write changes is not in them")) {
					t.Errorf("of a small item: %s It leaves %s", s.Text, wording.Leaves(&s))
				}
				if c.units > 1000 && c.kind == detect.HotKeyWrite && steps[0].Action != detect.ActionObject {
					t.Errorf("before S3, of which it is known what it leaves, comes %s", steps[0].Text)
				}
				if s.Action == detect.ActionObject && c.units == 1501 && (!strings.Contains(s.Text, "is then about 6 write units") || s.After.Low != 6 || s.After.High != 6) {
					t.Errorf("in S3: %s It leaves %+v", s.Text, s.After)
				}
			}
		})
	}
}

// TestSmallerItemsSaveWholeBlocks: a read of 20 KB pays for five blocks, so that a saving
// of a few percent spares nothing, and no saving helps where one block each is too much.
func TestSmallerItemsSaveWholeBlocks(t *testing.T) {
	t.Parallel()
	for units, says := range map[float64]string{
		3200:   "A request pays for whole blocks of 4 KB: at least 20% of the bytes have to be saved to reach the limit, and 40% for 80% of it.",
		14_000: "to reach the limit.", // 80% of it would be less than a block
		16_000: "A request pays for whole blocks of 4 KB: items of one block each are above the limit still.",
	} {
		c := hot(detect.HotKeyRead, units, op(sample.GetItem, 1, units/5, 5))
		c.Evidence.ItemBytes = 20 << 10
		steps := fixes.New().Steps(c)
		i := slices.IndexFunc(steps, func(s detect.Step) bool { return s.Action == detect.ActionCompress })
		if i < 0 || !strings.HasSuffix(steps[i].Text, says) {
			t.Errorf("of %v RCU it is not said %q: %+v", units, says, steps)
		}
	}
}

// TestReadsOfLargeItemsWantProof: what is stored has to be made anew for either, so that S3, of
// which it is known what it leaves, comes first.
func TestReadsOfLargeItemsWantProof(t *testing.T) {
	t.Parallel()
	c := hot(detect.HotKeyRead, 4000, op(sample.GetItem, 1, 61, 66))
	c.Evidence.ItemBytes = 261 << 10
	at := map[string]int{}
	for i, s := range fixes.New().Steps(c) {
		at[s.Action] = i
		if (s.Action == detect.ActionObject || s.Action == detect.ActionCompress) && s.Effort != detect.EffortItems {
			t.Errorf("it takes %s: %s", s.Effort, s.Text)
		}
	}
	if at[detect.ActionObject] >= at[detect.ActionCompress] {
		t.Errorf("the order is %v", at)
	}
}

// TestWhetherASplitIsPossible: of a key that may be one item it is not said that DynamoDB will
// split it, nor of one whose items may be on several partitions already that it has not.
func TestWhetherASplitIsPossible(t *testing.T) {
	t.Parallel()
	const says = "the key's items are in several only where DynamoDB has split them."
	for _, reason := range []detect.Diagnosis{detect.Undetermined, detect.Splittable} {
		steps := fixes.New().Steps(with(hot(detect.HotKeyWrite, 1100, op(sample.PutItem, 1, 1100, 1)), func(c *fixes.Case) { c.Reason = reason }))
		if last := steps[len(steps)-1].Text; !strings.Contains(last, says) {
			t.Errorf("%s: %s", reason, last)
		}
	}
}

// TestCeilingsAreRoundedAlike: what a table can take is a bound, and written as where its key
// design is judged.
func TestCeilingsAreRoundedAlike(t *testing.T) {
	t.Parallel()
	c := with(hot(detect.HotKeyWrite, 900, op(sample.PutItem, 1, 900, 1)), func(c *fixes.Case) { c.Share = 0.6 })
	steps := fixes.New().Steps(c)
	if last := steps[len(steps)-1]; !strings.Contains(last.Text, "it alone fills a partition at about "+wording.Significant(1000/0.6)+" write units a second of the whole table") {
		t.Error(last.Text)
	}
}

// TestRequestsThatFailCannotWait: while a key waits for splits, what fails for good is shed; and
// backing off leaves the demand, of which what is sent again is no part.
func TestRequestsThatFailCannotWait(t *testing.T) {
	t.Parallel()
	for failed, says := range map[float64]string{
		90: "Shed load now, or let callers write later, since 60% of the key's requests failed for good in the last minute; and wait some minutes before changing keys: adaptive",
		0:  "Wait some minutes before changing keys: adaptive",
	} {
		c := with(hot(detect.HotKeyWrite, 2500, op(sample.PutItem, 1, 2500, 1)), func(c *fixes.Case) {
			c.Reason, c.Consumed.WCU = detect.Splittable, 1000
			c.Evidence.Refused = map[string]int64{sample.KeyRange.String(): 900}
			c.Evidence.Retries = &detect.Retries{Seconds: 60, SentCalls: detect.SentCalls{Calls: 150, Attempts: 330, Refused: 270, Amplification: 2.2}, Failed: detect.Figure{Value: failed, Low: failed, High: failed}}
		})
		steps := fixes.New().Steps(c)
		if !strings.HasPrefix(steps[0].Text, says) || !strings.Contains(steps[0].Text, "go on with the next steps") {
			t.Errorf("with %v that failed: %s", failed, steps[0].Text)
		}
		for _, s := range steps {
			if s.Action == detect.ActionRetry && (s.After == nil || s.After.Low != 2500) {
				t.Errorf("backing off leaves %+v", s.After)
			}
		}
	}
}

// TestTransactionsThatAreNeeded have a remedy, too.
func TestTransactionsThatAreNeeded(t *testing.T) {
	t.Parallel()
	steps := fixes.New().Steps(hot(detect.HotKeyWrite, 1100, op(sample.TransactWriteItems, 1, 550, 2)))
	for _, says := range []string{"Where the transaction is needed put several changes into one", "(TransactionConflict), and the key has about 550 of them a second"} {
		if !strings.Contains(steps[0].Text, says) {
			t.Errorf("it does not say %q: %s", says, steps[0].Text)
		}
	}
}
