// Package access finds the keys that a DynamoDB request reads or writes, in its typed input and
// output, and their minimum cost.
package access

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

// Schemas finds the schemas of tables.
type Schemas interface {
	// Schema returns the schema of a table, or nil if it is unknown.
	Schema(table string) *sample.Schema
}

// Reader reads the accesses of a request from its typed input and output.
type Reader struct {
	Schemas  Schemas
	Accesses []Access
	// Failed counts failed statements without cost. NotReadable counts statements and
	// conditions without a readable key.
	Failed, NotReadable int64
}

// Count returns the approximate number of records that a request will make, or 0 if it is not a
// data operation of DynamoDB.
func Count(params any) int {
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

// Read collects the accesses. result is nil or unusable after an error.
func (v *Reader) Read(params, result any) {
	switch in := params.(type) {
	case *dynamodb.GetItemInput:
		out, _ := result.(*dynamodb.GetItemOutput)
		v.get(in, out)
	case *dynamodb.PutItemInput:
		t := v.item(in.TableName, in.Item)
		t.After = in.Item
		if out, _ := result.(*dynamodb.PutItemOutput); out != nil {
			t.Before = out.Attributes
		}
		v.addWrite(t)
	case *dynamodb.UpdateItemInput:
		out, _ := result.(*dynamodb.UpdateItemOutput)
		v.update(in, out)
	case *dynamodb.DeleteItemInput:
		t := v.key(in.TableName, in.Key)
		if out, _ := result.(*dynamodb.DeleteItemOutput); out != nil {
			t.Before = out.Attributes
		}
		v.addWrite(t)
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

func (v *Reader) get(in *dynamodb.GetItemInput, out *dynamodb.GetItemOutput) {
	t := v.key(in.TableName, in.Key)
	t.Consistency = consistency(in.ConsistentRead)
	if out != nil && in.ProjectionExpression == nil && in.AttributesToGet == nil {
		t.Bytes = itemSize(out.Item)
	}
	v.add(t)
}

func (v *Reader) update(in *dynamodb.UpdateItemInput, out *dynamodb.UpdateItemOutput) {
	t := v.key(in.TableName, in.Key)
	if out != nil {
		switch in.ReturnValues {
		case types.ReturnValueAllNew:
			t.After = out.Attributes
		case types.ReturnValueAllOld:
			t.Before = out.Attributes
		}
	}
	v.addWrite(t)
}

func (v *Reader) scan(in *dynamodb.ScanInput, out *dynamodb.ScanOutput) {
	t := Access{Table: TableName(in.TableName), Consistency: consistency(in.ConsistentRead)}
	t.Index = v.readIndex(t.Table, in.IndexName)
	if out != nil && in.ProjectionExpression == nil {
		t.Bytes = itemsSize(out.Items)
	}
	v.add(t)
}

// add adds an access with its price.
func (v *Reader) add(t Access) {
	t.Estimate()
	v.Accesses = append(v.Accesses, t)
}

// addWrite adds a write access with its price.
func (v *Reader) addWrite(t Access) {
	t.Write = true
	v.add(t)
}

// key returns an access of an item by its key attributes alone. For a table without sort key,
// the request itself names them.
func (v *Reader) key(table *string, key Item) Access {
	t := v.item(table, key)
	if t.PK.IsZero() && len(key) == 1 {
		for _, value := range key {
			t.PK, _ = attributeKey(value)
		}
	}
	return t
}

// item returns an access of a whole item, whose key attributes only the schema names.
func (v *Reader) item(table *string, it Item) Access {
	t := Access{Table: TableName(table)}
	if schema := v.Schemas.Schema(t.Table); schema != nil {
		t.PK, _ = KeyOf(it, schema.PartitionKey)
		t.SK, _ = KeyOf(it, schema.SortKey)
	}
	return t
}

// readIndex returns the index that is charged for a read: empty for a local index.
func (v *Reader) readIndex(table string, name *string) string {
	index := aws.ToString(name)
	if schema := v.Schemas.Schema(table); index != "" && schema != nil && schema.Indexes[index].Local {
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

func itemsSize(items []Item) (size int64) {
	for _, it := range items {
		size += itemSize(it)
	}
	return size
}

// TableName returns the name of a table from a name or an ARN.
func TableName(name *string) string {
	text := aws.ToString(name)
	if !strings.HasPrefix(text, "arn:") {
		return text
	}
	_, text, _ = strings.Cut(text, ":table/")
	text, _, _ = strings.Cut(text, "/")
	return text
}

// IsThrottle reports whether an error code of an item, statement or cancelled transaction means
// throttling.
func IsThrottle(code string) bool { return sample.ParseEnding(code) == sample.EndedThrottled }
