package streams

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// event is a record as a Lambda function receives it. The decoder of stream records reads
// this form.
type event struct {
	EventID  *string             `json:"eventID"`
	Name     types.OperationType `json:"eventName"`
	Region   *string             `json:"awsRegion"`
	Stream   string              `json:"eventSourceARN"`
	Identity *identity           `json:"userIdentity"`
	Change   *change             `json:"dynamodb,omitempty"`
}

type identity struct {
	Type        *string `json:"type"`
	PrincipalID *string `json:"principalId"`
}

type change struct {
	SequenceNumber           *string
	Time                     *int64 `json:"ApproximateCreationDateTime"`
	Keys, NewImage, OldImage item
}

// item is an item in DynamoDB JSON; nil for a missing image.
type item map[string]value

// value is an attribute's type and its value.
type value map[string]any

func appendRecord(dst []byte, stream string, r *types.Record) []byte {
	e := event{EventID: r.EventID, Name: r.EventName, Region: r.AwsRegion, Stream: stream}
	if u := r.UserIdentity; u != nil {
		e.Identity = &identity{u.Type, u.PrincipalId}
	}
	if c := r.Dynamodb; c != nil {
		e.Change = &change{SequenceNumber: c.SequenceNumber, Keys: itemOf(c.Keys), NewImage: itemOf(c.NewImage), OldImage: itemOf(c.OldImage)}
		if c.ApproximateCreationDateTime != nil {
			seconds := c.ApproximateCreationDateTime.Unix()
			e.Change.Time = &seconds
		}
	}
	raw, _ := json.Marshal(e) // it never fails on texts, numbers and bytes
	return append(dst, raw...)
}

func itemOf(attributes map[string]types.AttributeValue) item {
	if attributes == nil {
		return nil
	}
	all := make(item, len(attributes))
	for name, v := range attributes {
		all[name] = valueOf(v)
	}
	return all
}

// valueOf returns nil for an unknown type. The decoder counts it as a bad image.
func valueOf(v types.AttributeValue) value {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return value{"S": v.Value}
	case *types.AttributeValueMemberN:
		return value{"N": v.Value}
	case *types.AttributeValueMemberB:
		return value{"B": v.Value}
	case *types.AttributeValueMemberBOOL:
		return value{"BOOL": v.Value}
	case *types.AttributeValueMemberNULL:
		return value{"NULL": v.Value}
	case *types.AttributeValueMemberSS:
		return value{"SS": v.Value}
	case *types.AttributeValueMemberNS:
		return value{"NS": v.Value}
	case *types.AttributeValueMemberBS:
		return value{"BS": v.Value}
	case *types.AttributeValueMemberL:
		list := make([]value, 0, len(v.Value))
		for _, one := range v.Value {
			list = append(list, valueOf(one))
		}
		return value{"L": list}
	case *types.AttributeValueMemberM:
		return value{"M": itemOf(v.Value)}
	}
	return nil
}
