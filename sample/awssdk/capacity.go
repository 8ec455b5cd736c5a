package awssdk

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// field returns the named field of a pointer to a struct; nil where it has none of this
// type. The inputs and outputs of DynamoDB's data operations name alike what they have in
// common, and have no interface for it.
func field[T any](of any, name string) *T {
	v := reflect.ValueOf(of)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	named := v.Elem().FieldByName(name)
	if !named.IsValid() {
		return nil
	}
	found, _ := named.Addr().Interface().(*T)
	return found
}

// asking returns where an input says what is to be reported; nil for another service's.
func asking(params any) *types.ReturnConsumedCapacity {
	return field[types.ReturnConsumedCapacity](params, "ReturnConsumedCapacity")
}

// askCapacity returns a copy of the input that asks for the consumed capacity by
// index, and true; or the input itself where its caller asked, or it must stay
// as it is. The caller's own input is never written to.
//
// A transaction with a token of its caller's must stay: DynamoDB rejects the same token
// with another parameter (IdempotentParameterMismatch), and of two such requests one may
// be sampled and the other not.
func askCapacity(params any) (any, bool) {
	given, token := asking(params), field[*string](params, "ClientRequestToken")
	if given == nil || token != nil && *token != nil || *given != "" && *given != types.ReturnConsumedCapacityNone {
		return params, false
	}
	in := reflect.New(reflect.TypeOf(params).Elem())
	in.Elem().Set(reflect.ValueOf(params).Elem())
	*asking(in.Interface()) = types.ReturnConsumedCapacityIndexes
	return in.Interface(), true
}

// reported is the field of an output that reports consumed capacity.
const reported = "ConsumedCapacity"

// forgetCapacity removes what askCapacity asked for from a response.
func forgetCapacity(result any) {
	if one := field[*types.ConsumedCapacity](result, reported); one != nil {
		*one = nil
	}
	if several := field[[]types.ConsumedCapacity](result, reported); several != nil {
		*several = nil
	}
}

// capacities returns what a response reports, a table each.
func capacities(result any) []types.ConsumedCapacity {
	if one := field[*types.ConsumedCapacity](result, reported); one != nil && *one != nil {
		return []types.ConsumedCapacity{**one}
	}
	if several := field[[]types.ConsumedCapacity](result, reported); several != nil {
		return *several
	}
	return nil
}
