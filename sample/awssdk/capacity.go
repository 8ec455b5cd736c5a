package awssdk

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// operation handles the consumed capacity of one of DynamoDB's data operations.
type operation struct {
	ask        func(params any) (asking any, asked bool)
	forget     func(result any)
	capacities func(result any) []types.ConsumedCapacity
}

// operations are the data operations by the types of their inputs and outputs,
// which have the same fields and nothing else in common.
var operations = func() operationMap {
	m := operationMap{}
	add(m, one, func(in *dynamodb.GetItemInput) *asking { return &in.ReturnConsumedCapacity },
		func(out *dynamodb.GetItemOutput) **types.ConsumedCapacity { return &out.ConsumedCapacity })
	add(m, one, func(in *dynamodb.PutItemInput) *asking { return &in.ReturnConsumedCapacity },
		func(out *dynamodb.PutItemOutput) **types.ConsumedCapacity { return &out.ConsumedCapacity })
	add(m, one, func(in *dynamodb.UpdateItemInput) *asking { return &in.ReturnConsumedCapacity },
		func(out *dynamodb.UpdateItemOutput) **types.ConsumedCapacity { return &out.ConsumedCapacity })
	add(m, one, func(in *dynamodb.DeleteItemInput) *asking { return &in.ReturnConsumedCapacity },
		func(out *dynamodb.DeleteItemOutput) **types.ConsumedCapacity { return &out.ConsumedCapacity })
	add(m, one, func(in *dynamodb.QueryInput) *asking { return &in.ReturnConsumedCapacity },
		func(out *dynamodb.QueryOutput) **types.ConsumedCapacity { return &out.ConsumedCapacity })
	add(m, one, func(in *dynamodb.ScanInput) *asking { return &in.ReturnConsumedCapacity },
		func(out *dynamodb.ScanOutput) **types.ConsumedCapacity { return &out.ConsumedCapacity })
	add(m, one, func(in *dynamodb.ExecuteStatementInput) *asking { return &in.ReturnConsumedCapacity },
		func(out *dynamodb.ExecuteStatementOutput) **types.ConsumedCapacity { return &out.ConsumedCapacity })
	add(m, several, func(in *dynamodb.BatchGetItemInput) *asking { return &in.ReturnConsumedCapacity },
		func(out *dynamodb.BatchGetItemOutput) *[]types.ConsumedCapacity { return &out.ConsumedCapacity })
	add(m, several, func(in *dynamodb.BatchWriteItemInput) *asking { return &in.ReturnConsumedCapacity },
		func(out *dynamodb.BatchWriteItemOutput) *[]types.ConsumedCapacity { return &out.ConsumedCapacity })
	add(m, several, func(in *dynamodb.TransactGetItemsInput) *asking { return &in.ReturnConsumedCapacity },
		func(out *dynamodb.TransactGetItemsOutput) *[]types.ConsumedCapacity { return &out.ConsumedCapacity })
	add(m, several, func(in *dynamodb.TransactWriteItemsInput) *asking {
		return unlessToken(&in.ReturnConsumedCapacity, in.ClientRequestToken)
	}, func(out *dynamodb.TransactWriteItemsOutput) *[]types.ConsumedCapacity { return &out.ConsumedCapacity })
	add(m, several, func(in *dynamodb.BatchExecuteStatementInput) *asking { return &in.ReturnConsumedCapacity },
		func(out *dynamodb.BatchExecuteStatementOutput) *[]types.ConsumedCapacity {
			return &out.ConsumedCapacity
		})
	add(m, several, func(in *dynamodb.ExecuteTransactionInput) *asking {
		return unlessToken(&in.ReturnConsumedCapacity, in.ClientRequestToken)
	}, func(out *dynamodb.ExecuteTransactionOutput) *[]types.ConsumedCapacity { return &out.ConsumedCapacity })
	return m
}()

type (
	operationMap map[reflect.Type]operation
	asking       = types.ReturnConsumedCapacity
)

// add adds an operation: list makes a list of what is reported, asks and
// reported return the field of an input and of an output. asks returns nil when
// the input must stay as it is.
func add[In, Out, Capacity any](m operationMap, list func(Capacity) []types.ConsumedCapacity, asks func(*In) *asking, reported func(*Out) *Capacity) {
	o := operation{
		ask: func(params any) (any, bool) {
			given := params.(*In)
			field := asks(given)
			if field == nil || *field != "" && *field != types.ReturnConsumedCapacityNone {
				return params, false
			}
			in := *given
			*asks(&in) = types.ReturnConsumedCapacityIndexes
			return &in, true
		},
		forget: func(result any) {
			if out := result.(*Out); out != nil {
				*reported(out) = *new(Capacity)
			}
		},
		capacities: func(result any) []types.ConsumedCapacity {
			if out := result.(*Out); out != nil {
				return list(*reported(out))
			}
			return nil
		},
	}
	m[reflect.TypeFor[*In]()] = o
	m[reflect.TypeFor[*Out]()] = o
}

// unlessToken returns nil for a transaction with a token of its caller's:
// DynamoDB rejects the same token with another parameter
// (IdempotentParameterMismatch), and of two such requests one may be sampled and
// the other not.
func unlessToken(field *asking, token *string) *asking {
	if token != nil {
		return nil
	}
	return field
}

func one(c *types.ConsumedCapacity) []types.ConsumedCapacity {
	if c == nil {
		return nil
	}
	return []types.ConsumedCapacity{*c}
}

func several(c []types.ConsumedCapacity) []types.ConsumedCapacity { return c }

// askCapacity returns a copy of the input that asks for the consumed capacity by
// index, and true; or the input itself where its caller asked, or it must stay
// as it is. The caller's own input is never written to.
func askCapacity(params any) (any, bool) {
	if o, ok := operations[reflect.TypeOf(params)]; ok {
		return o.ask(params)
	}
	return params, false
}

// forgetCapacity removes what askCapacity asked for from a response.
func forgetCapacity(result any) {
	if o, ok := operations[reflect.TypeOf(result)]; ok {
		o.forget(result)
	}
}

// capacities returns what a response reports, a table each.
func capacities(result any) []types.ConsumedCapacity {
	if o, ok := operations[reflect.TypeOf(result)]; ok {
		return o.capacities(result)
	}
	return nil
}
