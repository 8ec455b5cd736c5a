// Package api is the requests to DynamoDB Streams, at a rate that all collectors
// share, what their errors mean, the names and positions of shards, and records as
// JSON.
package api

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

// DynamoDBStreams is what is asked of AWS; *dynamodbstreams.Client is one.
type DynamoDBStreams interface {
	ListStreams(context.Context, *dynamodbstreams.ListStreamsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.ListStreamsOutput, error)
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// once turns the client's own retries off: they would exceed our rate, and every
// request here is retried anyway.
func once(o *dynamodbstreams.Options) { o.Retryer = aws.NopRetryer{} }

// What an error of AWS means for the reader of a shard.
var (
	// ErrExpired: the iterator is older than 15 minutes. Only the iterator is
	// lost, never the position.
	ErrExpired = errors.New("the iterator has expired")
	// ErrTrimmed: the position lies before the oldest record that is left.
	ErrTrimmed = errors.New("records were trimmed before they were read")
	// ErrGone: there is no such shard, or no such stream.
	ErrGone = errors.New("it does not exist (any more)")
	// ErrThrottled: too many requests.
	ErrThrottled = errors.New("throttled")
	// ErrServer: AWS failed.
	ErrServer = errors.New("AWS failed")
	// ErrDenied: a permission is missing.
	ErrDenied = errors.New("access denied")
)

// meanings are the error codes that need more than a retry.
var meanings = []struct {
	codes   []string
	meaning error
}{
	{[]string{"ExpiredIteratorException"}, ErrExpired},
	{[]string{"TrimmedDataAccessException"}, ErrTrimmed},
	{[]string{"ResourceNotFoundException"}, ErrGone},
	{[]string{
		"LimitExceededException", "ThrottlingException", "Throttling", "RequestLimitExceeded",
		"ProvisionedThroughputExceededException", "TooManyRequestsException",
	}, ErrThrottled},
	{[]string{"InternalServerError", "InternalFailure", "ServiceUnavailable"}, ErrServer},
	{[]string{"AccessDeniedException", "AccessDenied", "UnauthorizedOperation"}, ErrDenied},
}

// explain makes a sentence of an error, without what differs from request to
// request, and wraps its meaning.
func explain(operation string, err error) error {
	var refused smithy.APIError
	if !errors.As(err, &refused) {
		var response *awshttp.ResponseError
		switch {
		case errors.As(err, &response) && response.HTTPStatusCode() == 0: // how the SDK reports that there was no response
			return fmt.Errorf("%s: %w to answer: %w: check the region, the endpoint and the network", operation, ErrServer, cause(err))
		case response != nil:
			return fmt.Errorf("%s: %w: %d %s", operation, ErrServer, response.HTTPStatusCode(), http.StatusText(response.HTTPStatusCode()))
		}
		return fmt.Errorf("%s: %w", operation, err)
	}
	for _, m := range meanings {
		if !slices.Contains(m.codes, refused.ErrorCode()) {
			continue
		}
		if errors.Is(m.meaning, ErrDenied) {
			return fmt.Errorf("%s: %w: allow dynamodb:%s on the stream to this role", operation, ErrDenied, operation)
		}
		return fmt.Errorf("%s: %w", operation, m.meaning)
	}
	return fmt.Errorf("%s: %s: %s", operation, refused.ErrorCode(), refused.ErrorMessage())
}

// cause returns the innermost error, which names no port that differs from request to
// request.
func cause(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// Client makes the requests that reading streams needs. Each is made once; callers
// retry at a rate that all collectors share.
type Client struct {
	server  DynamoDBStreams
	timeout time.Duration
	observe func(operation string, err error)
	// Listing paces the requests that list whole streams, which one collector
	// does at a time.
	Listing *Pacer
}

// New returns a client whose requests take at most the timeout. Each is
// reported to observe, which may be nil, with its error.
func New(server DynamoDBStreams, timeout time.Duration, observe func(operation string, err error)) *Client {
	if observe == nil {
		observe = func(string, error) {}
	}
	return &Client{server: server, timeout: timeout, observe: observe, Listing: NewPacer(listingRate)}
}

// request bounds, reports and explains one request.
func request[Out any](ctx context.Context, c *Client, operation string, send func(context.Context) (Out, error)) (Out, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	out, err := send(ctx)
	if err != nil {
		err = explain(operation, err)
	}
	c.observe(operation, err)
	return out, err
}

// ListStreams returns the streams that a table has or had, in their order.
func (c *Client) ListStreams(ctx context.Context, table string) ([]ARN, error) {
	in := &dynamodbstreams.ListStreamsInput{TableName: aws.String(table)}
	var all []ARN
	for {
		if err := c.Listing.Wait(ctx); err != nil {
			return nil, err
		}
		out, err := request(ctx, c, "ListStreams", func(ctx context.Context) (*dynamodbstreams.ListStreamsOutput, error) {
			return c.server.ListStreams(ctx, in, once)
		})
		if err != nil {
			return nil, err
		}
		for _, found := range out.Streams {
			if a := ARN(aws.ToString(found.StreamArn)); a.Table() == table {
				all = append(all, a)
			}
		}
		if in.ExclusiveStartStreamArn = out.LastEvaluatedStreamArn; in.ExclusiveStartStreamArn == nil {
			break
		}
	}
	slices.SortFunc(all, func(a, b ARN) int { return strings.Compare(a.label(), b.label()) })
	return slices.Compact(all), nil
}

// Describe returns one page of a stream's shards: from cursor on, and, with a
// parent, its children only.
func (c *Client) Describe(ctx context.Context, stream ARN, cursor *string, parent string) (*types.StreamDescription, error) {
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: aws.String(string(stream)), ExclusiveStartShardId: cursor}
	if parent != "" {
		in.ShardFilter = &types.ShardFilter{Type: types.ShardFilterTypeChildShards, ShardId: aws.String(parent)}
	}
	out, err := request(ctx, c, "DescribeStream", func(ctx context.Context) (*dynamodbstreams.DescribeStreamOutput, error) {
		return c.server.DescribeStream(ctx, in, once)
	})
	if err != nil {
		return nil, err
	}
	return out.StreamDescription, nil
}

// OpenIterator returns an iterator at a position of a shard.
func (c *Client) OpenIterator(ctx context.Context, stream ARN, shard string, p Position) (string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: aws.String(string(stream)), ShardId: aws.String(shard),
		ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	if next, ok := strings.CutPrefix(string(p), atPrefix); ok {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAtSequenceNumber, aws.String(next)
	} else if !p.Unread() {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, aws.String(string(p))
	}
	out, err := request(ctx, c, "GetShardIterator", func(ctx context.Context) (*dynamodbstreams.GetShardIteratorOutput, error) {
		return c.server.GetShardIterator(ctx, in, once)
	})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.ShardIterator), nil
}

// MaxRecords is the most records that GetRecords gives at once, and FewRecords
// what a reader requests whose last page had to wait.
const (
	MaxRecords = 1000
	FewRecords = 100
)

// Page is a response of GetRecords.
type Page struct {
	Records []types.Record
	// Next is the iterator behind the page; empty when the shard is closed and
	// this was the last of it.
	Next string
	// Asked is when it was requested.
	Asked time.Time
}

// GetRecords returns the page of at most limit records at an iterator. Its Asked is
// set after an error, too.
func (c *Client) GetRecords(ctx context.Context, iterator string, limit int32) (Page, error) {
	p := Page{Asked: time.Now()}
	in := &dynamodbstreams.GetRecordsInput{ShardIterator: aws.String(iterator), Limit: aws.Int32(limit)}
	out, err := request(ctx, c, "GetRecords", func(ctx context.Context) (*dynamodbstreams.GetRecordsOutput, error) {
		return c.server.GetRecords(ctx, in, once)
	})
	if err != nil {
		return p, err
	}
	p.Records, p.Next = out.Records, aws.ToString(out.NextShardIterator)
	return p, nil
}
