package api

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Probe makes the requests of a reader of a table's stream, once each, in the order
// of [Operations]. Each needs the result of the one before.
type Probe struct {
	client   *Client
	table    string
	stream   ARN
	shard    string
	iterator string
}

// Operations returns the permissions that reading a stream needs, in the order in
// which a Probe tries them. Each is named as IAM does, without "dynamodb:".
func Operations() []string {
	return []string{"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}
}

// NewProbe returns a probe of a table that has made no request yet.
func NewProbe(client *Client, table string) *Probe {
	return &Probe{client: client, table: table}
}

// Try tries one operation. Its error is a sentence about what is wrong and what to
// do.
func (p *Probe) Try(ctx context.Context, operation string) error {
	ctx, cancel := context.WithTimeout(ctx, p.client.timeout)
	defer cancel()
	missing := func(before string) error {
		return fmt.Errorf("dynamodb:%s cannot be tried before dynamodb:%s works", operation, before)
	}
	switch operation {
	case "ListStreams":
		return p.list(ctx)
	case "DescribeStream":
		if p.stream == "" {
			return missing("ListStreams")
		}
		return p.describe(ctx)
	case "GetShardIterator":
		if p.shard == "" {
			return missing("DescribeStream")
		}
		return p.openIterator(ctx)
	case "GetRecords":
		if p.iterator == "" {
			return missing("GetShardIterator")
		}
		_, err := p.client.GetRecords(ctx, p.iterator, FewRecords)
		return err
	}
	return fmt.Errorf("%s is not an operation of DynamoDB Streams", operation)
}

func (p *Probe) list(ctx context.Context) error {
	all, err := p.client.ListStreams(ctx, p.table)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("the table has no stream: enable one with NEW_AND_OLD_IMAGES")
	}
	p.stream = all[len(all)-1]
	return nil
}

func (p *Probe) describe(ctx context.Context) error {
	d, err := p.client.Describe(ctx, p.stream, nil, "")
	switch {
	case err != nil:
		return err
	case d.StreamStatus == types.StreamStatusDisabled:
		return errors.New("the table's stream is disabled: enable one with NEW_AND_OLD_IMAGES")
	case len(d.Shards) == 0:
		return errors.New("the stream has no shard yet: try again in a minute")
	}
	p.shard = aws.ToString(d.Shards[0].ShardId)
	for _, h := range d.Shards { // one that is open is not trimmed meanwhile
		if h.SequenceNumberRange == nil || h.SequenceNumberRange.EndingSequenceNumber == nil {
			p.shard = aws.ToString(h.ShardId)
		}
	}
	return nil
}

func (p *Probe) openIterator(ctx context.Context) (err error) {
	p.iterator, err = p.client.OpenIterator(ctx, p.stream, p.shard, TrimHorizon)
	return err
}
