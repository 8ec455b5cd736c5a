package collect_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keyheat/keyheat/internal/collect"
	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/store"
)

// slow is a configuration with rare commits, so that only requested commits happen.
func slow() collect.Config {
	c := config()
	c.CommitInterval = time.Hour
	return c
}

// wide is a batch of many keys and seconds, of some 50 KB in memory.
func wide(from int) source.Batch {
	var messages []source.Message
	for i := range 400 {
		when := noon.Add(time.Duration(from+i)*time.Second - 24*time.Hour)
		messages = append(messages, source.Message{Time: when.UnixMilli(), Value: fmt.Appendf(nil,
			`{"ts":%d,"table":"orders","pk":"a key of some length %d","wcu":1}`, when.UnixMilli(), i)})
	}
	return source.Batch{Messages: slices.Values(messages), Next: strconv.Itoa(from + 400), Time: messages[399].Time}
}

func TestFoldBlocksWhileMemoryIsFull(t *testing.T) {
	t.Parallel()
	cfg := slow()
	cfg.PendingBytes = 256 << 10
	bubble(t, cfg, func(t *testing.T, c *collect.Collector, m *memory) {
		m.take(10 * time.Second) // less than an attempt may take
		p := claim(t, c, "p")
		const batches = 100
		var folded atomic.Int64
		done := make(chan error, 1)
		go func() {
			for i := range batches {
				if err := p.Fold(t.Context(), wide(400*i)); err != nil {
					done <- err
					return
				}
				folded.Add(1)
			}
			done <- p.Release(context.Background())
		}()
		synctest.Wait()
		first := folded.Load()
		if first == 0 || first > batches/2 {
			t.Errorf("%d of %d batches folded before the first commit ended", first, batches)
		}
		must(t, <-done)
		l := counted(t, m)
		var sum int64
		for _, n := range l.requests {
			sum += n
		}
		if sum != batches*400 {
			t.Errorf("%d samples counted, want %d", sum, batches*400)
		}
		if n := len(m.stored()); n < 3 {
			t.Errorf("%d commits: a full memory has to commit before its time", n)
		}
	})
}

func TestABlockedFoldEndsWithItsContext(t *testing.T) {
	t.Parallel()
	cfg := slow()
	cfg.PendingBytes = 64 << 10
	bubble(t, cfg, func(t *testing.T, c *collect.Collector, m *memory) {
		m.take(14 * time.Second)
		p := claim(t, c, "p")
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var err error
		at := 0
		for err == nil {
			if err = p.Fold(ctx, wide(at)); err == nil {
				at += 400
			}
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("fold returns %v", err)
		}
		must(t, p.Release(t.Context()))
		if got := m.position("p").Next; got != strconv.Itoa(at) {
			t.Errorf("stored up to %s, want %d", got, at)
		}
	})
}

func TestAPartitionAheadWaitsForTheSlowest(t *testing.T) {
	t.Parallel()
	bubble(t, slow(), func(t *testing.T, c *collect.Collector, _ *memory) {
		start := time.Now().Add(-24 * time.Hour)
		fast, late := claim(t, c, "fast"), claim(t, c, "late")
		must(t, fast.Fold(t.Context(), at(start.Add(time.Hour), "1"))) // no partition is known to be ahead yet
		must(t, late.Fold(t.Context(), at(start, "1")))
		var folded atomic.Bool
		done := make(chan error, 1)
		go func() { done <- fast.Fold(t.Context(), at(start.Add(time.Hour), "2")); folded.Store(true) }()
		for i := range 11 {
			if folded.Load() {
				t.Fatalf("the partition ahead did not wait, at minute %d", 5*i)
			}
			time.Sleep(5 * time.Second)
			must(t, late.Fold(t.Context(), at(start.Add(time.Duration(5*i)*time.Minute), strconv.Itoa(i+2))))
			synctest.Wait()
		}
		must(t, late.Fold(t.Context(), at(start.Add(time.Hour-30*time.Second), "99")))
		synctest.Wait()
		if !folded.Load() {
			t.Error("the partition ahead still waits when the other has come close")
		}
		must(t, <-done)
	})
}

func TestNobodyWaitsForAnIdleOrSilentPartition(t *testing.T) {
	t.Parallel()
	const patience = 10 * time.Second
	bubble(t, slow(), func(t *testing.T, c *collect.Collector, _ *memory) {
		start := time.Now().Add(-24 * time.Hour)
		fast, other := claim(t, c, "fast"), claim(t, c, "other")
		fold := func(next string) time.Duration {
			began := time.Now()
			must(t, fast.Fold(t.Context(), at(start.Add(time.Hour), next)))
			return time.Since(began)
		}
		fold("1")
		if took := fold("2"); took < patience-2*time.Second || took > patience+2*time.Second {
			t.Errorf("waited %s for a partition that was never read, want about %s", took, patience)
		}
		must(t, other.Fold(t.Context(), at(start, "1")))
		if took := fold("3"); took < patience-2*time.Second || took > patience+2*time.Second {
			t.Errorf("waited %s for a silent partition, want about %s", took, patience)
		}
		end := at(start, "2")
		end.End = true
		must(t, other.Fold(t.Context(), end))
		if took := fold("4"); took != 0 {
			t.Errorf("waited %s for a partition at the end of its log", took)
		}
		must(t, other.Fold(t.Context(), at(start, "3")))
		must(t, other.Release(t.Context()))
		if took := fold("5"); took != 0 {
			t.Errorf("waited %s for a partition that was given up", took)
		}
	})
}

