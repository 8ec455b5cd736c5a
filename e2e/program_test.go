//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var orders = aws.String("orders")

type attributes = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// order is the item user#n / 1 of about so many bytes.
func order(n, bytes int) attributes {
	it := orderKey(n)
	it["status"], it["body"] = text("open"), text(strings.Repeat("x", bytes))
	return it
}

func orderKey(n int) attributes {
	return attributes{"pk": text(fmt.Sprint("user#", n)), "sk": text("1")}
}

// apiCall is one request of the program, and what a sampler must record of it: lines
// of key, operation, read and write units, throttle and n.
type apiCall struct {
	name string
	arm  func(*throttler)
	do   func(context.Context, *dynamodb.Client) (any, error)
	want []string
}

const hot = "TableWriteKeyRangeThroughputExceeded"

// apiCalls are every operation of DynamoDB's data plane, and its ways to fail. The
// items are of 100, 1,500 and 5,000 bytes and a little more.
var apiCalls = []apiCall{
	{name: "put", want: []string{"user#1 PutItem 0 1 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.PutItem(ctx, &dynamodb.PutItemInput{TableName: orders, Item: order(1, 100)})
	}},
	{name: "put with old values", want: []string{"user#1 PutItem 0 2 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.PutItem(ctx, &dynamodb.PutItemInput{TableName: orders, Item: order(1, 1500), ReturnValues: types.ReturnValueAllOld})
	}},
	{name: "failed condition", want: []string{"user#1 PutItem 0 1 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.PutItem(ctx, &dynamodb.PutItemInput{TableName: orders, Item: order(1, 100), ConditionExpression: aws.String("attribute_not_exists(pk)")})
	}},
	{name: "get", want: []string{"user#1 GetItem 0.5 0 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.GetItem(ctx, &dynamodb.GetItemInput{TableName: orders, Key: orderKey(1)})
	}},
	{name: "get of nothing, strong", want: []string{"user#99 GetItem 1 0 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.GetItem(ctx, &dynamodb.GetItemInput{TableName: orders, Key: orderKey(99), ConsistentRead: aws.Bool(true)})
	}},
	{
		name: "update, throttled twice", want: []string{"user#1 UpdateItem 0 0 2 " + hot, "user#1 UpdateItem 0 2 1"},
		arm: func(p *throttler) { p.arm("UpdateItem", slowDown(hot), slowDown(hot)) },
		do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: orders, Key: orderKey(1), ReturnValues: types.ReturnValueAllNew,
				UpdateExpression: aws.String("SET seen = :one"), ExpressionAttributeValues: attributes{":one": text("1")},
			})
		},
	},
	{
		name: "update, throttled to the end", want: []string{"user#2 UpdateItem 0 0 3 " + hot, "user#2 UpdateItem 0 1 1 " + hot},
		// The SDK makes four attempts.
		arm: func(p *throttler) {
			p.arm("UpdateItem", slowDown(hot), slowDown(hot), slowDown(hot), slowDown(hot))
		},
		do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: orders, Key: orderKey(2),
				UpdateExpression: aws.String("SET seen = :one"), ExpressionAttributeValues: attributes{":one": text("1")},
			})
		},
	},
	{name: "batch write", want: []string{"user#1 BatchWriteItem 0 1 1", "user#3 BatchWriteItem 0 2 1", "user#4 BatchWriteItem 0 5 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"orders": {
			{PutRequest: &types.PutRequest{Item: order(3, 1500)}}, {PutRequest: &types.PutRequest{Item: order(4, 5000)}},
			{DeleteRequest: &types.DeleteRequest{Key: orderKey(1)}},
		}}})
	}},
	{
		name: "batch write with an unprocessed item", want: []string{"user#5 BatchWriteItem 0 1 1", "user#6 BatchWriteItem 0 1 1 UnprocessedItems"},
		arm: func(p *throttler) {
			p.arm("BatchWriteItem", canned{200, `{"UnprocessedItems":{"orders":[{"PutRequest":{"Item":{"pk":{"S":"user#6"},"sk":{"S":"1"}}}}]}}`})
		},
		do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"orders": {
				{PutRequest: &types.PutRequest{Item: order(5, 100)}}, {PutRequest: &types.PutRequest{Item: orderKey(6)}},
			}}})
		},
	},
	{name: "batch get", want: []string{"user#3 BatchGetItem 1 0 1", "user#4 BatchGetItem 2 0 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"orders": {Keys: []attributes{orderKey(3), orderKey(4)}, ConsistentRead: aws.Bool(true)},
		}})
	}},
	{name: "query", want: []string{"user#4 Query 1 0 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.Query(ctx, &dynamodb.QueryInput{TableName: orders, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: attributes{":p": text("user#4")}})
	}},
	{name: "query of an index", want: []string{"open@by-status Query 1 0 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.Query(ctx, &dynamodb.QueryInput{
			TableName: orders, IndexName: aws.String("by-status"), KeyConditionExpression: aws.String("#s = :s"),
			ExpressionAttributeNames: map[string]string{"#s": "status"}, ExpressionAttributeValues: attributes{":s": text("open")},
		})
	}},
	{name: "scan", want: []string{" Scan 1 0 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.Scan(ctx, &dynamodb.ScanInput{TableName: orders})
	}},
	{name: "transaction", want: []string{"user#3 TransactWriteItems 0 2 1", "user#7 TransactWriteItems 0 4 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: orders, Item: order(7, 1500)}},
			{ConditionCheck: &types.ConditionCheck{TableName: orders, Key: orderKey(3), ConditionExpression: aws.String("attribute_exists(pk)")}},
		}})
	}},
	{name: "cancelled transaction", want: []string{"user#3 TransactWriteItems 0 1 1", "user#8 TransactWriteItems 0 1 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: orders, Item: order(8, 100)}},
			{ConditionCheck: &types.ConditionCheck{TableName: orders, Key: orderKey(3), ConditionExpression: aws.String("attribute_not_exists(pk)")}},
		}})
	}},
	{name: "transactional get", want: []string{"user#7 TransactGetItems 2 0 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: orders, Key: orderKey(7)}}}})
	}},
	{name: "PartiQL", want: []string{"user#3 ExecuteStatement 0.5 0 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: aws.String(`SELECT * FROM "orders" WHERE pk = ? AND sk = '1'`), Parameters: []types.AttributeValue{text("user#3")}})
	}},
	{name: "PartiQL batch", want: []string{"user#3 BatchExecuteStatement 0.5 0 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.BatchExecuteStatement(ctx, &dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{{Statement: aws.String(`SELECT * FROM "orders" WHERE pk = 'user#3' AND sk = '1'`)}}})
	}},
	{name: "PartiQL transaction", want: []string{"user#3 ExecuteTransaction 2 0 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.ExecuteTransaction(ctx, &dynamodb.ExecuteTransactionInput{TransactStatements: []types.ParameterizedStatement{{Statement: aws.String(`SELECT * FROM "orders" WHERE pk = 'user#3' AND sk = '1'`)}}})
	}},
	{name: "delete with old values", want: []string{"user#4 DeleteItem 0 5 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: orders, Key: orderKey(4), ReturnValues: types.ReturnValueAllOld})
	}},
	{name: "the caller's own capacity", want: []string{"user#9 PutItem 0 1 1"}, do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		it := orderKey(9)
		return c.PutItem(ctx, &dynamodb.PutItemInput{TableName: orders, Item: it, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
	}},
	{name: "no such table", do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("nowhere"), Key: orderKey(1)})
	}},
}

// outcome is all that a program gets, but the transport's metadata and the
// number that each request has.
func outcome(result any, err error) string {
	v := reflect.ValueOf(result)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v.Elem().FieldByName("ResultMetadata").SetZero()
	}
	body, fault := json.Marshal(result)
	message := ""
	if err != nil {
		before, after, found := strings.Cut(err.Error(), "RequestID: ")
		if message = before; found {
			_, rest, _ := strings.Cut(after, ",")
			message += rest
		}
	}
	return fmt.Sprintf("%s %v %T %s", body, fault, err, message)
}
