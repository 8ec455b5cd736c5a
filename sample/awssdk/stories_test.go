package awssdk_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
)

// orders is the schema of every story: a sort key, a global and a local index.
var orders = sample.Schemas{"orders": {
	KeySchema: sample.Keys("pk", "sk"),
	Indexes: map[string]sample.IndexSchema{
		"by-status": {KeySchema: sample.Keys("status")},
		"by-date":   {KeySchema: sample.KeySchema{SortKey: []string{"date"}}, Local: true},
	},
}}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

// row returns an item with the key user#N / 7 and further attributes.
func row(n string, more ...string) map[string]types.AttributeValue {
	it := map[string]types.AttributeValue{"pk": text("user#" + n), "sk": number("7.0")}
	for i := 0; i+1 < len(more); i += 2 {
		it[more[i]] = text(more[i+1])
	}
	return it
}

var table = aws.String("orders")

func throttle(class, reason, resource string) response {
	return response{status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#` + class + `","message":"slow down","ThrottlingReasons":[{"reason":"` + reason + `","resource":"` + resource + `"}],"throttlingReasons":[{"reason":"` + reason + `","resource":"` + resource + `"}]}`}
}

const arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"

func put(more ...string) call {
	return func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: row("1", more...)})
	}
}

func update(ctx context.Context, c *dynamodb.Client) (any, error) {
	return c.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: row("1")})
}

func query(index, condition string) call {
	return func(ctx context.Context, c *dynamodb.Client) (any, error) {
		in := &dynamodb.QueryInput{
			TableName: table, KeyConditionExpression: &condition,
			ExpressionAttributeNames:  map[string]string{"#p": "pk", "#s": "status"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":p": text("user#1"), ":s": text("open"), ":n": number("7")},
		}
		if index != "" {
			in.IndexName = &index
		}
		return c.Query(ctx, in)
	}
}

func batchWrite(ctx context.Context, c *dynamodb.Client) (any, error) {
	return c.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"orders": {
		{PutRequest: &types.PutRequest{Item: row("1", "a", strings.Repeat("x", 480))}},
		{PutRequest: &types.PutRequest{Item: row("2", "a", strings.Repeat("x", 3500))}},
		{DeleteRequest: &types.DeleteRequest{Key: row("3")}},
	}}})
}

func batchGet(ctx context.Context, c *dynamodb.Client) (any, error) {
	return c.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"orders": {
		ConsistentRead: aws.Bool(true), Keys: []map[string]types.AttributeValue{row("1"), row("2")},
	}}})
}

func transactWrite(ctx context.Context, c *dynamodb.Client) (any, error) {
	return c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		ClientRequestToken: aws.String("token"),
		TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: table, Item: row("1", "a", strings.Repeat("x", 1500))}},
			{ConditionCheck: &types.ConditionCheck{TableName: table, Key: row("2"), ConditionExpression: aws.String("attribute_exists(pk)")}},
		},
	})
}

// transactRetried retries what the SDK does not.
func transactRetried(ctx context.Context, c *dynamodb.Client) (any, error) {
	return c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String("token"), TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: table, Item: row("1", "a", strings.Repeat("x", 1500))}}, {Delete: &types.Delete{TableName: table, Key: row("2")}},
	}}, func(o *dynamodb.Options) {
		o.Retryer = retry.AddWithErrorCodes(o.Retryer, "TransactionCanceledException")
	})
}

func transactGet(ctx context.Context, c *dynamodb.Client) (any, error) {
	return c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{
		TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: table, Key: row("1")}}},
	})
}

func transactGetTwo(ctx context.Context, c *dynamodb.Client) (any, error) {
	return c.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
		{Get: &types.Get{TableName: table, Key: row("1")}}, {Get: &types.Get{TableName: table, Key: row("2")}},
	}})
}

