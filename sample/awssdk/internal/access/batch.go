package access

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

// The Throttle texts of unprocessed batch items. DynamoDB gives no reason for them, so the text
// is the field's name.
const (
	unprocessedKeys  = "UnprocessedKeys"
	unprocessedItems = "UnprocessedItems"
)

// readMany collects the accesses of operations on many items.
func (v *Reader) readMany(params, result any) {
	switch in := params.(type) {
	case *dynamodb.BatchGetItemInput:
		out, _ := result.(*dynamodb.BatchGetItemOutput)
		v.batchGet(in, out)
	case *dynamodb.BatchWriteItemInput:
		for table, writes := range in.RequestItems {
			for _, w := range writes {
				v.addWrite(v.batchWrite(table, w))
			}
		}
	case *dynamodb.TransactGetItemsInput:
		out, _ := result.(*dynamodb.TransactGetItemsOutput)
		v.transactGet(in, out)
	case *dynamodb.TransactWriteItemsInput:
		for _, it := range in.TransactItems {
			v.transactWrite(it)
		}
	case *dynamodb.ExecuteStatementInput:
		v.statement(in.Statement, in.Parameters, in.ConsistentRead, false)
	case *dynamodb.BatchExecuteStatementInput:
		for _, s := range in.Statements {
			v.statement(s.Statement, s.Parameters, s.ConsistentRead, false)
		}
	case *dynamodb.ExecuteTransactionInput:
		for _, s := range in.TransactStatements {
			v.statement(s.Statement, s.Parameters, nil, true)
		}
	}
}

func (v *Reader) batchGet(in *dynamodb.BatchGetItemInput, out *dynamodb.BatchGetItemOutput) {
	for table, keys := range in.RequestItems {
		var sizes map[[2]sample.Key]int64
		if out != nil && keys.ProjectionExpression == nil && keys.AttributesToGet == nil {
			sizes = v.sizes(table, keys.Keys, out.Responses[table])
		}
		for _, key := range keys.Keys {
			t := v.key(&table, key)
			t.Consistency = consistency(keys.ConsistentRead)
			t.Bytes = sizes[[2]sample.Key{t.PK, t.SK}]
			v.add(t)
		}
	}
}

// sizes returns the sizes of the returned items, by key. The request's keys show which
// attributes of an item are its key.
func (v *Reader) sizes(table string, keys, items []Item) map[[2]sample.Key]int64 {
	if len(keys) == 0 {
		return nil
	}
	sizes := make(map[[2]sample.Key]int64, len(items))
	for _, it := range items {
		key := make(Item, 2)
		for name := range keys[0] {
			key[name] = it[name]
		}
		t := v.key(&table, key)
		sizes[[2]sample.Key{t.PK, t.SK}] = itemSize(it)
	}
	return sizes
}

func (v *Reader) batchWrite(table string, w types.WriteRequest) Access {
	if w.PutRequest != nil {
		t := v.item(&table, w.PutRequest.Item)
		t.After = w.PutRequest.Item
		return t
	}
	if w.DeleteRequest != nil {
		return v.key(&table, w.DeleteRequest.Key)
	}
	return Access{Table: TableName(&table)}
}

// MarkUnprocessed marks a batch's unprocessed items as throttled. A key occurs only once in a
// batch.
func (v *Reader) MarkUnprocessed(params, result any) {
	switch out := result.(type) {
	case *dynamodb.BatchGetItemOutput:
		for table, keys := range out.UnprocessedKeys {
			for _, key := range keys.Keys {
				v.markThrottled(v.key(&table, key), unprocessedKeys)
			}
		}
	case *dynamodb.BatchWriteItemOutput:
		for table, writes := range out.UnprocessedItems {
			for _, w := range writes {
				v.markThrottled(v.batchWrite(table, w), unprocessedItems)
			}
		}
	case *dynamodb.BatchExecuteStatementOutput:
		v.failedStatements(out.Responses)
	}
}

func (v *Reader) markThrottled(undone Access, throttleReason string) {
	for i := range v.Accesses {
		t := &v.Accesses[i]
		if t.Table == undone.Table && t.PK == undone.PK && t.SK == undone.SK {
			t.Throttle = throttleReason
		}
	}
}

// failedStatements marks the failed statements of a batch. A statement that failed for another
// reason than a condition or throttling cost and requested nothing.
func (v *Reader) failedStatements(responses []types.BatchStatementResponse) {
	kept := v.Accesses[:0]
	for i := range v.Accesses {
		t := v.Accesses[i]
		if i < len(responses) && responses[i].Error != nil {
			code := string(responses[i].Error.Code)
			switch sample.ParseEnding(code) {
			case sample.EndedThrottled:
				t.Throttle = code
			case sample.EndedInConflict:
				t.Conflicts, t.Lost, t.Units = 1, true, 0
			case sample.EndedByCondition:
				t.ConditionsFailed, t.Lost = 1, true
			default:
				v.Failed++
				continue
			}
		}
		kept = append(kept, t)
	}
	v.Accesses = kept
}

func (v *Reader) transactGet(in *dynamodb.TransactGetItemsInput, out *dynamodb.TransactGetItemsOutput) {
	for i, it := range in.TransactItems {
		if it.Get == nil {
			continue
		}
		t := v.key(it.Get.TableName, it.Get.Key)
		t.Consistency = sample.Transactional
		if out != nil && it.Get.ProjectionExpression == nil && i < len(out.Responses) {
			t.Bytes = itemSize(out.Responses[i].Item)
		}
		v.add(t)
	}
}

// transactWrite adds one item. A condition check is charged like a write.
func (v *Reader) transactWrite(it types.TransactWriteItem) {
	var t Access
	switch {
	case it.Put != nil:
		t = v.item(it.Put.TableName, it.Put.Item)
		t.After = it.Put.Item
	case it.Update != nil:
		t = v.key(it.Update.TableName, it.Update.Key)
	case it.Delete != nil:
		t = v.key(it.Delete.TableName, it.Delete.Key)
	case it.ConditionCheck != nil:
		t = v.key(it.ConditionCheck.TableName, it.ConditionCheck.Key)
	}
	t.Transactional = true
	v.addWrite(t)
}
