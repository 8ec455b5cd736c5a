// Package awssdk makes samples of a program's own DynamoDB requests: middleware
// for aws-sdk-go-v2 that sees each request with its keys, and hands records of
// it to a sink.
//
//	sampler, err := awssdk.Instrument(&cfg, awssdk.Options{Sink: awssdk.WriterSink(file)})
//	…
//	defer sampler.Close(ctx)
//
// Every client made of cfg from then on is sampled. A request is kept or not
// before it is sent, by chance alone, and the records of a kept one carry the
// rate with which it was kept, so that what they add up to is unbiased. The items of one
// request on one key are kept or not together, and their records say so (Calls):
// what they prove follows from that. Equal
// records of one second fold into one with n, exactly: a hot key costs a record
// a second however hot it is, and while it is throttled one for each number of attempts.
//
// The middleware is never in the way. It holds a bounded number of folded
// records and hands them over once a second from a goroutine of its own; what
// does not fit is dropped and counted in Stats. A panic in it or in the sink is
// contained and counted. What the program gets, responses and errors, is what
// it would have got without: also where DynamoDB was asked for consumed
// capacity (Options.AskCapacity) that the program did not ask for.
//
// Units are those that DynamoDB reported, and else computed from the item sizes
// that request and response show, which is a lower bound: the record says that
// it is estimated. A read through a local index is charged to the table, where
// its partition is.
//
// A request that was throttled and got through on a later attempt is one
// request of demand. Its throttled attempts are kept as a throttled record of no
// units, one request an attempt; the same holds for the attempts before the last
// of a request that never got through, whose last one carries the demand. A record of
// demand says how often the call was sent (Attempts), how long the program waited
// since the first attempt ended in an error (Waited), and whether it was refused for
// good (Failed).
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

// Off keeps, as Options.Rate, no request at all: the middleware is there and
// does nothing.
const Off = -1

// DefaultMaxPending is how many different folded records wait for the sink
// when Options does not say: about 4 MB of them.
const DefaultMaxPending = 10_000

// minMaxPerSecond is the smallest Options.MaxPerSecond: below it the steps in
// which an adaptive rate falls would be coarser than its limit.
const minMaxPerSecond = 16

// Options say what is sampled, and where the records go. Only Sink must be set.
type Options struct {
	// Sink takes the records, about once a second.
	Sink Sink
	// Rate is the share of requests that is kept, in (0,1]; Off keeps none. 0
	// is all of them, unless MaxPerSecond is set.
	Rate float64
	// MaxPerSecond, when set, makes the rate adaptive: this process keeps at
	// most about so many records a second, before folding. At least 16. It
	// excludes Rate.
	MaxPerSecond int
	// AskCapacity allows to ask DynamoDB for the consumed capacity by index of
	// kept requests whose caller did not ask. The answer is taken out of the
	// response again. It costs some bytes a response and no capacity.
	AskCapacity bool
	// DescribeTables allows one DescribeTable for each table that Tables does
	// not name, beside the requests and never in their way. Until it has
	// answered, keys that need the schema are unknown, and counted.
	DescribeTables bool
	// Tables are the key schemas that are known, by table name.
	Tables sample.Schemas
	// Caller is written into each record: who asks, a service's name.
	Caller string
	// HMACKey, at least 16 bytes, makes every key leave the process only as a
	// keyed hash: see the package's document about personal data.
	HMACKey []byte
	// Unfolded keeps every record for itself, with its own milliseconds.
	Unfolded bool
	// MaxPending bounds the records that wait for the sink; 0 is
	// DefaultMaxPending.
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

// Instrument adds the middleware to a configuration: every DynamoDB client
// made of it afterwards is sampled, other services' are left alone.
func Instrument(cfg *aws.Config, options Options) (*Sampler, error) {
	s, err := newSampler(options, dynamodb.NewFromConfig(cfg.Copy()))
	if err != nil {
		return nil, err
	}
	cfg.APIOptions = append(cfg.APIOptions[:len(cfg.APIOptions):len(cfg.APIOptions)], s.add)
	return s, nil
}

// InstrumentClient adds the middleware to one client's options: call it in the
// function that dynamodb.New and NewFromConfig take.
func InstrumentClient(client *dynamodb.Options, options Options) (*Sampler, error) {
	s, err := newSampler(options, dynamodb.New(client.Copy()))
	if err != nil {
		return nil, err
	}
	client.APIOptions = append(client.APIOptions[:len(client.APIOptions):len(client.APIOptions)], s.add)
	return s, nil
}

// Sampler is the middleware with what it has gathered. It is safe for
// concurrent use.
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

// Close hands over what is gathered and ends the sampler's goroutines; requests
// go on unsampled. It returns within ctx, also when the sink does not: what was
// not handed over is then an error, and counted as dropped.
func (s *Sampler) Close(ctx context.Context) error {
	return s.worker.close(ctx)
}