func transactStatements(ctx context.Context, c *dynamodb.Client) (any, error) {
	in := &dynamodb.ExecuteTransactionInput{}
	for _, pk := range []string{"user#1", "user#2"} {
		in.TransactStatements = append(in.TransactStatements, types.ParameterizedStatement{Statement: aws.String(`DELETE FROM orders WHERE pk = '` + pk + `' AND sk = 7`)})
	}
	return c.ExecuteTransaction(ctx, in)
}

// transactTables writes to two tables. The key of carts is in the request alone.
func transactTables(ctx context.Context, c *dynamodb.Client) (any, error) {
	return c.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: table, Item: row("1", "status", "open")}},
		{Delete: &types.Delete{TableName: aws.String("carts"), Key: map[string]types.AttributeValue{"id": text("user#1")}}},
	}})
}

// cancelled is the answer to a transaction with the reason of each item.
func cancelled(codes ...string) response {
	reasons := make([]string, len(codes))
	for i, code := range codes {
		reasons[i] = `{"Code":"` + code + `"}`
	}
	return response{status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled","CancellationReasons":[` + strings.Join(reasons, ",") + `]}`}
}

// failed checks the count of requests and items that ended in an error at no known cost.
func failed(n int64) func(*testing.T, awssdk.Stats) {
	return func(t *testing.T, s awssdk.Stats) {
		if s.Failed != n {
			t.Errorf("%d failed, want %d", s.Failed, n)
		}
	}
}

func statement(text string, parameters ...types.AttributeValue) call {
	return func(ctx context.Context, c *dynamodb.Client) (any, error) {
		return c.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{Statement: &text, Parameters: parameters})
	}
}

// one is a report of one unit.
const one = `{"TableName":"orders","CapacityUnits":1,"Table":{"CapacityUnits":1}}`

func batchStatements(ctx context.Context, c *dynamodb.Client) (any, error) {
	in := &dynamodb.BatchExecuteStatementInput{}
	for _, pk := range []string{"user#1", "user#2", "user#3", "user#3"} {
		in.Statements = append(in.Statements, types.BatchStatementRequest{
			Statement: aws.String(`DELETE FROM orders WHERE pk = '` + pk + `' AND sk = 7`),
		})
	}
	return c.BatchExecuteStatement(ctx, in)
}

// The keys as the records show them.
const (
	k1 = `"table":"orders","pk":"user#1","sk":{"N":"7"}`
	k2 = `"table":"orders","pk":"user#2","sk":{"N":"7"}`
	k3 = `"table":"orders","pk":"user#3","sk":{"N":"7"}`
)

type story struct {
	name      string
	do        call
	responses []response
	options   awssdk.Options
	want      []string
	check     func(*testing.T, awssdk.Stats)
}

var ask = awssdk.Options{AskCapacity: true}

