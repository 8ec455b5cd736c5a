package shards

import (
	"context"
	"errors"
	"strings"
	"time"

	"golang.org/x/time/rate"
)

// Log is the API of one kind of sharded log. Each call is one request, without retries: the
// callers pace, bound and repeat them. Its errors are sentences that do not vary between
// requests, and wrap [ErrGone] or one of its neighbours.
type Log interface {
	// Traits returns the properties of all logs of the kind.
	Traits() Traits
	// Parts splits a stream's name in the Registry: its table, and a label that orders the
	// streams of one table. The name ends with the label.
	Parts(stream string) (table, label string)
	// Streams returns one page of the streams that a table has or had, and where
	// the next page begins; empty after the last.
	Streams(ctx context.Context, table, cursor string) (streams []string, next string, err error)
	// Describe returns one page of a stream's shards. With a parent it returns only the
	// parent's children, if the server supports that. The child of two merged shards may
	// name either as its parent: the requested one.
	Describe(ctx context.Context, stream, cursor, parent string) (Description, error)
	// Open returns an iterator at a position of a shard.
	Open(ctx context.Context, stream, shard string, p Position) (iterator string, err error)
	// Read returns a page of at most limit records at an iterator. It may put the records'
	// values into buffer. The caller reuses buffer after it is done with the page.
	Read(ctx context.Context, stream, iterator string, limit int32, buffer []byte) (Page, error)
}

// Meanings of a Log's errors. A reader retries any other error.
var (
	// ErrExpired: the iterator is too old. Only the iterator is lost, never the
	// position.
	ErrExpired = errors.New("the iterator has expired")
	// ErrTrimmed: the position lies before the oldest remaining record.
	ErrTrimmed = errors.New("records were trimmed before they were read")
	// ErrGone: the shard, stream or table does not exist.
	ErrGone = errors.New("it does not exist (any more)")
	// ErrThrottled: too many requests.
	ErrThrottled = errors.New("throttled")
	// ErrServer: AWS failed.
	ErrServer = errors.New("AWS failed")
	// ErrDenied: a permission is missing.
	ErrDenied = errors.New("access denied")
)

// Traits has the properties of all logs of one kind.
type Traits struct {
	// Operations are the names of the requests, as metrics and errors show them.
	Operations Operations
	// Retention is how long a record is kept.
	Retention time.Duration
	// ListingRate is the most requests a second that list whole streams; one collector
	// makes them. ChildrenRate is the most requests a second for the children of a shard;
	// all collectors share it.
	ListingRate, ChildrenRate rate.Limit
	// PageEvery is the least time between two pages of a shard.
	PageEvery time.Duration
	// MaxRecords is the most records of a page. A reader requests FewRecords if its last
	// page had to wait.
	MaxRecords, FewRecords int32
	// PageBytes is the most memory of a page while it is read, about: the response, its
	// decoded form, and the records' values.
	PageBytes int64
	// NoTable, NoStream and NotHere are remedies for a person. NoTable: the table or its
	// newest stream does not exist. NoStream: the table has no open stream. NotHere: a
	// stream that must exist does not.
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

// Page is the result of one request for records.
type Page struct {
	Records []Record
	// Next is the iterator behind the page; empty when the shard is closed and
	// this was the last of it.
	Next string
	// Buffer is Read's buffer, perhaps grown.
	Buffer []byte

	asked time.Time // when it was requested; set after an error, too
}

// Record is one record of a shard.
type Record struct {
	// Sequence is the sequence number, a decimal that rises within a shard.
	Sequence string
	// Time is when it was written, in Unix milliseconds; 0 when not known.
	Time int64
	// Value is the record for a decoder.
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

// family returns the prefix that the names of one table's streams share.
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
