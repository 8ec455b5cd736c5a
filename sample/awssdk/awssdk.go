// Package awssdk samples a program's own DynamoDB requests. It is middleware for aws-sdk-go-v2
// that observes each request with its keys, and sends records to a sink:
//
//	sampler, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: awssdk.WriterSink(file)})
//	…
//	defer sampler.Close(ctx)
//
// Every DynamoDB client made from cfg after this call is sampled. Use [InstrumentClient] for a
// single client, and package kafkasink to send records to Kafka.
//
// # Choosing a rate
//
// Options.Rate keeps a fixed part of the requests. Options.MaxPerSecond adapts the rate to the
// traffic instead. Without either, every request is kept. Chance alone decides, before a
// request is sent. Records carry the rate, so their sums are unbiased estimates. All items of
// one request on one key are kept or dropped together, and the record's Calls states how many
// they were. Without it, nobody could compute the error of the estimate.
//
// Equal records of one second fold into one record with a count. So a hot key costs about one
// record a second at any load. While the key is throttled, it costs one record for each number
// of attempts.
//
// # Safety
//
// The middleware never blocks a request. It holds a bounded number of folded records, and a
// goroutine of its own sends them to the sink once a second. Records beyond the bound are
// dropped and counted in [Stats]. A panic in the middleware or in the sink is contained and
// counted. The program gets the same responses and errors as without the middleware, even if
// the middleware asked DynamoDB for consumed capacity (Options.AskCapacity).
//
// # Functions
//
// A function is frozen after each answer, and ends without notice. It calls [Sampler.Flush] before
// it answers, so that nothing waits for the next call:
//
//	defer sampler.Flush(ctx)
//
// With WriterSink(os.Stdout) the records are lines of the function's log, from which Amazon Data
// Firehose delivers them to a collector. With package httpsink the function sends them itself.
//
// # Units and retries
//
// Units are the consumed capacity that DynamoDB reported. If it reported none, they are
// computed from the item sizes in request and response. That is a lower bound, and the record
// is marked as Estimated. DynamoDB charges reads through a local index to the table, and so do
// the records.
//
// A request that was throttled and then succeeded counts once as requested load. Each throttled
// attempt adds one request without units to a throttled record. If the request never succeeds,
// its last attempt carries the requested load. The record of the load also counts the attempts
// (Attempts), the time since the first failed attempt (Waited), and whether the request failed
// after all retries (Failed).
//
// # Limits
//
// The middleware finds keys in the typed input and output, so it needs a table's key schema for
// whole items and index keys (Options.Tables, Options.DescribeTables). It reads simple PartiQL
// statements and key conditions; Stats counts the others.
package awssdk

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/keyheat/keyheat/sample"
)

// Off as Options.Rate keeps no request: the middleware is installed and does nothing.
const Off = -1

// DefaultMaxPending is the default of Options.MaxPending: about 4 MB of records.
const DefaultMaxPending = 10_000

// minMaxPerSecond is the smallest Options.MaxPerSecond. Below it, the steps of an adaptive rate
// would be coarser than the limit.
const minMaxPerSecond = 16

// Options configure a sampler. Only Sink is required.
type Options struct {
	Sink Sink
	// Rate is the part of the requests that is kept, in (0,1]; Off keeps none. Zero keeps all
	// of them, unless MaxPerSecond is set.
	Rate float64
	// MaxPerSecond makes the rate adaptive: this process keeps at most about so many records a
	// second, counted before folding. It is at least 16, and excludes Rate.
	MaxPerSecond int
	// AskCapacity allows the middleware to request the consumed capacity by index if the caller
	// did not. The middleware removes it from the response again. This costs some bytes a
	// response and no capacity.
	AskCapacity bool
	// DescribeTables allows one DescribeTable call for each table that Tables does not name.
	// The call never delays a request. Until it returns, keys that need the schema are unknown,
	// and counted.
	DescribeTables bool
	Tables         sample.Schemas
	// Caller is the name of the calling service, written into each record.
	Caller string
	// HMACKey, of at least 16 bytes, replaces every key by a keyed hash before it leaves the
	// process: see the package's document about personal data.
	HMACKey []byte
	// Unfolded keeps every record apart, with its own milliseconds.
	Unfolded bool
	// MaxPending bounds the records that wait for the sink. Zero means DefaultMaxPending.
	MaxPending int
}

