package conformance

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/internal/testsupport/await"
)

func (c *suite) described() {
	d := c.describe()
	if len(d.KeySchema) != 2 || *d.KeySchema[0].AttributeName != "pk" || d.KeySchema[0].KeyType != types.KeyTypeHash ||
		*d.KeySchema[1].AttributeName != "sk" || d.KeySchema[1].KeyType != types.KeyTypeRange {
		c.Errorf("key schema %+v", d.KeySchema)
	}
	if d.StreamSpecification == nil || !*d.StreamSpecification.StreamEnabled || d.StreamSpecification.StreamViewType != types.StreamViewTypeNewAndOldImages {
		c.Errorf("stream specification %+v", d.StreamSpecification)
	}
	if d.BillingModeSummary == nil || d.BillingModeSummary.BillingMode != types.BillingModePayPerRequest {
		c.Errorf("billing mode %+v", d.BillingModeSummary)
	}
	if len(d.AttributeDefinitions) != 3 || len(d.GlobalSecondaryIndexes) != 1 {
		c.Fatalf("attributes %+v, indexes %+v", d.AttributeDefinitions, d.GlobalSecondaryIndexes)
	}
	x := d.GlobalSecondaryIndexes[0]
	if *x.IndexName != "by-status" || len(x.KeySchema) != 1 || x.Projection.ProjectionType != types.ProjectionTypeInclude || !slices.Equal(x.Projection.NonKeyAttributes, []string{"x"}) {
		c.Errorf("index %+v", x)
	}
	list, err := c.streams.ListStreams(c.Context(), &dynamodbstreams.ListStreamsInput{TableName: &c.name})
	if err != nil || len(list.Streams) != 1 || *list.Streams[0].StreamArn != c.arn || *list.Streams[0].TableName != c.name || *list.Streams[0].StreamLabel != *d.LatestStreamLabel {
		c.Errorf("streams %+v: %v", list, err)
	}
	s := c.stream()
	if s.StreamStatus != streams.StreamStatusEnabled || s.StreamViewType != streams.StreamViewTypeNewAndOldImages || *s.TableName != c.name || len(s.KeySchema) != 2 {
		c.Errorf("stream %+v", s)
	}
	if len(s.Shards) == 0 || s.Shards[0].SequenceNumberRange == nil || s.Shards[0].SequenceNumberRange.EndingSequenceNumber != nil {
		c.Errorf("shards %+v", s.Shards)
	}
}

func (c *suite) stream() *streams.StreamDescription {
	c.Helper()
	out, err := c.streams.DescribeStream(c.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &c.arn})
	if err != nil {
		c.Fatal(err)
	}
	return out.StreamDescription
}

func key(pk, sk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberN{Value: sk}}
}

// put writes an item whose attribute x is that text.
func (c *suite) put(pk, x string) {
	c.Helper()
	i := key(pk, "1")
	i["x"] = &types.AttributeValueMemberS{Value: x}
	if _, err := c.tables.PutItem(c.Context(), &dynamodb.PutItemInput{TableName: &c.name, Item: i}); err != nil {
		c.Fatal(err)
	}
}

// read reads the records of one partition key from the start of every shard,
// until there are so many.
func (c *suite) read(pk string, want int) (records []streams.Record) {
	c.Helper()
	await.Until(c, fmt.Sprintf("%d records of %s", want, pk), func() bool {
		records = nil
		for _, sh := range c.stream().Shards {
			for _, r := range c.page(c.begin(*sh.ShardId, "TRIM_HORIZON", ""), nil) {
				if v, ok := r.Dynamodb.Keys["pk"].(*streams.AttributeValueMemberS); ok && v.Value == pk {
					records = append(records, r)
				}
			}
		}
		return len(records) >= want
	})
	return records
}

func (c *suite) begin(shard, kind, at string) *string {
	c.Helper()
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &c.arn, ShardId: &shard, ShardIteratorType: streams.ShardIteratorType(kind)}
	if at != "" {
		in.SequenceNumber = &at
	}
	out, err := c.streams.GetShardIterator(c.Context(), in)
	if err != nil {
		c.Fatal(err)
	}
	return out.ShardIterator
}

