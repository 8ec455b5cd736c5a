// Package access reads which keys a DynamoDB request reads or writes, from its
// typed input and output, and what that costs at the least.
package access

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

// Schemas knows the schemas of tables.
type Schemas interface {
	// Schema returns the schema of a table, nil when it is not known.
	Schema(table string) *sample.Schema
}

// Reader reads the accesses of a request from its typed input and output.
type Reader struct {
	Schemas  Schemas
	Accesses []Access
	// Failed counts statements that failed and cost nothing, NotReadable those
	// and the conditions from which no key could be read.
	Failed, NotReadable int64
}

// Count returns about how many records a request will make, 0 when it is none of
// DynamoDB's data operations.
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

// Read gathers the accesses; result is nil or of no use after an error.
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

// addWrite adds an access that writes.
func (v *Reader) addWrite(t Access) {
	t.Write = true
	v.add(t)
}

// key returns an access of an item by its key attributes alone. Of a table without
// sort key they name themselves.
func (v *Reader) key(table *string, key Item) Access {
	t := v.item(table, key)
	if t.PK.IsZero() && len(key) == 1 {
		for _, value := range key {
			t.PK, _ = attributeKey(value)
		}
	}
	return t
}

// item returns an access of an item whose key attributes only the schema names.
func (v *Reader) item(table *string, it Item) Access {
	t := Access{Table: TableName(table)}
	if schema := v.Schemas.Schema(t.Table); schema != nil {
		t.PK, _ = KeyOf(it, schema.PartitionKey)
		t.SK, _ = KeyOf(it, schema.SortKey)
	}
	return t
}

// readIndex returns the index that a read is charged to: none for a local one.
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

// TableName returns the bare name of a table that may be given by its ARN.
func TableName(name *string) string {
	text := aws.ToString(name)
	if !strings.HasPrefix(text, "arn:") {
		return text
	}
	_, text, _ = strings.Cut(text, ":table/")
	text, _, _ = strings.Cut(text, "/")
	return text
}

// IsThrottle reports whether a code is one of throttling, as they come in errors
// of items, statements and cancelled transactions.
func IsThrottle(code string) bool {
	switch strings.TrimSuffix(code, "Exception") {
	case "ThrottlingError", "Throttling", "ProvisionedThroughputExceeded", "RequestLimitExceeded":
		return true
	}
	return false
}
