// Package streams implements [shards.Log] for DynamoDB Streams: requests, meanings of
// errors, names of streams, and records as JSON.
package streams

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/internal/aws/awserror"
	"github.com/keyheat/keyheat/internal/source/shards"
)

// DynamoDBStreams is the used part of AWS's API; *dynamodbstreams.Client implements it.
type DynamoDBStreams interface {
	ListStreams(context.Context, *dynamodbstreams.ListStreamsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.ListStreamsOutput, error)
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// withoutRetries turns off the client's own retries. They would exceed our rate, and our
// callers retry anyway.
func withoutRetries(o *dynamodbstreams.Options) { o.Retryer = aws.NopRetryer{} }

// meanings maps error codes that need more than a retry.
var meanings = []struct {
	codes   []string
	meaning error
}{
	{[]string{"ExpiredIteratorException"}, shards.ErrExpired},
	{[]string{"TrimmedDataAccessException"}, shards.ErrTrimmed},
	{[]string{"ResourceNotFoundException"}, shards.ErrGone},
	{[]string{
		"LimitExceededException", "ThrottlingException", "Throttling", "RequestLimitExceeded",
		"ProvisionedThroughputExceededException", "TooManyRequestsException",
	}, shards.ErrThrottled},
	{[]string{"InternalServerError", "InternalFailure", "ServiceUnavailable"}, shards.ErrServer},
	{[]string{"AccessDeniedException", "AccessDenied", "UnauthorizedOperation"}, shards.ErrDenied},
}

// explain turns an error into a sentence that does not vary between requests, and wraps its
// meaning.
func explain(operation string, err error) error {
	var refused smithy.APIError
	if !errors.As(err, &refused) {
		var response *awshttp.ResponseError
		switch wrong := awserror.ErrUnanswered(err); {
		case wrong != nil:
			return fmt.Errorf("%s: %w: %w", operation, shards.ErrServer, wrong)
		case errors.As(err, &response):
			return fmt.Errorf("%s: %w: %d %s", operation, shards.ErrServer, response.HTTPStatusCode(), http.StatusText(response.HTTPStatusCode()))
		}
		return fmt.Errorf("%s: %w", operation, err)
	}
	if wrong := awserror.ErrRefused(refused.ErrorCode()); wrong != nil {
		return fmt.Errorf("%s: %w: %w", operation, shards.ErrDenied, wrong)
	}
	for _, m := range meanings {
		if !slices.Contains(m.codes, refused.ErrorCode()) {
			continue
		}
		if errors.Is(m.meaning, shards.ErrDenied) {
			return fmt.Errorf("%s: %w: allow dynamodb:%s on the stream to this role", operation, shards.ErrDenied, operation)
		}
		return fmt.Errorf("%s: %w", operation, m.meaning)
	}
	return fmt.Errorf("%s: %s", operation, awserror.Text(refused))
}

// operations are the requests to read a stream, by IAM's names without "dynamodb:".
var operations = shards.Operations{
	Streams: "ListStreams", Describe: "DescribeStream", Open: "GetShardIterator", Read: "GetRecords",
}

// Retention is how long a stream keeps a record: Developer Guide, "Change data capture for
// DynamoDB Streams".
const Retention = 24 * time.Hour

// traits are the traits of DynamoDB Streams. AWS allows ten DescribeStream requests a
// second. The two rates leave room for seconds in which requests of several collectors
// coincide. AWS allows five pages of a shard a second.
var traits = shards.Traits{
	Operations:  operations,
	Retention:   Retention,
	ListingRate: 4, ChildrenRate: 3,
	PageEvery:  220 * time.Millisecond,
	MaxRecords: 1000, FewRecords: 100, PageBytes: 8 << 20,
	NoTable:  errors.New("the table, or its stream, does not exist: create it, or remove it from streams.tables"),
	NoStream: errors.New("it has no enabled stream: enable one with NEW_AND_OLD_IMAGES"),
	NotHere:  errors.New("its stream does not exist, although records live for 24 hours: check that AWS_REGION and the credentials are of the table's region and account, or remove the table from streams.tables"),
}

// Log is DynamoDB Streams. It implements [shards.Log].
type Log struct{ server DynamoDBStreams }

// NewLog returns the streams that a server has.
func NewLog(server DynamoDBStreams) Log { return Log{server} }

// New returns a source that reads the streams of tables as one of the collectors that share
// them. It has made no request yet. It fails only on a configuration that Validate refuses.
func New(config shards.Config, server DynamoDBStreams, registry shards.Registry, log *slog.Logger) (*shards.Source, error) {
	return shards.New(config, Log{server}, registry, log)
}

// Traits implements shards.Log.
func (Log) Traits() shards.Traits { return traits }

// Parts implements shards.Log. A stream's name is its ARN,
// arn:aws:dynamodb:region:account:table/NAME/stream/LABEL, and labels are times.
func (Log) Parts(stream string) (table, label string) { return parts(stream) }

func parts(arn string) (table, label string) {
	_, rest, _ := strings.Cut(arn, ":table/")
	table, label, _ = strings.Cut(rest, "/stream/")
	return table, label
}

// Streams implements shards.Log.
func (l Log) Streams(ctx context.Context, table, cursor string) (streams []string, next string, err error) {
	out, err := l.server.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{
		TableName: aws.String(table), ExclusiveStartStreamArn: optional(cursor),
	}, withoutRetries)
	if err != nil {
		return nil, "", explain(operations.Streams, err)
	}
	for _, found := range out.Streams {
		arn := aws.ToString(found.StreamArn)
		if owner, _ := parts(arn); owner == table {
			streams = append(streams, arn)
		}
	}
	return streams, aws.ToString(out.LastEvaluatedStreamArn), nil
}

