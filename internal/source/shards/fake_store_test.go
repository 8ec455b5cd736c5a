package shards_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keyheat/keyheat/internal/source"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/store"
)

// fakeStore keeps the state of all collectors in memory: positions, watermarks and counted
// records like internal/collect, and shards and members like the store. It records every
// broken promise.
type fakeStore struct {
	mu         sync.Mutex
	shards     map[string]*shard
	listed     map[string]time.Time // by stream
	members    map[string]time.Time // until when they are alive
	leader     string
	leads      time.Time // until when
	counted    []record
	gaps       []sample.Gap
	gapsOf     []string // the shard of each
	complete   int64    // seconds before it were called complete
	violations []string // promises
	lossy      int      // number of folds in a thousand after which all samples are dropped
	down       bool     // the store is away
	rng        *rand.Rand
	claims     int
}

type shard struct {
	store.NewShard
	stream, owner, next string
	found               time.Time
	epoch               int
	ended               bool
	watermark           int64 // Unix milliseconds
}

// record is one counted record.
type record struct {
	shard, sequence, event, item string
	second                       int64
}

func newFakeStore() *fakeStore {
	return &fakeStore{
		shards: map[string]*shard{}, listed: map[string]time.Time{}, members: map[string]time.Time{},
		rng: rand.New(rand.NewPCG(1, 2)),
	}
}

func (o *fakeStore) violation(format string, args ...any) {
	if len(o.violations) < 10 {
		o.violations = append(o.violations, fmt.Sprintf(format, args...))
	}
}

// session is the store as one collector uses it: a shards.Registry and a
// source.Sink.
type session struct {
	store        *fakeStore
	name         string
	dead         bool // killed: all its requests fail
	registryAway bool // it reaches its sink, and not the registry
}

// kill makes every request of a collector fail.
func (d *session) kill() {
	defer d.enter()()
	d.dead = true
}

// noRegistry reports whether the registry cannot be reached.
func (d *session) noRegistry() bool { return d.noStore() || d.registryAway }

// noStore reports whether the store cannot be reached.
func (d *session) noStore() bool { return d.store.down || d.dead }

var errDown = fmt.Errorf("the store is away")

func (d *session) enter() func() {
	d.store.mu.Lock()
	return d.store.mu.Unlock
}

func (d *session) Attend(_ context.Context, _, _ string, ttl time.Duration) ([]string, error) {
	defer d.enter()()
	if d.noRegistry() {
		return nil, errDown
	}
	d.store.members[d.name] = time.Now().Add(ttl)
	var alive []string
	for m := range d.store.members {
		if d.store.alive(m) {
			alive = append(alive, m)
		}
	}
	slices.Sort(alive)
	return alive, nil
}

func (o *fakeStore) alive(member string) bool { return time.Now().Before(o.members[member]) }

func (d *session) Leave(context.Context, string, string) error {
	defer d.enter()()
	if d.noRegistry() {
		return errDown
	}
	delete(d.store.members, d.name)
	return nil
}

func (d *session) AcquireLease(_ context.Context, name, holder string, ttl time.Duration) (store.Lease, bool, error) {
	defer d.enter()()
	if d.noRegistry() {
		return store.Lease{}, false, errDown
	}
	if d.store.leader != d.name && time.Now().Before(d.store.leads) {
		return store.Lease{}, false, nil
	}
	d.store.leader, d.store.leads = d.name, time.Now().Add(ttl)
	return store.Lease{Name: name, Holder: holder}, true, nil
}

func (d *session) ReleaseLease(_ context.Context, l store.Lease) error {
	defer d.enter()()
	if d.noRegistry() {
		return errDown
	}
	if d.store.leader == l.Holder {
		d.store.leads = time.Time{}
	}
	return nil
}

func (d *session) RegisterShards(_ context.Context, _, stream string, all []store.NewShard, listed bool) error {
	defer d.enter()()
	if d.noRegistry() {
		return errDown
	}
	for _, n := range all {
		if d.store.shards[n.Name] == nil {
			h := &shard{NewShard: n, stream: stream, next: n.First, found: time.Now()}
			if before := d.store.shards[n.After]; before != nil && !before.ended {
				h.watermark = before.watermark
			}
			d.store.shards[n.Name] = h
		}
	}
	if listed {
		d.store.listed[stream] = time.Now()
	}
	return nil
}

