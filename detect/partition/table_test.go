package partition_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/keyheat/keyheat/detect/partition"
	"github.com/keyheat/keyheat/sample/position"
)

// place is where an item lies: by its partition key's position, then by its sort key.
type place struct {
	at   position.Position
	sort uint64
}

func (p place) before(q place) bool { return p.at < q.at || p.at == q.at && p.sort < q.sort }

// tablePartition is a contiguous range [from, to) of a simulated table, and its open shard.
type tablePartition struct {
	from, to place
	last     bool // to is the end of the key space
	shard    *stream
}

func (p *tablePartition) holds(i place) bool {
	return !i.before(p.from) && (p.last || i.before(p.to))
}

// stream is a stream shard with the records that its reader has not taken yet.
type stream struct {
	id, parent string
	queue      []place
	closed     bool // no more records come
	ended      bool // read to its end
}

// table simulates a DynamoDB table and its stream as AWS describes them: a shard for each
// partition, one child at a roll, two at a split, and records that stay in the shard that they
// were written to.
type table struct {
	random     *rand.Rand
	sortKeys   bool
	partitions []*tablePartition
	streams    []*stream
	items      []place
	made       int
}

func newTable(seed uint64, partitions, keys int, sortKeys bool) *table {
	t := &table{random: rand.New(rand.NewPCG(seed, 28)), sortKeys: sortKeys}
	for range keys {
		i := place{at: position.Position(t.random.Uint64())}
		for range 1 + t.random.IntN(4) {
			if sortKeys {
				i.sort = t.random.Uint64()
			}
			t.items = append(t.items, i)
		}
	}
	width := ^uint64(0)/uint64(partitions) + 1
	for n := range uint64(partitions) {
		t.partitions = append(t.partitions, &tablePartition{
			from: place{at: position.Position(n * width)}, to: place{at: position.Position((n + 1) * width)},
			last: n == uint64(partitions)-1, shard: t.newStream(""),
		})
	}
	return t
}

func (t *table) newStream(parent string) *stream {
	t.made++
	s := &stream{id: fmt.Sprintf("shardId-%05d", t.made), parent: parent}
	t.streams = append(t.streams, s)
	return s
}

// item returns one of the items, the first ones far more often.
func (t *table) item() place {
	return t.items[int(float64(len(t.items))*t.random.Float64()*t.random.Float64()*t.random.Float64())]
}

// write appends a record of an item to the shard of its partition.
func (t *table) write(i place) {
	p := t.holder(i)
	p.shard.queue = append(p.shard.queue, i)
}

func (t *table) holder(i place) *tablePartition {
	return t.partitions[slices.IndexFunc(t.partitions, func(p *tablePartition) bool { return p.holds(i) })]
}

// split divides a partition at its median item or, with middle, in the middle of its range.
// With sort keys the cut may lie within a collection.
func (t *table) split(p *tablePartition, middle bool) {
	cut := place{at: p.from.at + (p.to.at-p.from.at)/2}
	if !middle {
		var own []place
		for _, i := range t.items {
			if p.holds(i) {
				own = append(own, i)
			}
		}
		if len(own) == 0 {
			return
		}
		slices.SortFunc(own, func(a, b place) int {
			if a.before(b) {
				return -1
			}
			return 1
		})
		if cut = own[len(own)/2]; !t.sortKeys {
			cut.sort = 0
		}
	}
	if !p.from.before(cut) {
		return
	}
	p.shard.closed = true
	left := &tablePartition{from: p.from, to: cut, shard: t.newStream(p.shard.id)}
	right := &tablePartition{from: cut, to: p.to, last: p.last, shard: t.newStream(p.shard.id)}
	at := slices.Index(t.partitions, p)
	t.partitions = slices.Replace(t.partitions, at, at+1, left, right)
}

func (t *table) roll(p *tablePartition) {
	p.shard.closed = true
	p.shard = t.newStream(p.shard.id)
}

// reader feeds a map from a table's stream.
type reader struct {
	table *table
	m     *partition.Map
	now   time.Time
	hash  func(position.Position) position.Position
	wrong int // contradictions
	first bool
}

func newReader(t *table, hash func(position.Position) position.Position) *reader {
	return &reader{table: t, m: partition.New(t.sortKeys), now: time.Unix(1_700_000_000, 0), hash: hash, first: true}
}

// list tells the map of all shards.
func (r *reader) list() {
	for _, s := range r.table.streams {
		if !s.ended {
			r.m.Open(s.id, s.parent, r.now)
		}
	}
	r.first = false
}

// read takes a share of the records of each shard, so that some of a closed shard come after
// those of its children.
func (r *reader) read(share float64) {
	r.list()
	for _, s := range r.table.streams {
		n := int(share * float64(len(s.queue)))
		if share == 1 {
			n = len(s.queue)
		}
		for _, i := range s.queue[:n] {
			if !r.m.Add(s.id, r.hash(i.at), r.now) {
				r.wrong++
			}
		}
		if s.queue = s.queue[n:]; s.closed && len(s.queue) == 0 && !s.ended {
			s.ended = true
			r.m.End(s.id, r.now)
		}
	}
	r.now = r.now.Add(time.Minute)
	r.m.Dissolve(r.now)
}

// listing is what the store keeps of a table's shards, also of those that AWS lists no more.
type listing struct {
	table *table
	rows  []partition.Listed
	known map[string]int
	lost  map[string]bool
}

func newListing(t *table) *listing {
	return &listing{table: t, known: map[string]int{}, lost: map[string]bool{}}
}

// read takes all records, and returns the rows.
func (l *listing) read(now time.Time) []partition.Listed {
	for _, s := range l.table.streams {
		if l.lost[s.id] {
			continue
		}
		at, known := l.known[s.id]
		if !known {
			at, l.known[s.id] = len(l.rows), len(l.rows)
			l.rows = append(l.rows, partition.Listed{Name: s.id, Parent: s.parent, Stream: "1", Open: true, Observed: &partition.Observed{}})
		}
		row := &l.rows[at]
		for _, i := range s.queue {
			row.Observed.Add(i.at)
		}
		if s.queue = nil; s.closed && row.Open {
			row.Open, row.Ended = false, now
		}
	}
	return l.rows
}

// expire takes the closed shards that nobody has read out of the stream.
func (l *listing) expire() {
	for _, s := range l.table.streams {
		if _, known := l.known[s.id]; s.closed && !known {
			l.lost[s.id] = true
		}
	}
}
