package awssdk

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// askCapacity answers a copy of the input that asks for the consumed capacity by
// index, and true; or the input itself where its caller asked. The caller's own
// input is never written to.
//
// A transaction with a token of its caller's is left as it is: DynamoDB refuses
// the same token with another parameter (IdempotentParameterMismatch), and of
// two such requests one may be sampled and the other not.
func askCapacity(params any) (any, bool) {
	switch in := params.(type) {
	case *dynamodb.GetItemInput:
		if asks(in.ReturnConsumedCapacity) {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.PutItemInput:
		if asks(in.ReturnConsumedCapacity) {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.UpdateItemInput:
		if asks(in.ReturnConsumedCapacity) {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.DeleteItemInput:
		if asks(in.ReturnConsumedCapacity) {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.QueryInput:
		if asks(in.ReturnConsumedCapacity) {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.ScanInput:
		if asks(in.ReturnConsumedCapacity) {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.BatchGetItemInput:
		if asks(in.ReturnConsumedCapacity) {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.BatchWriteItemInput:
		if asks(in.ReturnConsumedCapacity) {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.TransactGetItemsInput:
		if asks(in.ReturnConsumedCapacity) {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.TransactWriteItemsInput:
		if asks(in.ReturnConsumedCapacity) || in.ClientRequestToken != nil {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.ExecuteStatementInput:
		if asks(in.ReturnConsumedCapacity) {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.BatchExecuteStatementInput:
		if asks(in.ReturnConsumedCapacity) {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	case *dynamodb.ExecuteTransactionInput:
		if asks(in.ReturnConsumedCapacity) || in.ClientRequestToken != nil {
			return params, false
		}
		asking := *in
		asking.ReturnConsumedCapacity = types.ReturnConsumedCapacityIndexes
		return &asking, true
	}
	return params, false
}

// asks says whether a caller gets consumed capacity by itself.
func asks(c types.ReturnConsumedCapacity) bool {
	return c != "" && c != types.ReturnConsumedCapacityNone
}

// forgetCapacity takes the answer to askCapacity out of a response again.
func forgetCapacity(result any) {
	switch out := result.(type) {
	case *dynamodb.GetItemOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.PutItemOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.UpdateItemOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.DeleteItemOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.QueryOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.ScanOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.BatchGetItemOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.BatchWriteItemOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.TransactGetItemsOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.TransactWriteItemsOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.ExecuteStatementOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.BatchExecuteStatementOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	case *dynamodb.ExecuteTransactionOutput:
		if out != nil {
			out.ConsumedCapacity = nil
		}
	}
}

// capacities are what a response reports, a table each.
func capacities(result any) []types.ConsumedCapacity {
	switch out := result.(type) {
	case *dynamodb.GetItemOutput:
		return one(out.ConsumedCapacity)
	case *dynamodb.PutItemOutput:
		return one(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		return one(out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		return one(out.ConsumedCapacity)
	case *dynamodb.QueryOutput:
		return one(out.ConsumedCapacity)
	case *dynamodb.ScanOutput:
		return one(out.ConsumedCapacity)
	case *dynamodb.BatchGetItemOutput:
		return out.ConsumedCapacity
	case *dynamodb.BatchWriteItemOutput:
		return out.ConsumedCapacity
	case *dynamodb.TransactGetItemsOutput:
		return out.ConsumedCapacity
	case *dynamodb.TransactWriteItemsOutput:
		return out.ConsumedCapacity
	case *dynamodb.ExecuteStatementOutput:
		return one(out.ConsumedCapacity)
	case *dynamodb.BatchExecuteStatementOutput:
		return out.ConsumedCapacity
	case *dynamodb.ExecuteTransactionOutput:
		return out.ConsumedCapacity
	}
	return nil
}

func one(c *types.ConsumedCapacity) []types.ConsumedCapacity {
	if c == nil {
		return nil
	}
	return []types.ConsumedCapacity{*c}
}
