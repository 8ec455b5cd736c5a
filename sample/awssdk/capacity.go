package awssdk

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// field returns a field of a pointer to a struct by name, or nil if the struct has no such
// field of type T. The inputs and outputs of DynamoDB's operations share names of fields, but
// no interface.
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

// asking returns the field of an input that requests consumed capacity, or nil for another
// service's input.
func asking(params any) *types.ReturnConsumedCapacity {
	return field[types.ReturnConsumedCapacity](params, "ReturnConsumedCapacity")
}

// askCapacity returns a copy of the input that requests the consumed capacity by index, and
// true. It returns the input itself if its caller requested capacity, or if the input must stay
// as it is. It never changes the caller's input.
//
// A transaction with the caller's token must stay, because DynamoDB rejects the same token with
// another parameter (IdempotentParameterMismatch). Of two such requests, one may be sampled and
// the other not.
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

// reported is the field of an output with the consumed capacity.
const reported = "ConsumedCapacity"

// forgetCapacity removes the capacity that askCapacity requested from a response.
func forgetCapacity(result any) {
	if one := field[*types.ConsumedCapacity](result, reported); one != nil {
		*one = nil
	}
	if several := field[[]types.ConsumedCapacity](result, reported); several != nil {
		*several = nil
	}
}

// capacities returns the reports of a response, one for each table.
func capacities(result any) []types.ConsumedCapacity {
	if one := field[*types.ConsumedCapacity](result, reported); one != nil && *one != nil {
		return []types.ConsumedCapacity{**one}
	}
	if several := field[[]types.ConsumedCapacity](result, reported); several != nil {
		return *several
	}
	return nil
}
