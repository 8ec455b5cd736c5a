package streams

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"
)

// API is what is asked of DynamoDB Streams; *dynamodbstreams.Client is one.
type API interface {
	ListStreams(context.Context, *dynamodbstreams.ListStreamsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.ListStreamsOutput, error)
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// once turns the client's own retries off: they would not keep to our pace, and
// every request here is made again anyway.
func once(o *dynamodbstreams.Options) { o.Retryer = aws.NopRetryer{} }

// What an answer means for the reader of a shard.
var (
	// errExpired: the iterator is older than 15 minutes. Only the iterator is
	// lost, never the place.
	errExpired = errors.New("the iterator has expired")
	// errTrimmed: the place lies before the oldest record that is left.
	errTrimmed = errors.New("records were trimmed before they were read")
	// errGone: there is no such shard, or no such stream.
	errGone = errors.New("it does not exist (any more)")
	// errThrottled: too many requests.
	errThrottled = errors.New("throttled")
	// errServer: AWS failed.
	errServer = errors.New("AWS failed")
	// errDenied: a permission is missing.
	errDenied = errors.New("access denied")
)

// meanings are the error codes that say more than "try again".
var meanings = []struct {
	codes   []string
	meaning error
}{
	{[]string{"ExpiredIteratorException"}, errExpired},
	{[]string{"TrimmedDataAccessException"}, errTrimmed},
	{[]string{"ResourceNotFoundException"}, errGone},
	{[]string{
		"LimitExceededException", "ThrottlingException", "Throttling", "RequestLimitExceeded",
		"ProvisionedThroughputExceededException", "TooManyRequestsException",
	}, errThrottled},
	{[]string{"InternalServerError", "InternalFailure", "ServiceUnavailable"}, errServer},
	{[]string{"AccessDeniedException", "AccessDenied", "UnauthorizedOperation"}, errDenied},
}

// explain makes a sentence of an answer that refuses, without what differs from
// request to request, and gives it its meaning.
func explain(operation string, err error) error {
	var refused smithy.APIError
	if !errors.As(err, &refused) {
		var answer *awshttp.ResponseError
		switch {
		case errors.As(err, &answer) && answer.HTTPStatusCode() == 0: // the SDK's word for no answer at all
			return fmt.Errorf("%s: %w to answer: %w: look at the region, the endpoint and the network", operation, errServer, cause(err))
		case answer != nil:
			return fmt.Errorf("%s: %w: %d %s", operation, errServer, answer.HTTPStatusCode(), http.StatusText(answer.HTTPStatusCode()))
		}
		return fmt.Errorf("%s: %w", operation, err)
	}
	for _, m := range meanings {
		if !slices.Contains(m.codes, refused.ErrorCode()) {
			continue
		}
		if errors.Is(m.meaning, errDenied) {
			return fmt.Errorf("%s: %w: allow dynamodb:%s on the stream to this role", operation, errDenied, operation)
		}
		return fmt.Errorf("%s: %w", operation, m.meaning)
	}
	return fmt.Errorf("%s: %s: %s", operation, refused.ErrorCode(), refused.ErrorMessage())
}

// cause is the innermost error, which names no port that differs from request to
// request.
func cause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// Client makes the requests that reading streams needs. Each is made once; whoever
// asks again does so at a pace that fits all collectors.
type Client struct {
	api     API
	timeout time.Duration
	observe func(operation string, err error)
	// listing paces the requests that look at whole streams, which one collector
	// does at a time.
	listing *pacer
}

// NewClient returns a client whose requests take at most the timeout. Each is
// reported to observe, which may be nil, with its error.
func NewClient(api API, timeout time.Duration, observe func(operation string, err error)) *Client {
	if observe == nil {
		observe = func(string, error) {}
	}
	return &Client{api: api, timeout: timeout, observe: observe, listing: newPacer(listingRate)}
}

// ask bounds, reports and explains one request.
func ask[Out any](ctx context.Context, c *Client, operation string, request func(context.Context) (Out, error)) (Out, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	out, err := request(ctx)
	if err != nil {
		err = explain(operation, err)
	}
	c.observe(operation, err)
	return out, err
}

// listStreams are the streams that a table has or had, in their order.
func (c *Client) listStreams(ctx context.Context, table string) ([]arn, error) {
	in := &dynamodbstreams.ListStreamsInput{TableName: aws.String(table)}
	var all []arn
	for {
		if err := c.listing.wait(ctx); err != nil {
			return nil, err
		}
		out, err := ask(ctx, c, "ListStreams", func(ctx context.Context) (*dynamodbstreams.ListStreamsOutput, error) {
			return c.api.ListStreams(ctx, in, once)
		})
		if err != nil {
			return nil, err
		}
		for _, found := range out.Streams {
			if a := arn(aws.ToString(found.StreamArn)); a.table() == table {
				all = append(all, a)
			}
		}
		if in.ExclusiveStartStreamArn = out.LastEvaluatedStreamArn; in.ExclusiveStartStreamArn == nil {
			break
		}
	}
	slices.SortFunc(all, func(a, b arn) int { return strings.Compare(a.label(), b.label()) })
	return slices.Compact(all), nil
}

// describe asks for one page of a stream's shards: from cursor on, and, with a
// parent, its children only.
func (c *Client) describe(ctx context.Context, stream arn, cursor *string, parent string) (*types.StreamDescription, error) {
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: aws.String(string(stream)), ExclusiveStartShardId: cursor}
	if parent != "" {
		in.ShardFilter = &types.ShardFilter{Type: types.ShardFilterTypeChildShards, ShardId: aws.String(parent)}
	}
	out, err := ask(ctx, c, "DescribeStream", func(ctx context.Context) (*dynamodbstreams.DescribeStreamOutput, error) {
		return c.api.DescribeStream(ctx, in, once)
	})
	if err != nil {
		return nil, err
	}
	return out.StreamDescription, nil
}

// openIterator asks for an iterator at a position of a shard.
func (c *Client) openIterator(ctx context.Context, stream arn, shard string, p position) (string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: aws.String(string(stream)), ShardId: aws.String(shard),
		ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	if next, ok := strings.CutPrefix(string(p), at); ok {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAtSequenceNumber, aws.String(next)
	} else if !p.unread() {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, aws.String(string(p))
	}
	out, err := ask(ctx, c, "GetShardIterator", func(ctx context.Context) (*dynamodbstreams.GetShardIteratorOutput, error) {
		return c.api.GetShardIterator(ctx, in, once)
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ShardIterator), nil
}

// pageRecords is the most records that GetRecords gives at once, and fewRecords
// what a reader asks for that had to wait with its last page.
const (
	pageRecords = 1000
	fewRecords  = 100
)

// page is an answer of GetRecords.
type page struct {
	records []types.Record
	// next is the iterator behind the page; empty when the shard is closed and
	// this was the last of it.
	next string
	// asked is when it was asked for.
	asked time.Time
}

func (c *Client) getRecords(ctx context.Context, iterator string, limit int32) (page, error) {
	p := page{asked: time.Now()}
	in := &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String(iterator), Limit: aws.Int32(limit)}
	out, err := ask(ctx, c, "GetRecords", func(ctx context.Context) (*dynamodbstreams.GetRecordsOutput, error) {
		return c.api.GetRecords(ctx, in, once)
	})
	if err != nil {
		return p, err
	}
	p.records, p.next = out.Records, aws.ToString(out.NextShardIterator)
	return p, nil
}
