package kafka_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/kafka"
	"github.com/keyheat/keyheat/internal/testsupport/kafkatest"
	"github.com/keyheat/keyheat/internal/testsupport/sinktest"
)

// hooked is a sink that does something in the middle of folding.
type hooked struct {
	*sinktest.Recorder
	folding func(ctx context.Context, b source.Batch) error
}

// Claim implements source.Sink.
func (h *hooked) Claim(ctx context.Context, c source.Claim) (source.Partition, error) {
	p, err := h.Recorder.Claim(ctx, c)
	return &hookedPartition{p, h}, err
}

type hookedPartition struct {
	source.Partition
	sink *hooked
}

// Fold implements source.Partition.
func (h *hookedPartition) Fold(ctx context.Context, b source.Batch) error {
	if err := h.sink.folding(ctx, b); err != nil {
		return err
	}
	return h.Partition.Fold(ctx, b)
}

// fetches counts the fetches of each offset that reach a cluster.
type fetches struct {
	mu    sync.Mutex
	asked map[string]int
}

func countFetches(c *kfake.Cluster) *fetches {
	f := &fetches{asked: make(map[string]int)}
	c.ControlKey(int16(kmsg.Fetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, t := range kreq.(*kmsg.FetchRequest).Topics {
			for _, p := range t.Partitions {
				f.asked[fmt.Sprint(p.FetchOffset)]++
			}
		}
		return nil, nil, false
	})
	return f
}

func (f *fetches) count(offset string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[offset]
}

// inSmallFetches reads n records in several fetches, and counts these.
func inSmallFetches(t *testing.T, n int) (kafka.Config, *fetches) {
	c := cluster(t, 1)
	p := producer(t, c.ListenAddrs())
	for i := range n {
		produce(t, p, i, i+1)
	}
	cfg := config(c.ListenAddrs())
	cfg.FetchBytes = 1 << 10
	return cfg, countFetches(c)
}

// TestTheNextFetchIsMadeWhileOneIsFolded expects that each fold but the first ends after
// the next request has begun, and that no offset is requested twice.
func TestTheNextFetchIsMadeWhileOneIsFolded(t *testing.T) {
	t.Parallel()
	const n = 100
	cfg, asked := inSmallFetches(t, n)
	l := &hooked{Recorder: sinktest.New()}
	folds := 0
	l.folding = func(_ context.Context, b source.Batch) error {
		if folds++; folds > 1 && !b.End {
			sinktest.Eventually(t, "a fetch at "+b.Next+" while what is before it is folded", func() bool { return asked.count(b.Next) > 0 })
		}
		return nil
	}
	k, stop := run(t, cfg, l)
	l.Expect(t, n)
	stop()
	if folds < 3 {
		t.Fatalf("all came in %d fetches", folds)
	}
	for offset := range n {
		if asked.count(fmt.Sprint(offset)) > 1 {
			t.Errorf("offset %d was fetched %d times", offset, asked.count(fmt.Sprint(offset)))
		}
	}
	expectAllFree(t, k)
}

// expectAllFree fails the test if anybody holds memory of the source.
func expectAllFree(t *testing.T, k *kafka.Source) {
	t.Helper()
	hold, err := k.Memory().Acquire(soon(t), math.MaxInt64)
	if err != nil {
		t.Fatalf("memory is held by nobody who will give it back: %v", err)
	}
	hold.Release()
}

// TestAFetchAheadGivesWay: while a fold waits, others get the memory of the folded response
// and of the fetch ahead, and both are read again.
func TestAFetchAheadGivesWay(t *testing.T) {
	t.Parallel()
	const n = 100
	cfg, asked := inSmallFetches(t, n)
	l := &hooked{Recorder: sinktest.New()}
	folds, yielded, running := 0, "", make(chan *kafka.Source, 1)
	l.folding = func(ctx context.Context, b source.Batch) error {
		if folds++; folds != 2 {
			return nil
		}
		sinktest.Eventually(t, "a fetch ahead", func() bool { return asked.count(b.Next) > 0 })
		if b.Yield() {
			t.Error("memory is given back that nobody wants")
		}
		k := <-running
		granted := make(chan error, 1)
		go func() {
			hold, err := k.Memory().Acquire(soon(t), math.MaxInt64)
			if err == nil {
				hold.Release()
			}
			granted <- err
		}()
		sinktest.Eventually(t, "memory is wanted", b.Yield)
		if err := <-granted; err != nil {
			t.Errorf("not all was given back: %v", err)
		}
		yielded = b.Next
		return source.ErrReread
	}
	k, stop := run(t, cfg, l)
	running <- k
	l.Expect(t, n)
	stop()
	if asked.count(yielded) != 2 {
		t.Errorf("offset %s was fetched %d times, want once ahead, and once again", yielded, asked.count(yielded))
	}
	expectAllFree(t, k)
}

// TestAFetchAheadOfWhatIsNotThereIsDropped: batches claim offsets of others, or such as
// compaction emptied. Where a response ends is then not where the next one is asked for
// ahead, and every record still counts once.
func TestAFetchAheadOfWhatIsNotThereIsDropped(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var batches []kafkatest.Batch
	at, n := int64(0), 0
	for range 300 {
		b := kafkatest.Batch{Base: at, Time: 1000 + at}
		for range 1 + random.IntN(4) {
			b.Records = append(b.Records, kafkatest.Values(fmt.Sprint(n, strings.Repeat(" ", random.IntN(600))))...)
			n++
		}
		at += int64(len(b.Records))
		switch random.IntN(4) {
		case 0: // holes at its end
			at += 1 + random.Int64N(5)
			b.Last = at - 1
		case 1: // the batch claims the next one's offsets
			b.Last = at + random.Int64N(3)
		}
		batches = append(batches, b)
	}
	batches[len(batches)-1].Last = 0
	c := cluster(t, 1)
	serve(c, at, batches, func([]byte, int64) {})
	cfg := config(c.ListenAddrs())
	cfg.FetchBytes = 2 << 10
	l := sinktest.New()
	k, stop := run(t, cfg, l)
	l.Expect(t, n)
	stop()
	if gaps := l.Gaps(); len(gaps) > 0 {
		t.Errorf("gaps: %+v", gaps)
	}
	expectAllFree(t, k)
}

// TestBatchesOutOfOrderHoldNoMemory: a response reaches the end of the log, followed by
// batches that were read before. Its fetch ahead stays unused.
func TestBatchesOutOfOrderHoldNoMemory(t *testing.T) {
	t.Parallel()
	c := cluster(t, 1)
	var reached atomic.Int64
	c.ControlKey(int16(kmsg.Fetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		req := kreq.(*kmsg.FetchRequest)
		at := req.Topics[0].Partitions[0].FetchOffset
		reached.Store(at)
		batch := func(base int64, n int) []byte {
			return kafkatest.Batch{Base: base, Time: 1, Records: kafkatest.Values(make([]string, n)...)}.AppendTo(nil)
		}
		switch round := at - at%30; at - round {
		case 0:
			return answer(req, round+30, batch(at, 2)), nil, true
		case 2:
			return answer(req, round+20, append(batch(at, 18), batch(at-1, 3)...)), nil, true
		case 20:
			return answer(req, round+25, batch(at, 5)), nil, true
		case 25:
			return answer(req, round+60, batch(at, 5)), nil, true
		}
		return answer(req, at, nil), nil, true
	})
	k, stop := run(t, config(c.ListenAddrs()), sinktest.New())
	sinktest.Eventually(t, "some rounds are read", func() bool { return reached.Load() > 200 })
	stop()
	expectAllFree(t, k)
}
