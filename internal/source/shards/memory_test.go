package shards_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/internal/source/shards"
	"github.com/keyheat/keyheat/internal/source/shards/streams"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
)

// TestPagesShareABudget has memory for two pages, and a backlog in eight shards. All but
// one wait for that one, like for a slower partition: they give back their pages, and read
// them again.
func TestPagesShareABudget(t *testing.T) {
	inBubble(t, streamstest.Options{Seed: 12, Rollover: -1, PageRecords: 20}, func(w *scenario) {
		for len(w.table.OpenShards()) < 8 {
			w.table.Split(w.table.OpenShards()[0])
		}
		w.write(2000, time.Millisecond)
		d := &session{store: w.store, name: "a"}
		l := &crowdedLog{idle: map[string]bool{}, Log: streams.NewLog(dynamodbstreams.NewFromConfig(w.fake.Config("a")))}
		b := &behind{session: d, l: l}
		w.config.Member, w.config.MemoryBytes = d.name, 2*crowdedPage
		s, err := shards.New(w.config, l, d, logs())
		if err != nil {
			w.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() {
			if err := s.Run(ctx, b); err != nil {
				w.Error(err)
			}
		})
		w.allCounted(10 * time.Minute)
		cancel()
		running.Wait()
		w.verify()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.most > 2 {
			t.Errorf("%d pages were read at once, room is for two", l.most)
		}
		if b.reread == 0 {
			t.Error("nothing was given back: nobody had to wait")
		}
		t.Logf("%d pages were given back and read again", b.reread)
	})
}

const crowdedPage = 1 << 20

// crowdedLog records how many pages are read at once. It ignores pages at the ends of
// shards, which are requested without memory.
type crowdedLog struct {
	shards.Log
	mu            sync.Mutex
	idle          map[string]bool // iterators behind empty pages
	reading, most int
}

// Traits implements shards.Log.
func (l *crowdedLog) Traits() shards.Traits {
	traits := l.Log.Traits()
	traits.PageBytes = crowdedPage
	return traits
}

// Read implements shards.Log. A page takes a moment, and is large.
func (l *crowdedLog) Read(ctx context.Context, stream, iterator string, limit int32, buffer []byte) (shards.Page, error) {
	l.mu.Lock()
	counts := !l.idle[iterator]
	if counts {
		l.reading++
		l.most = max(l.most, l.reading)
	}
	l.mu.Unlock()
	pass(20 * time.Millisecond)
	p, err := l.Log.Read(ctx, stream, iterator, limit, buffer)
	l.mu.Lock()
	defer l.mu.Unlock()
	if counts {
		l.reading--
	}
	l.idle[p.Next] = len(p.Records) == 0
	p.Buffer = append(p.Buffer, make([]byte, crowdedPage/2)...)
	return p, err
}

// behind is a sink with one partition that is slower than all others.
type behind struct {
	*session
	l      *crowdedLog
	mu     sync.Mutex
	slow   string
	folded int
	reread int
}

// Claim implements source.Sink.
func (b *behind) Claim(ctx context.Context, c source.Claim) (source.Partition, error) {
	p, err := b.session.Claim(ctx, c)
	if err != nil {
		return nil, err
	}
	return &waiting{p, b, c.Partition}, nil
}

type waiting struct {
	source.Partition
	of   *behind
	name string
}

// slowPages is how many pages of the slow one the others wait for.
const slowPages = 10

// mayGoOn reports whether the slow one, the first to have records, has come far enough.
func (p *waiting) mayGoOn() bool {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.of.slow == "" {
		p.of.slow = p.name
	}
	if p.of.slow == p.name {
		p.of.folded++
		return true
	}
	return p.of.folded >= slowPages
}

// Fold implements source.Partition, as internal/collect does.
func (p *waiting) Fold(ctx context.Context, b source.Batch) error {
	if b.Messages == nil {
		return p.Partition.Fold(ctx, b)
	}
	for yielded := false; ; pass(10 * time.Millisecond) {
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("wait: %w", ctx.Err())
		case !yielded && b.Yield():
			yielded = true
			p.of.mu.Lock()
			p.of.reread++
			p.of.mu.Unlock()
		case p.mayGoOn() && yielded:
			return source.ErrReread
		case p.mayGoOn():
			return p.Partition.Fold(ctx, b)
		}
	}
}