func (d *session) Lineage(_ context.Context, _, stream string) (store.Stream, error) {
	defer d.enter()()
	if d.noRegistry() {
		return store.Stream{}, errDown
	}
	l := store.Stream{Listed: d.store.listed[stream]}
	for name, h := range d.store.shards {
		if h.stream == stream {
			l.Names = append(l.Names, name)
		}
	}
	return l, nil
}

func (d *session) LastListed(_ context.Context, _, prefix string) (last time.Time, _ error) {
	defer d.enter()()
	for stream, listed := range d.store.listed {
		if strings.HasPrefix(stream, prefix) && listed.After(last) {
			last = listed
		}
	}
	return last, nil
}

func (d *session) OpenShards(context.Context, string) ([]store.Shard, error) {
	defer d.enter()()
	if d.noRegistry() {
		return nil, errDown
	}
	var open []store.Shard
	for name, h := range d.store.shards {
		if h.ended {
			continue
		}
		s := store.Shard{Name: name, Stream: h.stream, After: h.After, Ready: d.store.ready(h), Owner: h.owner,
			Watermark: time.UnixMilli(h.watermark), Found: h.found, UnseenSince: h.UnseenSince}
		if !d.store.alive(h.owner) {
			s.Owner = ""
		}
		open = append(open, s)
	}
	slices.SortFunc(open, func(a, b store.Shard) int { return cmp.Compare(a.Name, b.Name) })
	return open, nil
}

func (o *fakeStore) ready(h *shard) bool {
	before := o.shards[h.After]
	return before == nil || before.ended
}

func (d *session) TakeShards(_ context.Context, _, _ string, names []string) ([]string, error) {
	defer d.enter()()
	if d.noRegistry() {
		return nil, errDown
	}
	var taken []string
	for _, name := range names {
		if h := d.store.shards[name]; !h.ended && (h.owner == d.name || !d.store.alive(h.owner)) {
			h.owner = d.name
			taken = append(taken, name)
		}
	}
	return taken, nil
}

func (d *session) FreeShard(_ context.Context, _, _, name string) error {
	defer d.enter()()
	if d.noRegistry() {
		return errDown
	}
	if h := d.store.shards[name]; h.owner == d.name {
		h.owner = ""
	}
	return nil
}

// handle is one claim of a shard. Folded batches wait for a commit.
type handle struct {
	session   *session
	shard     *shard
	epoch     int
	next      string
	ended     bool
	watermark int64
	pending   []record
	lost      []sample.Gap
	since     time.Time
}

// Claim implements source.Sink.
func (d *session) Claim(_ context.Context, claim source.Claim) (source.Partition, error) {
	name, first := claim.Partition, claim.First
	defer d.enter()()
	if d.noStore() {
		return nil, errDown
	}
	h := d.store.shards[name]
	if h == nil {
		d.store.violation("%s was claimed before it was registered", name)
		h = &shard{NewShard: store.NewShard{Name: name}, next: first}
		d.store.shards[name] = h
	}
	if !d.store.ready(h) {
		d.store.violation("%s was claimed before %s had ended", name, h.After)
	}
	h.epoch++
	d.store.claims++
	return &handle{session: d, shard: h, epoch: h.epoch, next: h.next, since: time.Now()}, nil
}

// Mark implements source.Partition.
func (h *handle) Mark() string { return "" }

func (h *handle) Position() string          { return h.next }
func (h *handle) CommittedPosition() string { return h.next }

// Fold implements source.Partition. It commits now and then, like a collector's clock, and
// sometimes loses the waiting batches.
func (h *handle) Fold(ctx context.Context, b source.Batch) error {
	defer h.session.enter()()
	if err := h.usable(ctx); err != nil {
		return err
	}
	if b.Messages != nil {
		for m := range b.Messages {
			h.pending = append(h.pending, h.parse(m))
		}
	}
	h.next, h.ended = b.Next, b.Final
	h.advance(b)
	if h.session.store.rng.IntN(1000) < h.session.store.lossy {
		h.shard.epoch++ // another claimed it, or the database was away
		return source.ErrReclaim
	}
	if time.Since(h.since) >= 2*time.Second {
		return h.commit()
	}
	return nil
}

