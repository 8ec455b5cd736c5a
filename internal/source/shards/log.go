package shards

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// Log is the API of one kind of sharded log. Each call is one request, made once and
// not retried: the callers pace, bound and repeat them. Its errors are sentences
// without what differs from request to request, and wrap what they mean: see
// [ErrGone] and its neighbours.
type Log interface {
	// Traits returns what is true of every log of the kind.
	Traits() Traits
	// Parts returns what distinguishes a stream, by its name in the Registry: its
	// table, and a label by which the streams of one table are in order. The name
	// ends with the label.
	Parts(stream string) (table, label string)
	// Streams returns one page of the streams that a table has or had, and where
	// the next page begins; empty after the last.
	Streams(ctx context.Context, table, cursor string) (streams []string, next string, err error)
	// Describe returns one page of a stream's shards; with a parent, of its children
	// alone, if the server can tell them apart. A shard that goes on for two may
	// name either: the one that was asked for.
	Describe(ctx context.Context, stream, cursor, parent string) (Description, error)
	// Open returns an iterator at a position of a shard.
	Open(ctx context.Context, stream, shard string, p Position) (iterator string, err error)
	// Read returns the page of at most limit records of a stream at an iterator. It
	// may lay the records' values into buffer, which the caller uses again once it
	// has no need of them.
	Read(ctx context.Context, stream, iterator string, limit int32, buffer []byte) (Page, error)
}

// What an error of a Log means for the reader of a shard. Any other is retried.
var (
	// ErrExpired: the iterator is too old. Only the iterator is lost, never the
	// position.
	ErrExpired = errors.New("the iterator has expired")
	// ErrTrimmed: the position lies before the oldest record that is left.
	ErrTrimmed = errors.New("records were trimmed before they were read")
	// ErrGone: there is no such shard, stream or table.
	ErrGone = errors.New("it does not exist (any more)")
	// ErrThrottled: too many requests.
	ErrThrottled = errors.New("throttled")
	// ErrServer: AWS failed.
	ErrServer = errors.New("AWS failed")
	// ErrDenied: a permission is missing.
	ErrDenied = errors.New("access denied")
)

// Traits is what is true of every log of one kind.
type Traits struct {
	// Operations are the names of the requests, as metrics and errors show them.
	Operations Operations
	// Retention is how long a record is kept.
	Retention time.Duration
	// ListingRate is how many requests a second may list whole streams, which one
	// collector does at a time, and ChildrenRate how many may ask for the children
	// of a shard, which all collectors share.
	ListingRate, ChildrenRate rate.Limit
	// PageEvery is the least time between two pages of a shard.
	PageEvery time.Duration
	// MaxRecords is the most records that a page may have, and FewRecords what a
	// reader requests whose last page had to wait.
	MaxRecords, FewRecords int32
	// PageBytes is about what a page takes at most while it is read: the response, what
	// is decoded of it, and the records' values.
	PageBytes int64
	// NoTable, NoStream and NotHere tell a person what to do: when a table, or its
	// newest stream, does not exist; when it has no stream that takes records; and
	// when a stream that must exist does not.
	NoTable, NoStream, NotHere error
}

// Operations are names of requests.
type Operations struct{ Streams, Describe, Open, Read string }

// Description is a page of a stream's shards.
type Description struct {
	// Disabled reports that the stream takes no more records.
	Disabled bool
	Shards   []Described
	// Next is where the next page begins; empty after the last.
	Next string
}

// Described is one shard of a stream, by the names that the Log gives them.
type Described struct {
	ID, Parent string
	// Open reports that the shard still takes records.
	Open bool
}

// Page is what was read from a shard at once.
type Page struct {
	Records []Record
	// Next is the iterator behind the page; empty when the shard is closed and
	// this was the last of it.
	Next string
	// Buffer is the one that Read was given, as long as it has become.
	Buffer []byte

	asked time.Time // when it was requested; set after an error, too
}

// Record is one record of a shard.
type Record struct {
	// Sequence is its sequence number, a decimal, which rises within a shard.
	Sequence string
	// Time is when it was written, in Unix milliseconds; 0 when not known.
	Time int64
	// Value is what a decoder reads.
	Value []byte
}

// client makes the requests to a Log, each bounded and observed.
type client struct {
	log     Log
	traits  Traits
	timeout time.Duration
	observe func(operation string, err error)
}

// shardName returns a shard's name in the Registry and the Sink: table/label/shard.
func (c *client) shardName(stream, shard string) string {
	table, label := c.log.Parts(stream)
	return table + "/" + label + "/" + shard
}

// family returns the beginning that the names of one table's streams share.
func (c *client) family(stream string) string {
	_, label := c.log.Parts(stream)
	return strings.TrimSuffix(stream, label)
}

// request bounds and observes one request.
func request[Out any](ctx context.Context, c *client, operation string, send func(context.Context) (Out, error)) (Out, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	out, err := send(ctx)
	c.observe(operation, err)
	return out, err
}

// page is a page of names.
type page struct {
	names []string
	next  string
}

func (c *client) streams(ctx context.Context, table, cursor string) (page, error) {
	return request(ctx, c, c.traits.Operations.Streams, func(ctx context.Context) (p page, err error) {
		p.names, p.next, err = c.log.Streams(ctx, table, cursor)
		return p, err
	})
}

func (c *client) describe(ctx context.Context, stream, cursor, parent string) (Description, error) {
	return request(ctx, c, c.traits.Operations.Describe, func(ctx context.Context) (Description, error) {
		return c.log.Describe(ctx, stream, cursor, parent)
	})
}

func (c *client) open(ctx context.Context, stream, shard string, p Position) (string, error) {
	return request(ctx, c, c.traits.Operations.Open, func(ctx context.Context) (string, error) {
		return c.log.Open(ctx, stream, shard, p)
	})
}

func (c *client) read(ctx context.Context, stream, iterator string, limit int32, buffer []byte) (Page, error) {
	asked := time.Now()
	p, err := request(ctx, c, c.traits.Operations.Read, func(ctx context.Context) (Page, error) {
		return c.log.Read(ctx, stream, iterator, limit, buffer)
	})
	p.asked = asked
	return p, err
}