// Describe implements shards.Log.
func (l Log) Describe(ctx context.Context, stream, cursor, parent string) (d shards.Description, err error) {
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: aws.String(stream), ExclusiveStartShardId: optional(cursor)}
	if parent != "" {
		in.ShardFilter = &types.ShardFilter{Type: types.ShardFilterTypeChildShards, ShardId: aws.String(parent)}
	}
	out, err := l.server.DescribeStream(ctx, in, withoutRetries)
	if err != nil {
		return d, explain(operations.Describe, err)
	}
	d.Disabled = out.StreamDescription.StreamStatus == types.StreamStatusDisabled
	d.Next = aws.ToString(out.StreamDescription.LastEvaluatedShardId)
	for _, h := range out.StreamDescription.Shards {
		d.Shards = append(d.Shards, shards.Described{
			ID: aws.ToString(h.ShardId), Parent: aws.ToString(h.ParentShardId),
			Open: h.SequenceNumberRange == nil || h.SequenceNumberRange.EndingSequenceNumber == nil,
		})
	}
	return d, nil
}

// Open implements shards.Log.
func (l Log) Open(ctx context.Context, stream, shard string, p shards.Position) (string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: aws.String(stream), ShardId: aws.String(shard),
		ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	if begin, ok := p.Time(); ok {
		in.ShardIteratorType, in.Timestamp = types.ShardIteratorTypeAtTimestamp, aws.Time(begin)
	}
	if sequence, after := p.Sequence(); sequence != "" {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAtSequenceNumber, aws.String(sequence)
		if after {
			in.ShardIteratorType = types.ShardIteratorTypeAfterSequenceNumber
		}
	}
	out, err := l.server.GetShardIterator(ctx, in, withoutRetries)
	if err != nil && in.Timestamp != nil && isUnknownType(err) {
		in.ShardIteratorType, in.Timestamp = types.ShardIteratorTypeTrimHorizon, nil
		out, err = l.server.GetShardIterator(ctx, in, withoutRetries)
	}
	if err != nil {
		return "", explain(operations.Open, err)
	}
	return aws.ToString(out.ShardIterator), nil
}

// isUnknownType reports whether a server refuses a type of iterator. Local servers may lack
// AT_TIMESTAMP, which DynamoDB has since October 2026.
func isUnknownType(err error) bool {
	var refused smithy.APIError
	return errors.As(err, &refused) && refused.ErrorCode() == "ValidationException" && strings.Contains(refused.ErrorMessage(), "ShardIteratorType")
}

// Read implements shards.Log. Values are records as JSON, in the buffer.
func (l Log) Read(ctx context.Context, stream, iterator string, limit int32, buffer []byte) (p shards.Page, err error) {
	out, err := l.server.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{
		ShardIterator: aws.String(iterator), Limit: aws.Int32(limit),
	}, withoutRetries)
	if err != nil {
		return p, explain(operations.Read, err)
	}
	p.Next = aws.ToString(out.NextShardIterator)
	p.Records = make([]shards.Record, len(out.Records))
	ends := make([]int, len(out.Records))
	for i := range out.Records {
		r := &out.Records[i]
		buffer = appendRecord(buffer, stream, r)
		ends[i] = len(buffer)
		if c := r.Dynamodb; c != nil {
			p.Records[i].Sequence = aws.ToString(c.SequenceNumber)
			if t := c.ApproximateCreationDateTime; t != nil {
				p.Records[i].Time = t.UnixMilli()
			}
		}
	}
	begin := 0
	for i, end := range ends { // the buffer does not move any more
		p.Records[i].Value = buffer[begin:end]
		begin = end
	}
	p.Buffer = buffer
	return p, nil
}

// optional returns nil for an empty string.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