func (o *Options) check() error {
	switch {
	case o.Sink == nil:
		return errors.New("awssdk: set Options.Sink, it takes the records")
	case math.IsNaN(o.Rate) || o.Rate > 1 || o.Rate < 0 && o.Rate != Off || o.Rate > 0 && o.Rate < sample.MinRate:
		return fmt.Errorf("awssdk: Options.Rate is %v: give a share in (0,1], 0 for all, or Off", o.Rate)
	case o.MaxPerSecond != 0 && o.Rate != 0:
		return errors.New("awssdk: set Options.Rate or Options.MaxPerSecond, not both")
	case o.MaxPerSecond != 0 && o.MaxPerSecond < minMaxPerSecond:
		return fmt.Errorf("awssdk: Options.MaxPerSecond is %d: give at least %d", o.MaxPerSecond, minMaxPerSecond)
	case len(o.HMACKey) != 0 && len(o.HMACKey) < 16:
		return fmt.Errorf("awssdk: Options.HMACKey has %d bytes: give at least 16", len(o.HMACKey))
	case o.MaxPending < 0:
		return errors.New("awssdk: Options.MaxPending is negative")
	}
	for table, schema := range o.Tables {
		if err := checkSchema(schema); err != nil {
			return fmt.Errorf("awssdk: Options.Tables, %q: %w", table, err)
		}
	}
	return nil
}

// Instrument adds the middleware to a configuration. It samples every DynamoDB client made from
// it afterwards, and ignores other services.
func Instrument(cfg *aws.Config, options Options) (*Sampler, error) {
	s, err := newSampler(options, dynamodb.NewFromConfig(cfg.Copy()))
	if err != nil {
		return nil, err
	}
	cfg.APIOptions = append(cfg.APIOptions[:len(cfg.APIOptions):len(cfg.APIOptions)], s.add)
	return s, nil
}

// InstrumentClient adds the middleware to one client. Call it in the options function of
// dynamodb.New or NewFromConfig.
func InstrumentClient(client *dynamodb.Options, options Options) (*Sampler, error) {
	s, err := newSampler(options, dynamodb.New(client.Copy()))
	if err != nil {
		return nil, err
	}
	client.APIOptions = append(client.APIOptions[:len(client.APIOptions):len(client.APIOptions)], s.add)
	return s, nil
}

// Sampler is the middleware with its pending records. It is safe for concurrent use.
type Sampler struct {
	options Options
	gate    gate
	hide    *hider
	schemas *schemas
	fold    *fold
	count   counters
	worker  *worker
}

func newSampler(options Options, client *dynamodb.Client) (*Sampler, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	if options.MaxPending == 0 {
		options.MaxPending = DefaultMaxPending
	}
	s := &Sampler{options: options, gate: newGate(options), hide: newHider(options.HMACKey)}
	s.fold = newFold(options.MaxPending, options.Unfolded, &s.count)
	s.worker = startWorker(options.Sink, s.fold, &s.count)
	var describe describeFunc
	if options.DescribeTables {
		describe = describeBy(client)
	}
	s.schemas = newSchemas(options.Tables, describe, s.worker, &s.count)
	return s, nil
}

// Stats returns the counts.
func (s *Sampler) Stats() Stats {
	c := &s.count
	return Stats{
		Requests: c.requests.Load(), Kept: c.kept.Load(), ThrottledAttempts: c.throttledAttempts.Load(),
		Records: c.records.Load(), Sent: c.sent.Load(), Dropped: c.dropped.Load(),
		UnknownKeys: c.unknownKeys.Load(), NotReadable: c.notReadable.Load(),
		UnknownIndexKeys: c.unknownIndexKeys.Load(), Failed: c.failed.Load(),
		DescribeErrors: c.describeErrors.Load(), SinkErrors: c.sinkErrors.Load(), Panics: c.panicks.Load(),
	}
}

// Flush sends the pending records, and returns once the sink has taken them. A function calls it
// before it answers, because it is frozen afterwards. Flush returns when ctx ends, even if the sink
// hangs: the sink then goes on with these records when the function does. An error says which
// records the sink did not take.
func (s *Sampler) Flush(ctx context.Context) error {
	return s.worker.flush(ctx)
}

// Close sends the pending records and ends the sampler's goroutines. Later requests are not
// sampled. Close returns when ctx ends, even if the sink hangs; the remaining records are then
// counted as dropped, and Close returns an error.
func (s *Sampler) Close(ctx context.Context) error {
	return s.worker.close(ctx)
}
