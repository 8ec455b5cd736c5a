package streamstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// Options say how a Fake behaves. The zero value is a well-behaved DynamoDB.
type Options struct {
	// Region and Account stand in every ARN; default eu-west-1 and 000000000000.
	Region, Account string
	// Seed makes what is random the same each time.
	Seed uint64
	// Lag is how long DescribeStream takes to show a new shard, and the end of
	// an old one.
	Lag time.Duration
	// Delay is how long a record takes from its write to GetRecords: streams are
	// "near-real time" (Guide).
	Delay time.Duration
	// Rollover is the age at which a shard closes in favour of one child;
	// 0 means 4 hours, below 0 never.
	Rollover time.Duration
	// Retention is the age at which records are trimmed; 0 means 24 hours.
	Retention time.Duration
	// IteratorLife is how long an iterator is good for; 0 means 15 minutes.
	IteratorLife time.Duration
	// PageRecords, PageBytes and PageShards bound a page of GetRecords and of
	// DescribeStream; 0 means 1,000 records, 1 MB and 100 shards.
	PageRecords, PageBytes, PageShards int
	// EmptyPages, Throttles and Errors are shares of requests: pages that are
	// empty although there are records (four in a row at most), requests refused as too many, and
	// internal errors with status 500. They concern what reads: the Streams API,
	// DescribeTable and ListTables.
	EmptyPages, Throttles, Errors float64
	// NoRates lifts the limits of DescribeStream, ListStreams and of the readers
	// of a shard. Calls are recorded all the same.
	NoRates bool
	// OtherHash places keys by another hash than DynamoDB's.
	OtherHash bool
	// NoTimestamps refuses AT_TIMESTAMP, as servers of before October 2026 do.
	NoTimestamps bool
	// Shards is the number of shards with which a stream begins; 0 means 1.
	Shards int
	// PartitionWrites is how many write units a second the simulated partition
	// of each key value takes before it refuses; 0 means no limit. The real one
	// takes 1,000.
	PartitionWrites float64
}

func (o Options) withDefaults() Options {
	fill := func(v *int, otherwise int) {
		if *v == 0 {
			*v = otherwise
		}
	}
	age := func(v *time.Duration, otherwise time.Duration) {
		if *v == 0 {
			*v = otherwise
		}
	}
	if o.Region == "" {
		o.Region = "eu-west-1"
	}
	if o.Account == "" {
		o.Account = "000000000000"
	}
	age(&o.Rollover, 4*time.Hour)
	age(&o.Retention, 24*time.Hour)
	age(&o.IteratorLife, 15*time.Minute)
	fill(&o.PageRecords, 1000)
	fill(&o.PageBytes, 1<<20)
	fill(&o.PageShards, 100)
	fill(&o.Shards, 1)
	return o
}

// Fake is a DynamoDB with streams. It is safe for use by many goroutines, and
// has none of its own: whatever time brings about is made up for when somebody
// asks.
type Fake struct {
	mu      sync.Mutex
	options Options
	random  *rand.Rand
	skew    time.Duration
	tables  map[string]*Table
	// streams outlive their tables' interest in them: by ARN, in the order in
	// which they were made.
	streams []*stream
	// tickets number the iterators that were given; those up to expired are
	// good for nothing.
	tickets, expired int
	chains           int
	log              callLog
	faults           faults
}

// New returns a Fake without tables.
func New(o Options) *Fake {
	return &Fake{
		options: o.withDefaults(), random: rand.New(rand.NewPCG(o.Seed, 0x5eed)),
		tables: map[string]*Table{}, faults: newFaults(),
	}
}

// Now is the fake's time.
func (f *Fake) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now()
}

func (f *Fake) now() time.Time { return time.Now().Add(f.skew) }

// Advance moves the fake's time on by d: shards roll over, iterators expire,
// records are trimmed, and shards vanish, as if so much time had passed.
func (f *Fake) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.skew += d
	f.settle()
}

// CreateTable makes a table, without a stream. It panics on a schema that
// DynamoDB would refuse: the test is wrong.
func (f *Fake) CreateTable(s model.Schema) *Table {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, err := f.createTable(s)
	if err != nil {
		panic(err)
	}
	return t
}

func (f *Fake) createTable(s model.Schema) (*Table, error) {
	if err := s.Validate(); err != nil {
		return nil, refuse(codeInvalid, "%v", err)
	}
	if f.tables[s.Name] != nil {
		return nil, refuse(codeInUse, "Table already exists: %s", s.Name)
	}
	t := &Table{fake: f, schema: s, created: f.now(), items: map[string]model.Item{}, spent: map[string]spending{}}
	f.tables[s.Name] = t
	return t, nil
}

// Table is the table of that name; nil when there is none.
func (f *Fake) Table(name string) *Table {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tables[name]
}

// DropTable deletes a table. Its stream closes as if it were disabled.
func (f *Fake) DropTable(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropTable(name)
}

func (f *Fake) dropTable(name string) {
	if t := f.tables[name]; t != nil {
		t.disable()
		delete(f.tables, name)
	}
}

// settle brings about what the time that has passed brings about.
func (f *Fake) settle() {
	now := f.now()
	for _, s := range f.streams {
		s.settle(now)
	}
	f.streams = slices.DeleteFunc(f.streams, func(s *stream) bool { return s.vanished(now) })
}

// stream is the stream of that ARN, or the refusal.
func (f *Fake) stream(arn string) (*stream, error) {
	for _, s := range f.streams {
		if s.arn == arn {
			return s, nil
		}
	}
	return nil, refuse(codeNotFound, "Requested resource not found: Stream: %s not found", arn)
}

func (f *Fake) tableARN(name string) string {
	return fmt.Sprintf("arn:aws:dynamodb:%s:%s:table/%s", f.options.Region, f.options.Account, name)
}

// chance is true for that share of its calls.
func (f *Fake) chance(share float64) bool { return share > 0 && f.random.Float64() < share }
