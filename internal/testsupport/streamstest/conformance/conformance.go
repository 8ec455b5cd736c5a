// Package conformance is the suite that every DynamoDB with streams of ours
// passes: the fake, the stand-ins that others wrote, and the real one.
package conformance

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
)

// Run holds whatever the configuration reaches to what DynamoDB documents
// of a table and a stream of one shard, through the SDK: the fake, the stand-ins
// that others wrote, and DynamoDB itself. It makes tables of its own and deletes
// them. Each part is a subtest; known names those that a stand-in is known to
// fail, and says how. One of these that passes is a failure, too: it is then
// known no longer.
func Run(t *testing.T, config aws.Config, known map[string]string) {
	c := &suite{TB: t, tables: dynamodb.NewFromConfig(config), streams: dynamodbstreams.NewFromConfig(config)}
	c.create()
	for _, part := range []struct {
		name string
		run  func(*suite)
	}{
		{"the table describes its schema and its stream", (*suite).described},
		{"a change of each kind is one record", (*suite).changes},
		{"pages have the length that was asked for", (*suite).paged},
		{"iterators begin where requested", (*suite).begun},
		{"a stream that is not there is refused", (*suite).noStream},
		{"a shard that is not there is refused", (*suite).noShard},
		{"times are whole seconds", (*suite).seconds},
		{"a write that changes nothing has no record", (*suite).nothing},
		{"a record has a size", (*suite).sized},
		{"a stream that is enabled again is another one", (*suite).enabledAgain},
	} {
		t.Run(part.name, func(t *testing.T) {
			own := *c
			own.TB = t
			if how := known[part.name]; how != "" {
				own.fails(how, part.run)
				return
			}
			part.run(&own)
		})
	}
}

// suite is one run.
type suite struct {
	testing.TB
	tables    *dynamodb.Client
	streams   *dynamodbstreams.Client
	name, arn string
}

// fails runs a part that has to fail.
func (c suite) fails(how string, run func(*suite)) {
	c.Helper()
	w := &witness{TB: c.TB}
	c.TB = w
	done := make(chan struct{})
	go func() { // a fatal failure ends it
		defer close(done)
		run(&c)
	}()
	<-done
	if !w.failed {
		w.TB.Errorf("it passes, and is known to fail: %s", how)
	}
}

// witness takes failures for itself.
type witness struct {
	testing.TB
	failed bool
}

func (w *witness) Error(...any)          { w.failed = true }
func (w *witness) Errorf(string, ...any) { w.failed = true }

func (w *witness) Fatal(...any) {
	w.failed = true
	runtime.Goexit()
}

func (w *witness) Fatalf(string, ...any) { w.Fatal() }

// create makes the table: a sort key, a global index, and a stream.
func (c *suite) create() {
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

// describe returns the table's description once it is active.
func (c *suite) describe() *types.TableDescription {
	c.Helper()
	waiter := dynamodb.NewTableExistsWaiter(c.tables)
	out, err := waiter.WaitForOutput(c.Context(), &dynamodb.DescribeTableInput{TableName: &c.name}, 5*time.Minute)
	if err != nil {
		c.Fatal(err)
	}
	return out.Table
}
