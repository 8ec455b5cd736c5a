package awssdk

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

// Schemas knows the schemas of tables.
type Schemas interface {
	// Of returns the schema of a table, nil when it is not known.
	Of(table string) *sample.Schema
}

// view reads what a request touches from its typed input and output.
type view struct {
	schemas Schemas
	touches []touch
	// failed counts statements that failed and cost nothing, notReadable those
	// and the conditions from which no key could be read.
	failed, notReadable int64
}

// size returns about how many records a request will make, 0 when it is none of
// DynamoDB's data operations.
func size(params any) int {
	switch in := params.(type) {
	case *dynamodb.GetItemInput, *dynamodb.PutItemInput, *dynamodb.UpdateItemInput, *dynamodb.DeleteItemInput,
		*dynamodb.QueryInput, *dynamodb.ScanInput, *dynamodb.ExecuteStatementInput:
		return 1
	case *dynamodb.BatchGetItemInput:
		n := 1
		for _, keys := range in.RequestItems {
			n += len(keys.Keys)
		}
		return n
	case *dynamodb.BatchWriteItemInput:
		n := 1
		for _, writes := range in.RequestItems {
			n += len(writes)
		}
		return n
	case *dynamodb.TransactGetItemsInput:
		return 1 + len(in.TransactItems)
	case *dynamodb.TransactWriteItemsInput:
		return 1 + len(in.TransactItems)
	case *dynamodb.BatchExecuteStatementInput:
		return 1 + len(in.Statements)
	case *dynamodb.ExecuteTransactionInput:
		return 1 + len(in.TransactStatements)
	}
	return 0
}

// read gathers the touches; result is nil or of no use after an error.
func (v *view) read(params, result any) {
	switch in := params.(type) {
	case *dynamodb.GetItemInput:
		out, _ := result.(*dynamodb.GetItemOutput)
		v.get(in, out)
	case *dynamodb.PutItemInput:
		t := v.item(in.TableName, in.Item)
		t.after = in.Item
		if out, _ := result.(*dynamodb.PutItemOutput); out != nil {
			t.before = out.Attributes
		}
		v.write(t)
	case *dynamodb.UpdateItemInput:
		out, _ := result.(*dynamodb.UpdateItemOutput)
		v.update(in, out)
	case *dynamodb.DeleteItemInput:
		t := v.key(in.TableName, in.Key)
		if out, _ := result.(*dynamodb.DeleteItemOutput); out != nil {
			t.before = out.Attributes
		}
		v.write(t)
	case *dynamodb.QueryInput:
		out, _ := result.(*dynamodb.QueryOutput)
		v.query(in, out)
	case *dynamodb.ScanInput:
		out, _ := result.(*dynamodb.ScanOutput)
		v.scan(in, out)
	default:
		v.readMany(params, result)
	}
}

func (v *view) get(in *dynamodb.GetItemInput, out *dynamodb.GetItemOutput) {
	t := v.key(in.TableName, in.Key)
	t.consistency = consistency(in.ConsistentRead)
	if out != nil && in.ProjectionExpression == nil && in.AttributesToGet == nil {
		t.bytes = itemSize(out.Item)
	}
	t.estimate()
	v.touches = append(v.touches, t)
}

func (v *view) update(in *dynamodb.UpdateItemInput, out *dynamodb.UpdateItemOutput) {
	t := v.key(in.TableName, in.Key)
	if out != nil {
		switch in.ReturnValues {
		case types.ReturnValueAllNew:
			t.after = out.Attributes
		case types.ReturnValueAllOld:
			t.before = out.Attributes
		}
	}
	v.write(t)
}

func (v *view) scan(in *dynamodb.ScanInput, out *dynamodb.ScanOutput) {
	t := touch{table: tableName(in.TableName), consistency: consistency(in.ConsistentRead)}
	t.index = v.readIndex(t.table, in.IndexName)
	if out != nil && in.ProjectionExpression == nil {
		t.bytes = itemsSize(out.Items)
	}
	t.estimate()
	v.touches = append(v.touches, t)
}

// write adds a touch that writes.
func (v *view) write(t touch) {
	t.write = true
	t.estimate()
	v.touches = append(v.touches, t)
}

// key returns a touch of an item by its key attributes alone. Of a table without
// sort key they name themselves.
func (v *view) key(table *string, key item) touch {
	t := v.item(table, key)
	if t.pk.IsZero() && len(key) == 1 {
		for _, value := range key {
			t.pk, _ = attributeKey(value)
		}
	}
	return t
}

// item returns a touch of an item whose key attributes only the schema can tell.
func (v *view) item(table *string, it item) touch {
	t := touch{table: tableName(table)}
	if schema := v.schemas.Of(t.table); schema != nil {
		t.pk, _ = keyOf(it, schema.PartitionKey)
		t.sk, _ = keyOf(it, schema.SortKey)
	}
	return t
}

// readIndex returns the index that a read is charged to: none for a local one.
func (v *view) readIndex(table string, name *string) string {
	index := aws.ToString(name)
	if schema := v.schemas.Of(table); index != "" && schema != nil && schema.Indexes[index].Local {
		return ""
	}
	return index
}

func consistency(strong *bool) sample.Consistency {
	if aws.ToBool(strong) {
		return sample.Strong
	}
	return sample.Eventual
}

func itemsSize(items []item) (size int64) {
	for _, it := range items {
		size += itemSize(it)
	}
	return size
}

// tableName returns the bare name of a table that may be given by its ARN.
func tableName(name *string) string {
	text := aws.ToString(name)
	if !strings.HasPrefix(text, "arn:") {
		return text
	}
	_, text, _ = strings.Cut(text, ":table/")
	text, _, _ = strings.Cut(text, "/")
	return text
}

// isThrottle knows the codes of refusals for capacity, as they come in errors
// of items, statements and cancelled transactions.
func isThrottle(code string) bool {
	switch strings.TrimSuffix(code, "Exception") {
	case "ThrottlingError", "Throttling", "ProvisionedThroughputExceeded", "RequestLimitExceeded":
		return true
	}
	return false
}
