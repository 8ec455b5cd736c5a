package streams

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// appendRecord appends a record as JSON, in the form in which a Lambda function
// gets it: what the decoder of stream records reads.
func appendRecord(dst []byte, stream string, r *types.Record) []byte {
	event := map[string]any{"eventID": r.EventID, "eventName": r.EventName, "awsRegion": r.AwsRegion, "eventSourceARN": stream}
	if u := r.UserIdentity; u != nil {
		event["userIdentity"] = map[string]any{"type": u.Type, "principalId": u.PrincipalId}
	}
	if c := r.Dynamodb; c != nil {
		change := map[string]any{"SequenceNumber": c.SequenceNumber, "Keys": itemOf(c.Keys), "NewImage": itemOf(c.NewImage), "OldImage": itemOf(c.OldImage)}
		if t := c.ApproximateCreationDateTime; t != nil {
			change["ApproximateCreationDateTime"] = t.Unix()
		}
		event["dynamodb"] = change
	}
	raw, _ := json.Marshal(event) // it never fails on texts, numbers and bytes
	return append(dst, raw...)
}

// itemOf returns an item in DynamoDB JSON; nil for an image that is not there.
func itemOf(item map[string]types.AttributeValue) map[string]any {
	if item == nil {
		return nil
	}
	all := make(map[string]any, len(item))
	for name, v := range item {
		all[name] = valueOf(v)
	}
	return all
}

// valueOf returns a value in DynamoDB JSON. A type that this program does not know
// becomes null, which the decoder counts as a bad image.
func valueOf(v types.AttributeValue) map[string]any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberB:
		return map[string]any{"B": v.Value}
	case *types.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *types.AttributeValueMemberNULL:
		return map[string]any{"NULL": v.Value}
	case *types.AttributeValueMemberSS:
		return map[string]any{"SS": v.Value}
	case *types.AttributeValueMemberNS:
		return map[string]any{"NS": v.Value}
	case *types.AttributeValueMemberBS:
		return map[string]any{"BS": v.Value}
	case *types.AttributeValueMemberL:
		list := make([]any, 0, len(v.Value))
		for _, one := range v.Value {
			list = append(list, valueOf(one))
		}
		return map[string]any{"L": list}
	case *types.AttributeValueMemberM:
		return map[string]any{"M": itemOf(v.Value)}
	}
	return nil
}
