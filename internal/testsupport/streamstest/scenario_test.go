package streamstest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
)

// scenario is a fake with one table, and the SDK's client that reads its stream.
type scenario struct {
	*testing.T
	fake   *streamstest.Fake
	table  *streamstest.Table
	client *dynamodbstreams.Client
	arn    string
}

// orders has a sort key and two global indexes.
var orders = model.Schema{
	Name: "orders", Key: model.Key{Partition: []string{"pk"}, Sort: []string{"sk"}},
	Types: map[string]string{"sk": "N"},
	Indexes: []model.Index{
		{Name: "by-status", Key: model.Key{Partition: []string{"status"}}},
		{Name: "by-day", Key: model.Key{Partition: []string{"day", "shop"}, Sort: []string{"sk"}}, Projection: "KEYS_ONLY"},
	},
}

func setup(t *testing.T, o streamstest.Options) *scenario {
	t.Helper()
	w := &scenario{T: t, fake: streamstest.New(o)}
	w.table = w.fake.CreateTable(orders)
	w.arn = w.table.EnableStream(streamstest.NewAndOldImages)
	w.client = w.reader("reader")
	return w
}

// reader is a client of a process of its own, which repeats nothing by itself.
func (w *scenario) reader(name string) *dynamodbstreams.Client {
	return dynamodbstreams.NewFromConfig(w.fake.Config(name), func(o *dynamodbstreams.Options) {
		o.Retryer = retry.AddWithMaxAttempts(retry.NewStandard(), 1)
	})
}

// put writes the item with that key.
func (w *scenario) put(pk string, sk int, more ...string) {
	w.Helper()
	i := model.Item{"pk": model.S(pk), "sk": model.N(fmt.Sprint(sk))}
	for ; len(more) > 0; more = more[2:] {
		i[more[0]] = model.S(more[1])
	}
	if err := w.table.Put(i); err != nil {
		w.Fatal(err)
	}
}

// iterator asks for one; at is the sequence number, for the types that want it.
func (w *scenario) iterator(shard string, kind types.ShardIteratorType, at string) (string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &w.arn, ShardId: &shard, ShardIteratorType: kind}
	if at != "" {
		in.SequenceNumber = &at
	}
	out, err := w.client.GetShardIterator(w.Context(), in)
	if err != nil {
		return "", err
	}
	return *out.ShardIterator, nil
}

func (w *scenario) mustIterator(shard string, kind types.ShardIteratorType, at string) string {
	w.Helper()
	it, err := w.iterator(shard, kind, at)
	if err != nil {
		w.Fatal(err)
	}
	return it
}

// page reads one page; next is empty at the shard's end.
func (w *scenario) page(iterator string) (records []types.Record, next string, err error) {
	out, err := w.client.GetRecords(w.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: &iterator})
	if err != nil {
		return nil, "", err
	}
	return out.Records, aws.ToString(out.NextShardIterator), nil
}

// read reads from an iterator until the shard ends, or a page is empty.
func (w *scenario) read(iterator string) (all []types.Record) {
	w.Helper()
	for iterator != "" {
		records, next, err := w.page(iterator)
		if err != nil {
			w.Fatal(err)
		}
		if all = append(all, records...); len(records) == 0 {
			return all
		}
		iterator = next
	}
	return all
}

// describe turns all pages of DescribeStream.
func (w *scenario) describe(filter *types.ShardFilter, limit int32) (shards []types.Shard, pages int) {
	w.Helper()
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &w.arn, ShardFilter: filter}
	if limit > 0 {
		in.Limit = &limit
	}
	for pages = 1; ; pages++ {
		out, err := w.client.DescribeStream(w.Context(), in)
		if err != nil {
			w.Fatal(err)
		}
		shards = append(shards, out.StreamDescription.Shards...)
		in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId
		if in.ExclusiveStartShardId == nil {
			return shards, pages
		}
	}
}

// is holds an error to the exception's name.
func (w *scenario) is(err error, code string) {
	w.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		w.Errorf("%v, want %s", err, code)
	}
}

// reasonOf is an exception's name and what it says of why: the SDK shows the
// reasons of two classes in two places.
func reasonOf(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return ""
	}
	var reasons []dynamodbtypes.ThrottlingReason
	if e, ok := errors.AsType[*dynamodbtypes.ThrottlingException](err); ok {
		reasons = e.ThrottlingReasons
	}
	if e, ok := errors.AsType[*dynamodbtypes.ProvisionedThroughputExceededException](err); ok {
		reasons = e.ThrottlingReasons
	}
	out := api.ErrorCode()
	for _, r := range reasons {
		out += " " + aws.ToString(r.Reason) + " " + aws.ToString(r.Resource)
	}
	return out
}
