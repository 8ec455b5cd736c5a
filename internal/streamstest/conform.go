package streamstest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// Conform holds whatever the configuration reaches to what DynamoDB documents
// of a table and a stream of one shard, through the SDK: the Fake, the stand-ins
// that others wrote, and DynamoDB itself. It makes tables of its own and deletes
// them. Each part is a subtest; known names those that a stand-in is known to
// fail, with the reason for which they are then skipped.
func Conform(t *testing.T, config aws.Config, known map[string]string) {
	c := &conformance{T: t, tables: dynamodb.NewFromConfig(config), streams: dynamodbstreams.NewFromConfig(config)}
	c.create()
	for _, part := range []struct {
		name string
		run  func(*conformance)
	}{
		{"the table tells its schema and its stream", (*conformance).described},
		{"a change of each kind is one record", (*conformance).changes},
		{"pages have the length that was asked for", (*conformance).paged},
		{"iterators begin where they are told", (*conformance).begun},
		{"a stream that is not there is refused", (*conformance).noStream},
		{"a shard that is not there is refused", (*conformance).noShard},
		{"times are whole seconds", (*conformance).seconds},
		{"a write that changes nothing has no record", (*conformance).nothing},
		{"a record has a size", (*conformance).sized},
		{"a stream that is enabled again is another one", (*conformance).enabledAgain},
	} {
		t.Run(part.name, func(t *testing.T) {
			if why := known[part.name]; why != "" {
				t.Skip(why)
			}
			own := *c
			own.T = t
			part.run(&own)
		})
	}
}

type conformance struct {
	*testing.T
	tables    *dynamodb.Client
	streams   *dynamodbstreams.Client
	name, arn string
}

// create makes the table: a sort key, a global index, and a stream.
func (c *conformance) create() {
	c.Helper()
	c.name = fmt.Sprintf("keyheat-conformance-%d", time.Now().UnixNano())
	text, number := types.ScalarAttributeTypeS, types.ScalarAttributeTypeN
	_, err := c.tables.CreateTable(c.Context(), &dynamodb.CreateTableInput{
		TableName: &c.name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: text}, {AttributeName: aws.String("sk"), AttributeType: number},
			{AttributeName: aws.String("status"), AttributeType: text},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("by-status"), KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("status"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeInclude, NonKeyAttributes: []string{"x"}},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages},
	})
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() {
		if _, err := c.tables.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &c.name}); err != nil {
			c.Error(err)
		}
	})
	c.arn = *c.describe().LatestStreamArn
}

// describe answers the table's description once it is active.
func (c *conformance) describe() *types.TableDescription {
	c.Helper()
	waiter := dynamodb.NewTableExistsWaiter(c.tables)
	out, err := waiter.WaitForOutput(c.Context(), &dynamodb.DescribeTableInput{TableName: &c.name}, 5*time.Minute)
	if err != nil {
		c.Fatal(err)
	}
	return out.Table
}