// page reads from an iterator until there are records, or nothing for five
// pages, and leaves the next iterator in next.
func (c *suite) page(iterator *string, next **string) []streams.Record {
	c.Helper()
	return c.pageOf(iterator, nil, next)
}

func (c *suite) pageOf(iterator *string, limit *int32, next **string) []streams.Record {
	c.Helper()
	for range 5 {
		out, err := c.streams.GetRecords(c.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: iterator, Limit: limit})
		if err != nil {
			c.Fatal(err)
		}
		if next != nil {
			*next = out.NextShardIterator
		}
		if len(out.Records) > 0 || out.NextShardIterator == nil {
			return out.Records
		}
		iterator = out.NextShardIterator
	}
	return nil
}

// changes writes, overwrites, updates and deletes one item.
func (c *suite) changes() {
	began := time.Now().Truncate(time.Second).Add(-time.Minute) // clocks differ
	c.put("changed", "one")
	c.put("changed", "two")
	if _, err := c.tables.UpdateItem(c.Context(), &dynamodb.UpdateItemInput{
		TableName: &c.name, Key: key("changed", "1"), UpdateExpression: aws.String("SET #x = :x REMOVE y"),
		ExpressionAttributeNames:  map[string]string{"#x": "x"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":x": &types.AttributeValueMemberS{Value: "three"}},
	}); err != nil {
		c.Fatal(err)
	}
	if _, err := c.tables.DeleteItem(c.Context(), &dynamodb.DeleteItemInput{TableName: &c.name, Key: key("changed", "1")}); err != nil {
		c.Fatal(err)
	}
	var story []string
	last := ""
	for _, r := range c.read("changed", 4) {
		d := r.Dynamodb
		story = append(story, fmt.Sprintf("%s %s→%s", r.EventName, textOf(d.OldImage["x"]), textOf(d.NewImage["x"])))
		if !later(*d.SequenceNumber, last) {
			c.Errorf("sequence number %s after %s", *d.SequenceNumber, last)
		}
		last = *d.SequenceNumber
		if at := *d.ApproximateCreationDateTime; at.Before(began) || at.After(time.Now().Add(time.Minute)) {
			c.Errorf("created at %s", at)
		}
		if len(d.Keys) != 2 || d.StreamViewType != streams.StreamViewTypeNewAndOldImages || aws.ToString(r.EventSource) != "aws:dynamodb" || aws.ToString(r.EventID) == "" {
			c.Errorf("record %+v", r)
		}
	}
	if want := []string{"INSERT →one", "MODIFY one→two", "MODIFY two→three", "REMOVE three→"}; !slices.Equal(story, want) {
		c.Errorf("%q, want %q", story, want)
	}
}