func TestPartitionsThatWaitForEachOtherGoOn(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		start := time.Now().Add(-24 * time.Hour)
		const partitions, batches = 5, 200
		began := time.Now()
		done := make(chan error, partitions)
		for i := range partitions {
			p := claim(t, c, fmt.Sprint(i))
			go func() {
				var err error
				for j := range batches {
					// Strides of 1 to 5 minutes: every batch is ahead of another partition.
					when := start.Add(time.Duration((i+1)*j) * time.Minute)
					if err = p.Fold(t.Context(), at(when, strconv.Itoa(j+1))); err != nil {
						break
					}
					time.Sleep(time.Millisecond)
				}
				if err == nil {
					err = p.Fold(t.Context(), source.Batch{Next: strconv.Itoa(batches), End: true})
				}
				done <- err
			}()
		}
		for range partitions {
			must(t, <-done)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("took %s: somebody waited for nobody", took)
		}
		time.Sleep(time.Second)
		for i := range partitions {
			if got := m.position(fmt.Sprint(i)).Next; got != strconv.Itoa(batches) {
				t.Errorf("partition %d is stored up to %s", i, got)
			}
		}
	})
}

// TestAPartitionALittleAheadWaitsAMoment: it lets slower partitions come close, unless
// others want its memory or no records come.
func TestAPartitionALittleAheadWaitsAMoment(t *testing.T) {
	t.Parallel()
	bubble(t, slow(), func(t *testing.T, c *collect.Collector, _ *memory) {
		start := time.Now().Add(-24 * time.Hour)
		ahead, behind := claim(t, c, "ahead"), claim(t, c, "behind")
		var wanted atomic.Bool
		fold := func(after time.Duration) time.Duration {
			began := time.Now()
			b := at(start.Add(after), "1")
			b.Wanted = wanted.Load
			must(t, ahead.Fold(t.Context(), b))
			return time.Since(began)
		}
		must(t, behind.Fold(t.Context(), at(start, "1")))
		if took := fold(10 * time.Second); took != 0 {
			t.Errorf("nothing tells yet who is ahead, but it waited %s", took)
		}
		if took := fold(10 * time.Second); took <= 0 || took > time.Second {
			t.Errorf("waited %s for a slower partition", took)
		}
		wanted.Store(true)
		if took := fold(10 * time.Second); took != 0 {
			t.Errorf("waited %s with memory that others want", took)
		}
		wanted.Store(false)
		done := make(chan time.Duration, 1)
		go func() { done <- fold(10 * time.Second) }()
		synctest.Wait()
		must(t, behind.Fold(t.Context(), at(start.Add(9*time.Second), "2")))
		if took := <-done; took != 0 {
			t.Errorf("waited %s longer than the slower one was behind", took)
		}
		if took := fold(10 * time.Second); took != 0 {
			t.Errorf("waited %s while the other is close", took)
		}
	})
}

func TestWatermarks(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		now := func() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
		p := claim(t, c, "p")
		expect := func(what string, b source.Batch, want time.Time) {
			t.Helper()
			must(t, p.Fold(t.Context(), b))
			time.Sleep(time.Second)
			if got := m.watermark("p"); !got.Time.Equal(want) {
				t.Errorf("%s: the watermark is %s, want %s", what, got.Time, want)
			}
		}
		start := now()
		expect("a partition of which nothing is known", source.Batch{Next: "0"}, store.Beginning)
		expect("a message", at(start.Add(-time.Hour), "1"), start.Add(-time.Hour-time.Second))
		expect("an older message", at(start.Add(-2*time.Hour), "2"), start.Add(-time.Hour-time.Second))
		end := at(start.Add(-time.Hour), "3")
		end.End = true
		expect("the end of the log, read now", end, now().Add(-time.Second))
		read := now().Add(-200 * time.Millisecond)
		expect("the end of the log, read before", source.Batch{Next: "3", End: true, Read: read.UnixMilli()}, read.Add(-time.Second))
		kept := m.watermark("p").Time
		expect("an end that was read long ago", source.Batch{Next: "3", End: true, Read: start.UnixMilli()}, kept)
		wild := now().Add(24 * 365 * time.Hour)
		expect("a message from the future", at(wild, "4"), now().Add(-time.Second))
		expect("a log that will not grow", source.Batch{Next: "4", End: true, Final: true}, store.Infinity)
		if at := m.position("p"); !at.Ended {
			t.Errorf("the position is not marked as the end: %+v", at)
		}
	})
}