var stories = []story{
	{
		name: "a get of 3.5 KB costs half a unit, estimated",
		do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: row("1")})
		},
		responses: []response{{body: `{"Item":{"pk":{"S":"user#1"},"sk":{"N":"7"},"a":{"S":"` + strings.Repeat("x", 3500) + `"}}}`}},
		want:      []string{`{` + k1 + `,"op":"GetItem","rcu":0.5} estimated`},
	},
	{
		name: "a strong get of 10 KB costs three",
		do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: row("1"), ConsistentRead: aws.Bool(true)})
		},
		responses: []response{{body: `{"Item":{"pk":{"S":"user#1"},"a":{"S":"` + strings.Repeat("x", 10_000) + `"}}}`}},
		want:      []string{`{` + k1 + `,"op":"GetItem","rcu":3,"read":"strong"} estimated`},
	},
	{
		name: "a put is priced by its item", do: put("a", strings.Repeat("x", 1100)), responses: []response{{body: `{}`}},
		want: []string{`{` + k1 + `,"op":"PutItem","wcu":2} estimated`},
	},
	{
		name: "the reported units win, an index gets its own on its own key", do: put("status", "open"), options: ask,
		responses: []response{{body: `{"ConsumedCapacity":{"TableName":"orders","CapacityUnits":6,"Table":{"CapacityUnits":2},"LocalSecondaryIndexes":{"by-date":{"CapacityUnits":1}},"GlobalSecondaryIndexes":{"by-status":{"CapacityUnits":3}}}}`}},
		want:      []string{`{"table":"orders","index":"by-status","pk":"open","op":"PutItem","wcu":3}`, `{` + k1 + `,"op":"PutItem","wcu":3}`},
	},
	{
		name: "an index entry that moved is a delete on the old key and a put on the new one",
		do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: row("1", "status", "open"), ReturnValues: types.ReturnValueAllOld, ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes})
		},
		responses: []response{{body: `{"Attributes":{"pk":{"S":"user#1"},"status":{"S":"new"}},"ConsumedCapacity":{"TableName":"orders","CapacityUnits":3,"Table":{"CapacityUnits":1},"GlobalSecondaryIndexes":{"by-status":{"CapacityUnits":2}}}}`}},
		want: []string{
			`{"table":"orders","index":"by-status","pk":"new","op":"PutItem","wcu":1}`,
			`{"table":"orders","index":"by-status","pk":"open","op":"PutItem","wcu":1}`,
			`{` + k1 + `,"op":"PutItem","wcu":1}`,
		},
	},
	{
		name: "the index key of an update that shows nothing is counted as unknown", do: update, options: ask,
		responses: []response{{body: `{"ConsumedCapacity":{"TableName":"orders","CapacityUnits":2,"Table":{"CapacityUnits":1},"GlobalSecondaryIndexes":{"by-status":{"CapacityUnits":1}}}}`}},
		want:      []string{`{` + k1 + `,"op":"UpdateItem","wcu":1}`},
		check: func(t *testing.T, s awssdk.Stats) {
			if s.UnknownIndexKeys != 1 {
				t.Errorf("counted %+v", s)
			}
		},
	},
	{
		name: "a caller's own TOTAL is used; with a global index it may hold more",
		do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: row("1"), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
		},
		responses: []response{{body: `{"ConsumedCapacity":{"TableName":"orders","CapacityUnits":4}}`}}, options: ask,
		want: []string{`{` + k1 + `,"op":"DeleteItem","wcu":4} estimated`},
	},
	{
		name: "a query by its names", do: query("", "#p = :p AND sk >= :n"), options: ask,
		responses: []response{{body: `{"Count":0,"ScannedCount":0,"Items":[],"ConsumedCapacity":{"TableName":"orders","CapacityUnits":5.5,"Table":{"CapacityUnits":5.5}}}`}},
		want:      []string{`{"table":"orders","pk":"user#1","op":"Query","rcu":5.5}`},
	},
	{
		name: "a query with both keys", do: query("", "(sk=:n) AND (#p=:p)"), responses: []response{{body: `{"Items":[]}`}},
		want: []string{`{` + k1 + `,"op":"Query","rcu":0.5} estimated`},
	},
	{
		name: "a query of a global index", do: query("by-status", "#s = :s"), options: ask,
		responses: []response{{body: `{"Items":[],"ConsumedCapacity":{"TableName":"orders","CapacityUnits":7,"Table":{"CapacityUnits":0},"GlobalSecondaryIndexes":{"by-status":{"CapacityUnits":7}}}}`}},
		want:      []string{`{"table":"orders","index":"by-status","pk":"open","op":"Query","rcu":7}`},
	},
	{
		name: "a query of a local index is the table's", do: query("by-date", "pk = :p"), options: ask,
		responses: []response{{body: `{"Items":[],"ConsumedCapacity":{"TableName":"orders","CapacityUnits":2,"Table":{"CapacityUnits":0.5},"LocalSecondaryIndexes":{"by-date":{"CapacityUnits":1.5}}}}`}},
		want:      []string{`{"table":"orders","pk":"user#1","op":"Query","rcu":2}`},
	},
	{
		name: "a scan has no key",
		do: func(ctx context.Context, c *dynamodb.Client) (any, error) {
			return c.Scan(ctx, &dynamodb.ScanInput{TableName: table})
		},
		responses: []response{{body: `{"Items":[],"ConsumedCapacity":{"TableName":"orders","CapacityUnits":128.5,"Table":{"CapacityUnits":128.5}}}`}}, options: ask,
		want: []string{`{"table":"orders","op":"Scan","rcu":128.5}`},
	},
	{
		name: "each item of a batch is rounded by itself", do: batchWrite, responses: []response{{body: `{"UnprocessedItems":{}}`}},
		want: []string{`{` + k1 + `,"op":"BatchWriteItem","wcu":1} estimated`, `{` + k2 + `,"op":"BatchWriteItem","wcu":4} estimated`, `{` + k3 + `,"op":"BatchWriteItem","wcu":1} estimated`},
	},
	{
		name: "what a batch reports is split over what it did; the rest is throttled demand", do: batchWrite, options: ask,
		responses: []response{{body: `{"UnprocessedItems":{"orders":[{"DeleteRequest":{"Key":{"pk":{"S":"user#3"},"sk":{"N":"7"}}}}]},"ConsumedCapacity":[{"TableName":"orders","CapacityUnits":5,"Table":{"CapacityUnits":5}}]}`}},
		want:      []string{`{` + k1 + `,"op":"BatchWriteItem","wcu":1}`, `{` + k2 + `,"op":"BatchWriteItem","wcu":4}`, `{` + k3 + `,"op":"BatchWriteItem","wcu":1,"throttle":"UnprocessedItems"} estimated`},
	},
	{
		name: "a batch get, 1.5 and 6.5 KB strong", do: batchGet, options: ask,
		responses: []response{{body: `{"Responses":{"orders":[{"pk":{"S":"user#2"},"sk":{"N":"7"},"a":{"S":"` + strings.Repeat("x", 6500) + `"}},{"pk":{"S":"user#1"},"sk":{"N":"7"},"a":{"S":"` + strings.Repeat("x", 1500) + `"}}]},"UnprocessedKeys":{},"ConsumedCapacity":[{"TableName":"orders","CapacityUnits":3,"Table":{"CapacityUnits":3}}]}`}},
		want:      []string{`{` + k1 + `,"op":"BatchGetItem","rcu":1,"read":"strong"}`, `{` + k2 + `,"op":"BatchGetItem","rcu":2,"read":"strong"}`},
	},
	{
		name: "unprocessed keys", do: batchGet,
		responses: []response{{body: `{"Responses":{"orders":[]},"UnprocessedKeys":{"orders":{"Keys":[{"pk":{"S":"user#2"},"sk":{"N":"7"}}]}}}`}},
		want:      []string{`{` + k1 + `,"op":"BatchGetItem","rcu":1,"read":"strong"} estimated`, `{` + k2 + `,"op":"BatchGetItem","rcu":1,"read":"strong","throttle":"UnprocessedKeys"} estimated`},
	},
	{
		name: "a transaction costs double", do: transactWrite, responses: []response{{body: `{}`}},
		want: []string{`{` + k1 + `,"op":"TransactWriteItems","wcu":4} estimated`, `{` + k2 + `,"op":"TransactWriteItems","wcu":2} estimated`},
	},
	{
		name: "a read in a transaction", do: transactGet, options: ask,
		responses: []response{{body: `{"Responses":[{"Item":{"pk":{"S":"user#1"}}}],"ConsumedCapacity":[{"TableName":"orders","CapacityUnits":2,"ReadCapacityUnits":2,"Table":{"CapacityUnits":2,"ReadCapacityUnits":2}}]}`}},
		want:      []string{`{` + k1 + `,"op":"TransactGetItems","rcu":2,"read":"transactional"}`},
	},
	{
		name: "a cancelled transaction: one item throttled, one condition failed", do: transactWrite,
		responses: []response{{status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled","CancellationReasons":[{"Code":"ThrottlingError","Message":"throttled"},{"Code":"ConditionalCheckFailed","Message":"no"}]}`}},
		want:      []string{`{` + k1 + `,"op":"TransactWriteItems","wcu":4,"throttle":"ThrottlingError","attempts":1,"failed":true} estimated`, `{` + k2 + `,"op":"TransactWriteItems","wcu":1,"condition_failed":1} estimated`},
	},
	{
		name: "a cancelled transaction: the item without an error was prepared and never committed", do: transactWrite, responses: []response{cancelled("None", "ProvisionedThroughputExceeded")},
		want: []string{`{` + k1 + `,"op":"TransactWriteItems","wcu":2} estimated`, `{` + k2 + `,"op":"TransactWriteItems","wcu":2,"throttle":"ProvisionedThroughputExceeded","attempts":1,"failed":true} estimated`},
	},
	{
		name: "a cancelled transaction: a conflict is no throttle, and its cost is unknown", do: transactWrite, responses: []response{cancelled("TransactionConflict", "None")},
		want: []string{`{` + k1 + `,"op":"TransactWriteItems","wcu":0,"conflict":1} estimated`, `{` + k2 + `,"op":"TransactWriteItems","wcu":1} estimated`}, check: failed(0),
	},
	{
		name: "a cancelled transaction: an invalid item costs nothing that is known", do: transactWrite, responses: []response{cancelled("ItemCollectionSizeLimitExceeded", "ValidationError")},
		want: []string{}, check: failed(2),
	},
	{
		name: "a cancelled transaction without reasons", do: transactWrite, responses: []response{cancelled()}, want: []string{}, check: failed(2),
	},
	{
		name: "a cancelled transaction: the item that failed a condition is larger than the new one", do: transactWrite,
		responses: []response{{status: 400, body: `{"__type":"TransactionCanceledException","CancellationReasons":[{"Code":"ConditionalCheckFailed","Item":{"pk":{"S":"user#1"},"sk":{"N":"7"},"a":{"S":"` + strings.Repeat("x", 4000) + `"}}},{"Code":"None"}]}`}},
		want:      []string{`{` + k1 + `,"op":"TransactWriteItems","wcu":4,"condition_failed":1} estimated`, `{` + k2 + `,"op":"TransactWriteItems","wcu":1} estimated`},
	},
	{
		name: "a cancelled transaction of reads: throttled", do: transactGet, responses: []response{cancelled("ThrottlingError")},
		want: []string{`{` + k1 + `,"op":"TransactGetItems","rcu":2,"read":"transactional","throttle":"ThrottlingError","attempts":1,"failed":true} estimated`},
	},
	{
		name: "a cancelled transaction of reads: a conflict with a write", do: transactGet, responses: []response{cancelled("TransactionConflict")},
		want: []string{`{` + k1 + `,"op":"TransactGetItems","rcu":0,"read":"transactional","conflict":1} estimated`}, check: failed(0),
	},
	{
		name: "a cancelled transaction of reads: prepared beside a conflict", do: transactGetTwo, responses: []response{cancelled("None", "TransactionConflict")},
		want: []string{`{` + k1 + `,"op":"TransactGetItems","rcu":1,"read":"transactional"} estimated`, `{` + k2 + `,"op":"TransactGetItems","rcu":0,"read":"transactional","conflict":1} estimated`}, check: failed(0),
	},
	{
		name: "a cancelled transaction of statements: one in conflict, one throttled", do: transactStatements, responses: []response{cancelled("TransactionConflict", "ThrottlingError")},
		want: []string{`{` + k2 + `,"op":"ExecuteTransaction","wcu":2,"throttle":"ThrottlingError","attempts":1,"failed":true} estimated`, `{` + k1 + `,"op":"ExecuteTransaction","wcu":0,"conflict":1} estimated`}, check: failed(0),
	},
	{
		name: "a write in conflict with a transaction is no throttle", do: put("a", "x"),
		responses: []response{{status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionConflictException","message":"Transaction is ongoing for the item"}`}},
		want:      []string{`{` + k1 + `,"op":"PutItem","wcu":0,"conflict":1} estimated`}, check: failed(0),
	},
	{
		name: "a transaction that is lost to others again and again, until its program gives up", do: transactRetried,
		responses: []response{cancelled("TransactionConflict", "None"), cancelled("ConditionalCheckFailed", "None"), cancelled("TransactionConflict", "None")},
		want:      []string{`{` + k1 + `,"op":"TransactWriteItems","wcu":0,"attempts":3,"failed":true,"conflict":2,"condition_failed":1} estimated`, `{` + k2 + `,"op":"TransactWriteItems","wcu":1,"attempts":3} estimated`},
	},
	{
		name: "a transaction that one table refused: the other table refused nothing", do: transactTables,
		responses: []response{throttle("ThrottlingException", "IndexWriteKeyRangeThroughputExceeded", arn+"/index/by-status")},
		want: []string{
			`{"table":"orders","index":"by-status","pk":"open","op":"TransactWriteItems","wcu":0,"throttle":"IndexWriteKeyRangeThroughputExceeded","n":2}`,
			`{"table":"orders","index":"by-status","pk":"open","op":"TransactWriteItems","wcu":2,"throttle":"IndexWriteKeyRangeThroughputExceeded","attempts":3,"failed":true} estimated`,
			`{` + k1 + `,"op":"TransactWriteItems","wcu":0,"throttle":"IndexWriteKeyRangeThroughputExceeded","n":2}`,
			`{` + k1 + `,"op":"TransactWriteItems","wcu":2,"throttle":"IndexWriteKeyRangeThroughputExceeded","attempts":3,"failed":true} estimated`,
		},
		check: failed(1),
	},
	{
		name: "a transaction that DynamoDB refused without a resource", do: transactTables, responses: []response{throttle("ThrottlingException", "", "")},
		want: []string{
			`{"table":"carts","pk":"user#1","op":"TransactWriteItems","wcu":0,"throttle":"ThrottlingException","n":2}`,
			`{"table":"carts","pk":"user#1","op":"TransactWriteItems","wcu":2,"throttle":"ThrottlingException","attempts":3,"failed":true} estimated`,
			`{` + k1 + `,"op":"TransactWriteItems","wcu":0,"throttle":"ThrottlingException","n":2}`,
			`{` + k1 + `,"op":"TransactWriteItems","wcu":2,"throttle":"ThrottlingException","attempts":3,"failed":true} estimated`,
		},
	},
	{
		name: "a cancelled transaction that its caller retries: each attempt's throttled item is one, and demand once", do: transactRetried,
		responses: []response{cancelled("ThrottlingError", "None"), cancelled("TransactionConflict", "None"), {body: `{}`}},
		want: []string{
			`{` + k1 + `,"op":"TransactWriteItems","wcu":0,"throttle":"ThrottlingError"}`,
			`{` + k1 + `,"op":"TransactWriteItems","wcu":4,"attempts":3,"conflict":1} estimated`, `{` + k2 + `,"op":"TransactWriteItems","wcu":2,"attempts":3} estimated`,
		},
		check: func(t *testing.T, s awssdk.Stats) {
			if s.ThrottledAttempts != 1 || s.Failed != 0 {
				t.Errorf("counted %+v", s)
			}
		},
	},
	{
		name: "a failed condition behind a throttled attempt", do: put("a", "x"),
		responses: []response{
			throttle("ProvisionedThroughputExceededException", "TableWriteKeyRangeThroughputExceeded", arn),
			{status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no"}`},
		},
		want: []string{`{` + k1 + `,"op":"PutItem","wcu":0,"throttle":"TableWriteKeyRangeThroughputExceeded"}`, `{` + k1 + `,"op":"PutItem","wcu":1,"attempts":2,"condition_failed":1} estimated`},
	},
	{
		name: "a failed condition has consumed", do: put("a", strings.Repeat("x", 1100)),
		responses: []response{{status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no"}`}},
		want:      []string{`{` + k1 + `,"op":"PutItem","wcu":2,"condition_failed":1} estimated`},
	},
	{
		name: "a request that got through at the third attempt is one of demand", do: update,
		responses: []response{
			throttle("ProvisionedThroughputExceededException", "TableWriteKeyRangeThroughputExceeded", arn),
			throttle("ThrottlingException", "TableWriteKeyRangeThroughputExceeded", arn), {body: `{}`},
		},
		want: []string{`{` + k1 + `,"op":"UpdateItem","wcu":0,"throttle":"TableWriteKeyRangeThroughputExceeded","n":2}`, `{` + k1 + `,"op":"UpdateItem","wcu":1,"attempts":3} estimated`},
		check: func(t *testing.T, s awssdk.Stats) {
			if s.ThrottledAttempts != 2 {
				t.Errorf("counted %+v", s)
			}
		},
	},
	{
		name: "a request that never got through is one of demand, throttled", do: update,
		responses: []response{throttle("ProvisionedThroughputExceededException", "TableWriteProvisionedThroughputExceeded", arn)},
		want: []string{
			`{` + k1 + `,"op":"UpdateItem","wcu":0,"throttle":"TableWriteProvisionedThroughputExceeded","n":2}`,
			`{` + k1 + `,"op":"UpdateItem","wcu":1,"throttle":"TableWriteProvisionedThroughputExceeded","attempts":3,"failed":true} estimated`,
		},
	},
	{
		name: "what an index is short of is on the index key, also where the write got through", do: put("status", "open"),
		responses: []response{throttle("ProvisionedThroughputExceededException", "IndexWriteProvisionedThroughputExceeded", arn+"/index/by-status"), {body: `{}`}},
		want: []string{
			`{"table":"orders","index":"by-status","pk":"open","op":"PutItem","wcu":0,"throttle":"IndexWriteProvisionedThroughputExceeded"}`,
			`{` + k1 + `,"op":"PutItem","wcu":0,"throttle":"IndexWriteProvisionedThroughputExceeded"}`,
			`{` + k1 + `,"op":"PutItem","wcu":1,"attempts":2} estimated`,
		},
	},
	{
		name: "what an index refuses is demand on the index key", do: put("status", "open"),
		responses: []response{throttle("ProvisionedThroughputExceededException", "IndexWriteKeyRangeThroughputExceeded", arn+"/index/by-status")},
		want: []string{
			`{"table":"orders","index":"by-status","pk":"open","op":"PutItem","wcu":0,"throttle":"IndexWriteKeyRangeThroughputExceeded","n":2}`,
			`{"table":"orders","index":"by-status","pk":"open","op":"PutItem","wcu":1,"throttle":"IndexWriteKeyRangeThroughputExceeded","attempts":3,"failed":true} estimated`,
			`{` + k1 + `,"op":"PutItem","wcu":0,"throttle":"IndexWriteKeyRangeThroughputExceeded","n":2}`,
			`{` + k1 + `,"op":"PutItem","wcu":1,"throttle":"IndexWriteKeyRangeThroughputExceeded","attempts":3,"failed":true} estimated`,
		},
	},
	{
		name: "another error is counted and nothing else", do: update,
		responses: []response{{status: 400, body: `{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"no table"}`}},
		want:      []string{},
		check: func(t *testing.T, s awssdk.Stats) {
			if s.Failed != 1 {
				t.Errorf("counted %+v", s)
			}
		},
	},
	{
		name: "PartiQL with parameters", do: statement(`UPDATE "orders" SET a = ? WHERE pk = ? AND sk = 7`, text("x"), text("user#1")), options: ask,
		responses: []response{{body: `{"Items":[],"ConsumedCapacity":{"TableName":"orders","CapacityUnits":1,"Table":{"CapacityUnits":1}}}`}},
		want:      []string{`{` + k1 + `,"op":"ExecuteStatement","wcu":1}`},
	},
	{
		name: "PartiQL that inserts, with a key of the same name deeper down", do: statement(`INSERT INTO orders VALUE {'pk': 'user#1', 'm': {'pk': 'other'}, 'sk': ?}`, number("7")),
		responses: []response{{body: `{"Items":[]}`}},
		want:      []string{`{` + k1 + `,"op":"ExecuteStatement","wcu":1} estimated`},
	},
	{
		name: "PartiQL that reads an index", do: statement(`SELECT * FROM "orders"."by-status" WHERE status = 'open'`),
		responses: []response{{body: `{"Items":[]}`}},
		want:      []string{`{"table":"orders","index":"by-status","pk":"open","op":"ExecuteStatement","rcu":0.5} estimated`},
	},
	{
		name: "a PartiQL batch: one throttled, one condition failed, one invalid, one done", do: batchStatements,
		responses: []response{{body: `{"Responses":[{"Error":{"Code":"ThrottlingError","Message":"slow"}},{"Error":{"Code":"ConditionalCheckFailed","Message":"no"}},{"Error":{"Code":"ValidationError","Message":"what"}},{"TableName":"orders"}]}`}},
		want: []string{
			`{` + k1 + `,"op":"BatchExecuteStatement","wcu":1,"throttle":"ThrottlingError"} estimated`,
			`{` + k2 + `,"op":"BatchExecuteStatement","wcu":1,"condition_failed":1} estimated`, `{` + k3 + `,"op":"BatchExecuteStatement","wcu":1} estimated`,
		},
		check: func(t *testing.T, s awssdk.Stats) {
			if s.Failed != 1 {
				t.Errorf("counted %+v", s)
			}
		},
	},
	{
		name: "a PartiQL batch with a report for each statement", do: batchStatements, options: ask,
		responses: []response{{body: `{"Responses":[{},{},{},{}],"ConsumedCapacity":[` + one + `,` + strings.Replace(one, "1", "2", 2) + `,` + one + `,` + one + `]}`}},
		want: []string{
			`{` + k1 + `,"op":"BatchExecuteStatement","wcu":1}`, `{` + k2 + `,"op":"BatchExecuteStatement","wcu":2}`,
			`{` + k3 + `,"op":"BatchExecuteStatement","wcu":1,"n":2}`,
		},
	},
	{
		name: "reports of one table that come apart are added before they are split", do: batchWrite, options: ask,
		responses: []response{{body: `{"UnprocessedItems":{},"ConsumedCapacity":[` + one + `,{"TableName":"orders","CapacityUnits":5,"Table":{"CapacityUnits":5}}]}`}},
		want:      []string{`{` + k1 + `,"op":"BatchWriteItem","wcu":1}`, `{` + k2 + `,"op":"BatchWriteItem","wcu":4}`, `{` + k3 + `,"op":"BatchWriteItem","wcu":1}`},
	},
	{
		name: "PartiQL whose key cannot be read is counted", do: statement(`SELECT * FROM orders WHERE pk = 'a' OR a = 'b'`),
		responses: []response{{body: `{"Items":[]}`}}, want: []string{},
		check: func(t *testing.T, s awssdk.Stats) {
			if s.NotReadable != 1 || s.UnknownKeys != 0 {
				t.Errorf("counted %+v", s)
			}
		},
	},
}

func TestStories(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.options.Tables = orders
			sink, stats, _ := run(t, s.do, s.responses, s.options)
			slices.Sort(s.want)
			if got := sink.lines(t); !slices.Equal(got, s.want) {
				t.Errorf("records\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(s.want, "\n"))
			}
			if s.check != nil {
				s.check(t, stats)
			}
			if stats.Panics != 0 || stats.Dropped != 0 || stats.Requests != 1 || stats.Sent != stats.Records {
				t.Errorf("counted %+v", stats)
			}
		})
	}
}