func textOf(v streams.AttributeValue) string {
	if s, ok := v.(*streams.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// later compares sequence numbers: decimal, of up to 40 digits.
func later(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

func (c *suite) paged() {
	for i := range 5 {
		c.put("paged", fmt.Sprint(i))
	}
	all := c.read("paged", 5)
	it := c.begin(c.shard(), "AT_SEQUENCE_NUMBER", *all[0].Dynamodb.SequenceNumber)
	var lengths []int
	for range 3 {
		lengths = append(lengths, len(c.pageOf(it, aws.Int32(2), &it)))
	}
	if !slices.Equal(lengths, []int{2, 2, 1}) {
		c.Errorf("pages of %v records, want 2, 2 and 1", lengths)
	}
}

// shard is the one that is written to. A table of a few items has one.
func (c *suite) shard() string {
	c.Helper()
	for _, sh := range c.stream().Shards {
		if sh.SequenceNumberRange.EndingSequenceNumber == nil {
			return *sh.ShardId
		}
	}
	c.Fatal("no shard is open")
	return ""
}

func (c *suite) begun() {
	c.put("begun", "before")
	all := c.read("begun", 1)
	newest := c.begin(c.shard(), "LATEST", "")
	if got := c.page(newest, &newest); len(got) != 0 {
		c.Errorf("LATEST begins with %d records", len(got))
	}
	c.put("begun", "after")
	c.put("begun", "last")
	second := c.read("begun", 3)[1]
	if got := c.page(newest, nil); len(got) == 0 || textOf(got[0].Dynamodb.NewImage["x"]) != "after" {
		c.Errorf("LATEST goes on with %d records", len(got))
	}
	for kind, want := range map[string]string{"AT_SEQUENCE_NUMBER": "after", "AFTER_SEQUENCE_NUMBER": "last"} {
		if got := c.page(c.begin(c.shard(), kind, *second.Dynamodb.SequenceNumber), nil); len(got) == 0 || textOf(got[0].Dynamodb.NewImage["x"]) != want {
			c.Errorf("%s begins with %+v, want %s", kind, got, want)
		}
	}
	if got := c.page(c.begin(c.shard(), "AFTER_SEQUENCE_NUMBER", *all[0].Dynamodb.SequenceNumber), nil); len(got) != 2 {
		c.Errorf("%d records after the first of three", len(got))
	}
}

func (c *suite) seconds() {
	c.put("seconds", "1")
	if at := *c.read("seconds", 1)[0].Dynamodb.ApproximateCreationDateTime; at.Nanosecond() != 0 {
		c.Errorf("created at %s", at)
	}
}

// codeNotFound is DynamoDB's error code for what does not exist.
const codeNotFound = "ResourceNotFoundException"

func (c *suite) noStream() {
	_, err := c.streams.DescribeStream(c.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: aws.String(c.arn[:len(c.arn)-3] + "999")})
	c.code("a stream that is not there", err, codeNotFound)
	_, err = c.tables.DescribeTable(c.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(c.name + "-not")})
	c.code("a table that is not there", err, codeNotFound)
}

func (c *suite) noShard() {
	shard := c.shard()
	other := shard[:len(shard)-8] + "00000000"
	_, err := c.streams.GetShardIterator(c.Context(), &dynamodbstreams.GetShardIteratorInput{StreamArn: &c.arn, ShardId: &other, ShardIteratorType: "TRIM_HORIZON"})
	c.code("a shard that is not there", err, codeNotFound)
}

func (c *suite) code(what string, err error, want string) {
	c.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != want {
		c.Errorf("%s: %v, want %s", what, err, want)
	}
}

func (c *suite) nothing() {
	c.put("same", "1")
	c.put("same", "1")
	c.put("same", "2")
	if got := c.read("same", 2); len(got) != 2 {
		c.Errorf("%d records, want one for each change", len(got))
	}
}

func (c *suite) sized() {
	c.put("sized", "0123456789")
	if got := aws.ToInt64(c.read("sized", 1)[0].Dynamodb.SizeBytes); got <= 0 {
		c.Errorf("%d bytes", got)
	}
}

// enabledAgain comes last: it leaves the table with another stream.
func (c *suite) enabledAgain() {
	update := func(s *types.StreamSpecification) {
		c.Helper()
		if _, err := c.tables.UpdateTable(c.Context(), &dynamodb.UpdateTableInput{TableName: &c.name, StreamSpecification: s}); err != nil {
			c.Fatal(err)
		}
		c.describe()
	}
	update(&types.StreamSpecification{StreamEnabled: aws.Bool(false)})
	if s := c.stream(); s.StreamStatus != streams.StreamStatusDisabled {
		c.Errorf("the old stream is %s", s.StreamStatus)
	}
	update(&types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly})
	arn := *c.describe().LatestStreamArn
	if arn == c.arn {
		c.Error("the new stream has the old one's ARN")
	}
	list, err := c.streams.ListStreams(c.Context(), &dynamodbstreams.ListStreamsInput{TableName: &c.name})
	if err != nil || len(list.Streams) != 2 {
		c.Errorf("streams %+v: %v", list, err)
	}
	if got := c.stream().StreamArn; *got != c.arn {
		c.Errorf("the old stream is described as %s", *got)
	}
}