func (h *handle) usable(ctx context.Context) error {
	if h.epoch != h.shard.epoch {
		return source.ErrReclaim
	}
	return ctx.Err()
}

func (h *handle) parse(m source.Message) record {
	var e struct {
		EventID  string `json:"eventID"`
		DynamoDB struct {
			SequenceNumber string
			Keys           json.RawMessage
		} `json:"dynamodb"`
	}
	if err := json.Unmarshal(m.Value, &e); err != nil {
		h.session.store.violation("a message that is no JSON: %s", m.Value)
	}
	if m.Time%1000 != 0 || m.Time <= 0 {
		h.session.store.violation("a message's time is %d", m.Time)
	}
	return record{h.shard.Name, e.DynamoDB.SequenceNumber, e.EventID, string(e.DynamoDB.Keys), m.Time / 1000}
}

// advance moves the position and the watermark, like internal/collect.
func (h *handle) advance(b source.Batch) {
	mark := b.Time - 1000
	switch {
	case b.Final:
		mark = math.MaxInt64
	case b.End && b.Read > 0:
		mark = max(mark, b.Read-1000)
	case b.End:
		mark = max(mark, time.Now().UnixMilli()-1000)
	}
	h.watermark = max(h.watermark, mark)
}

func (h *handle) commit() error {
	if h.session.noStore() {
		return errDown
	}
	if h.epoch != h.shard.epoch {
		return source.ErrReclaim
	}
	for _, r := range h.pending {
		if r.second < h.session.store.complete {
			h.session.store.violation("%s: a record of second %d came after the seconds before %d were called complete", r.shard, r.second, h.session.store.complete)
		}
	}
	h.session.store.counted = append(h.session.store.counted, h.pending...)
	for range h.lost {
		h.session.store.gapsOf = append(h.session.store.gapsOf, h.shard.Name)
	}
	h.session.store.gaps = append(h.session.store.gaps, h.lost...)
	h.pending, h.lost, h.since = nil, nil, time.Now()
	h.shard.next, h.shard.ended = h.next, h.ended
	if h.watermark > 0 {
		h.shard.watermark = h.watermark
	}
	h.session.store.close()
	return nil
}

// close calls the seconds complete that the watermark of every shard has passed.
func (o *fakeStore) close() {
	all := int64(math.MaxInt64)
	for _, h := range o.shards {
		all = min(all, h.watermark)
	}
	if all < math.MaxInt64 {
		o.complete = max(o.complete, all/1000)
	}
}

// Gap implements source.Partition.
func (h *handle) Gap(ctx context.Context, g sample.Gap) error {
	defer h.session.enter()()
	if err := h.usable(ctx); err != nil {
		return err
	}
	h.lost = append(h.lost, g)
	if g.To != "" {
		h.next = g.To
	}
	return nil
}

// Release implements source.Partition.
func (h *handle) Release(context.Context) error {
	defer h.session.enter()()
	if err := h.commit(); err != nil {
		return err
	}
	h.shard.epoch++
	return nil
}

// open lists the shards that are not finished.
func (o *fakeStore) open() (names []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(o.shards)) {
		if !o.shards[name].ended {
			names = append(names, name)
		}
	}
	return names
}

// verify fails the test for every broken promise. Each record must count exactly once, and
// the records of an item in the order of their sequence numbers.
func (o *fakeStore) verify(t testing.TB, written int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, b := range o.violations {
		t.Error(b)
	}
	events := map[string]int{}
	last := map[string]string{}
	for _, r := range o.counted {
		events[r.event]++
		if sequence := pad(r.sequence); last[r.item] >= sequence {
			t.Errorf("%s: record %s of item %s was counted after a later one", r.shard, r.sequence, r.item)
		} else {
			last[r.item] = sequence
		}
	}
	for event, n := range events {
		if n > 1 {
			t.Errorf("record %s was counted %d times", event, n)
		}
	}
	if len(events) != written {
		t.Errorf("%d records were counted, want %d", len(events), written)
	}
}

// pad makes decimal numbers comparable as text.
func pad(sequence string) string { return strings.Repeat("0", 50-len(sequence)) + sequence }
