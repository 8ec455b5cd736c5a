package conformance_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/awssdk"
)

// goClient makes the call of an order with the Go SDK and its sampler.
func goClient(t *testing.T, o order) observed {
	t.Helper()
	got := observed{}
	cfg := awsConfig(o.Endpoint, o.Retry...)
	options := awssdk.Options{AskCapacity: o.Ask, HMACKey: []byte(o.HMAC), Tables: sample.Schemas{}, Caller: "conformance"}
	options.Sink = awssdk.SinkFunc(func(_ context.Context, records []sample.Record) error {
		for i := range records {
			var s sampleJSON
			if err := json.Unmarshal(records[i].AppendJSON(nil), &s); err != nil {
				return err
			}
			got.Samples = append(got.Samples, s)
		}
		return nil
	})
	for name, s := range o.Tables {
		indexes := map[string]sample.IndexSchema{}
		for index, x := range s.Indexes {
			indexes[index] = sample.IndexSchema{KeySchema: sample.KeySchema{PartitionKey: x.PK, SortKey: x.SK}, Local: x.Local}
		}
		options.Tables[name] = sample.Schema{KeySchema: sample.KeySchema{PartitionKey: s.PK, SortKey: s.SK}, Indexes: indexes}
	}
	sampler, err := awssdk.Instrument(&cfg, options)
	if err != nil {
		t.Fatal(err)
	}
	got.Capacity, got.Error = send(t, dynamodb.NewFromConfig(cfg), o)
	if err := sampler.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got.Stats = countsOf(sampler.Stats())
	return got
}

// awsConfig is of a client that makes three attempts, without a pause.
func awsConfig(endpoint string, alsoRetried ...string) aws.Config {
	return aws.Config{
		Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "test", SecretAccessKey: "test"}, nil
		}),
		Retryer: func() aws.Retryer {
			return retry.AddWithErrorCodes(retry.NewStandard(func(o *retry.StandardOptions) {
				o.MaxAttempts = 3
				o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
			}), alsoRetried...)
		},
	}
}

// send makes the call, and returns whether the program got a capacity, and its error's code.
func send(t *testing.T, client *dynamodb.Client, o order) (capacity bool, code string) {
	t.Helper()
	method := reflect.ValueOf(client).MethodByName(o.Op)
	var fields any
	if err := json.Unmarshal(o.Input, &fields); err != nil {
		t.Fatal(err)
	}
	in := reflect.New(method.Type().In(1).Elem())
	if err := fill(in.Elem(), fields); err != nil {
		t.Fatal(err)
	}
	results := method.Call([]reflect.Value{reflect.ValueOf(t.Context()), in})
	if err, failed := results[1].Interface().(error); failed {
		var api smithy.APIError
		if !errors.As(err, &api) {
			return false, err.Error()
		}
		return false, api.ErrorCode()
	}
	return !results[0].Elem().FieldByName("ConsumedCapacity").IsZero(), ""
}

var attributeValue = reflect.TypeFor[types.AttributeValue]()

// fill sets a field of an SDK's input from JSON as DynamoDB reads it.
func fill(to reflect.Value, from any) error {
	if to.Type() == attributeValue {
		value, err := attributeOf(from)
		if err == nil {
			to.Set(reflect.ValueOf(value))
		}
		return err
	}
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return fill(to.Elem(), from)
	case reflect.Slice:
		for _, element := range from.([]any) {
			one := reflect.New(to.Type().Elem()).Elem()
			if err := fill(one, element); err != nil {
				return err
			}
			to.Set(reflect.Append(to, one))
		}
		return nil
	case reflect.Map:
		to.Set(reflect.MakeMap(to.Type()))
		for key, element := range from.(map[string]any) {
			one := reflect.New(to.Type().Elem()).Elem()
			if err := fill(one, element); err != nil {
				return err
			}
			to.SetMapIndex(reflect.ValueOf(key), one)
		}
		return nil
	case reflect.Struct:
		for name, value := range from.(map[string]any) {
			field := to.FieldByName(name)
			if !field.IsValid() {
				return fmt.Errorf("%s has no field %s", to.Type(), name)
			}
			if err := fill(field, value); err != nil {
				return err
			}
		}
		return nil
	}
	to.Set(reflect.ValueOf(from).Convert(to.Type()))
	return nil
}

func attributeOf(from any) (types.AttributeValue, error) {
	for kind, content := range from.(map[string]any) {
		switch kind {
		case "S":
			return &types.AttributeValueMemberS{Value: content.(string)}, nil
		case "N":
			return &types.AttributeValueMemberN{Value: content.(string)}, nil
		case "B":
			raw, err := base64.StdEncoding.DecodeString(content.(string))
			return &types.AttributeValueMemberB{Value: raw}, err
		case "BOOL":
			return &types.AttributeValueMemberBOOL{Value: content.(bool)}, nil
		case "SS":
			set := &types.AttributeValueMemberSS{}
			return set, fill(reflect.ValueOf(&set.Value).Elem(), content)
		case "NS":
			set := &types.AttributeValueMemberNS{}
			return set, fill(reflect.ValueOf(&set.Value).Elem(), content)
		case "L":
			list := &types.AttributeValueMemberL{}
			return list, fill(reflect.ValueOf(&list.Value).Elem(), content)
		case "M":
			fields := &types.AttributeValueMemberM{}
			return fields, fill(reflect.ValueOf(&fields.Value).Elem(), content)
		}
	}
	return nil, fmt.Errorf("%v is no attribute's value", from)
}

// countsOf returns the counts by their names in the other languages: unknown_keys.
func countsOf(stats awssdk.Stats) map[string]int64 {
	counts := map[string]int64{}
	v := reflect.ValueOf(stats)
	for i := range v.NumField() {
		var name strings.Builder
		for at, r := range v.Type().Field(i).Name {
			if unicode.IsUpper(r) && at > 0 {
				name.WriteByte('_')
			}
			name.WriteRune(unicode.ToLower(r))
		}
		counts[name.String()] = v.Field(i).Int()
	}
	return counts
}