func TestTheWatermarkOfAFileIsThatOfItsRecords(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "samples.ndjson")
		b := at(noon.Add(-100*24*time.Hour), "1") // no rule of event time applies
		b.Time = 0
		b.Messages = untimed(b.Messages)
		must(t, p.Fold(t.Context(), b))
		time.Sleep(time.Second)
		if got, want := m.watermark("samples.ndjson").Time, noon.Add(-100*24*time.Hour-time.Second); !got.Equal(want) {
			t.Errorf("the watermark is %s, want %s", got, want)
		}
		if l := counted(t, m); len(l.bad) != 0 || len(l.requests) != 1 {
			t.Errorf("counted %+v", l)
		}
	})
}

func untimed(messages func(func(source.Message) bool)) func(func(source.Message) bool) {
	return func(yield func(source.Message) bool) {
		for m := range messages {
			m.Time = 0
			if !yield(m) {
				return
			}
		}
	}
}

func TestIdlePartitionsStayFresh(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, m *memory) {
		p := claim(t, c, "p")
		for range 20 {
			must(t, p.Fold(t.Context(), source.Batch{Next: "0", End: true}))
			time.Sleep(500 * time.Millisecond)
		}
		if age := time.Since(m.watermark("p").Time); age > 2*time.Second {
			t.Errorf("the watermark of an idle partition is %s old", age)
		}
		var last int64
		for _, commit := range m.stored() {
			if commit.Seq <= last || commit.Body != nil {
				t.Fatalf("commit %d after %d, with %d bytes", commit.Seq, last, len(commit.Body))
			}
			last = commit.Seq
		}
	})
}

func TestNotReadyWithManyBadSamples(t *testing.T) {
	t.Parallel()
	bubble(t, config(), func(t *testing.T, c *collect.Collector, _ *memory) {
		p := claim(t, c, "p")
		bad := func(n int) {
			m := slices.Repeat([]source.Message{{Value: []byte("rubbish"), Time: noon.UnixMilli()}}, n)
			must(t, p.Fold(t.Context(), source.Batch{Messages: slices.Values(m), Next: strconv.Itoa(n), End: true}))
			time.Sleep(time.Second)
		}
		bad(99) // of at least 100
		if r := c.Ready(); len(r) != 0 {
			t.Errorf("ready says %q of a few bad samples", r)
		}
		bad(2)
		if r := c.Ready(); len(r) != 1 || !strings.Contains(r[0], "bad") {
			t.Errorf("ready says %q", r)
		}
		time.Sleep(59 * time.Second)
		must(t, p.Fold(t.Context(), source.Batch{Next: "9", End: true}))
		time.Sleep(2 * time.Second)
		if r := c.Ready(); len(r) != 0 {
			t.Errorf("a minute later ready says %q", r)
		}
		time.Sleep(2 * time.Minute)
		if r := c.Ready(); len(r) != 1 || !strings.Contains(r[0], "partition p has not been read") {
			t.Errorf("ready says %q of a partition that is not read any more", r)
		}
	})
}

// TestAFoldThatWaitsGivesItsMemoryBack: a batch ahead of others gives its memory back once
// it is wanted. Its Fold waits on without it, and then returns ErrReread.
func TestAFoldThatWaitsGivesItsMemoryBack(t *testing.T) {
	t.Parallel()
	bubble(t, slow(), func(t *testing.T, c *collect.Collector, _ *memory) {
		start := time.Now().Add(-24 * time.Hour)
		ahead, behind := claim(t, c, "ahead"), claim(t, c, "behind")
		one := func(p source.Partition, after time.Duration, yield func() bool) error {
			batch := at(start.Add(after), "1")
			batch.Yield = yield
			return p.Fold(t.Context(), batch)
		}
		must(t, one(ahead, 2*time.Minute, nil)) // no partition is known to be ahead yet
		must(t, one(behind, 0, nil))
		var wanted, asked atomic.Int64
		done := make(chan error, 1)
		go func() {
			done <- one(ahead, 2*time.Minute, func() bool { asked.Add(1); return wanted.Load() > 0 })
		}()
		time.Sleep(2 * time.Second)
		if asked.Load() < 10 {
			t.Errorf("asked %d times in 2 s whether others want the memory", asked.Load())
		}
		wanted.Store(1)
		time.Sleep(time.Second)
		before := asked.Load()
		must(t, one(behind, 100*time.Second, nil)) // close enough to go on, and soon too far again
		time.Sleep(2 * time.Second)
		select {
		case err := <-done:
			t.Fatalf("it ended with %v before there is something to read again for", err)
		default:
		}
		must(t, one(behind, 110*time.Second, nil))
		if err := <-done; !errors.Is(err, source.ErrReread) {
			t.Errorf("it ended with %v, want ErrReread", err)
		}
		if asked.Load() != before {
			t.Error("it was asked for memory that it had given back")
		}
		if err := one(ahead, 2*time.Minute, nil); err != nil {
			t.Errorf("the handle is dead: %v", err)
		}
	})
}
