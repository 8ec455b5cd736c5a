package awssdk

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

// The Throttle texts of what a batch left undone, for which DynamoDB gives no
// reason: the field's name.
const (
	unprocessedKeys  = "UnprocessedKeys"
	unprocessedItems = "UnprocessedItems"
)

// readMany gathers the touches of operations on many items.
func (v *view) readMany(params, result any) {
	switch in := params.(type) {
	case *dynamodb.BatchGetItemInput:
		out, _ := result.(*dynamodb.BatchGetItemOutput)
		v.batchGet(in, out)
	case *dynamodb.BatchWriteItemInput:
		for table, writes := range in.RequestItems {
			for _, w := range writes {
				v.write(v.batchWrite(table, w))
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

func (v *view) batchGet(in *dynamodb.BatchGetItemInput, out *dynamodb.BatchGetItemOutput) {
	for table, keys := range in.RequestItems {
		var sizes map[[2]sample.Key]int64
		if out != nil && keys.ProjectionExpression == nil && keys.AttributesToGet == nil {
			sizes = v.sizes(table, keys.Keys, out.Responses[table])
		}
		for _, key := range keys.Keys {
			t := v.key(&table, key)
			t.consistency = consistency(keys.ConsistentRead)
			t.bytes = sizes[[2]sample.Key{t.pk, t.sk}]
			t.estimate()
			v.touches = append(v.touches, t)
		}
	}
}

// sizes returns the sizes of the items that came back, by key. The request's keys
// tell which attributes of an item are its key.
func (v *view) sizes(table string, keys, items []item) map[[2]sample.Key]int64 {
	if len(keys) == 0 {
		return nil
	}
	sizes := make(map[[2]sample.Key]int64, len(items))
	for _, it := range items {
		key := make(item, 2)
		for name := range keys[0] {
			key[name] = it[name]
		}
		t := v.key(&table, key)
		sizes[[2]sample.Key{t.pk, t.sk}] = itemSize(it)
	}
	return sizes
}

func (v *view) batchWrite(table string, w types.WriteRequest) touch {
	if w.PutRequest != nil {
		t := v.item(&table, w.PutRequest.Item)
		t.after = w.PutRequest.Item
		return t
	}
	if w.DeleteRequest != nil {
		return v.key(&table, w.DeleteRequest.Key)
	}
	return touch{table: tableName(&table)}
}

// unprocessed marks what a batch left undone as throttled. A key stands in a
// batch only once, so it tells which.
func (v *view) unprocessed(params, result any) {
	switch out := result.(type) {
	case *dynamodb.BatchGetItemOutput:
		for table, keys := range out.UnprocessedKeys {
			for _, key := range keys.Keys {
				v.refuse(v.key(&table, key), unprocessedKeys)
			}
		}
	case *dynamodb.BatchWriteItemOutput:
		for table, writes := range out.UnprocessedItems {
			for _, w := range writes {
				v.refuse(v.batchWrite(table, w), unprocessedItems)
			}
		}
	case *dynamodb.BatchExecuteStatementOutput:
		v.failedStatements(out.Responses)
	}
}

func (v *view) refuse(undone touch, reason string) {
	for i := range v.touches {
		t := &v.touches[i]
		if t.table == undone.table && t.pk == undone.pk && t.sk == undone.sk {
			t.throttle = reason
		}
	}
}

// failedStatements marks the statements of a batch that did not get through. One
// that failed otherwise than by a condition cost nothing and asked for nothing.
func (v *view) failedStatements(responses []types.BatchStatementResponse) {
	kept := v.touches[:0]
	for i := range v.touches {
		t := v.touches[i]
		if i < len(responses) && responses[i].Error != nil {
			code := string(responses[i].Error.Code)
			switch {
			case isThrottle(code):
				t.throttle = code
			case code != string(types.BatchStatementErrorCodeEnumConditionalCheckFailed):
				v.failed++
				continue
			}
		}
		kept = append(kept, t)
	}
	v.touches = kept
}

func (v *view) transactGet(in *dynamodb.TransactGetItemsInput, out *dynamodb.TransactGetItemsOutput) {
	for i, it := range in.TransactItems {
		if it.Get == nil {
			continue
		}
		t := v.key(it.Get.TableName, it.Get.Key)
		t.consistency = sample.Transactional
		if out != nil && it.Get.ProjectionExpression == nil && i < len(out.Responses) {
			t.bytes = itemSize(out.Responses[i].Item)
		}
		t.estimate()
		v.touches = append(v.touches, t)
	}
}

// transactWrite adds one item; a condition check is charged like a write.
func (v *view) transactWrite(it types.TransactWriteItem) {
	var t touch
	switch {
	case it.Put != nil:
		t = v.item(it.Put.TableName, it.Put.Item)
		t.after = it.Put.Item
	case it.Update != nil:
		t = v.key(it.Update.TableName, it.Update.Key)
	case it.Delete != nil:
		t = v.key(it.Delete.TableName, it.Delete.Key)
	case it.ConditionCheck != nil:
		t = v.key(it.ConditionCheck.TableName, it.ConditionCheck.Key)
	}
	t.transactional = true
	v.write(t)
}
