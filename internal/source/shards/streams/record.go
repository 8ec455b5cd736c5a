package streams

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// appendRecord appends a record as JSON, in the form in which a Lambda function
// gets it: what the decoder of stream records reads.
func appendRecord(dst []byte, stream string, r *types.Record) []byte {
	dst = append(dst, `{"eventID":`...)
	dst = appendText(dst, aws.ToString(r.EventID))
	dst = append(dst, `,"eventName":`...)
	dst = appendText(dst, string(r.EventName))
	dst = append(dst, `,"awsRegion":`...)
	dst = appendText(dst, aws.ToString(r.AwsRegion))
	dst = append(dst, `,"eventSourceARN":`...)
	dst = appendText(dst, stream)
	if u := r.UserIdentity; u != nil {
		dst = append(dst, `,"userIdentity":{"type":`...)
		dst = appendText(dst, aws.ToString(u.Type))
		dst = append(dst, `,"principalId":`...)
		dst = appendText(dst, aws.ToString(u.PrincipalId))
		dst = append(dst, '}')
	}
	if r.Dynamodb != nil {
		dst = append(dst, `,"dynamodb":`...)
		dst = appendChange(dst, r.Dynamodb)
	}
	return append(dst, '}')
}

func appendChange(dst []byte, c *types.StreamRecord) []byte {
	dst = append(dst, `{"SequenceNumber":`...)
	dst = appendText(dst, aws.ToString(c.SequenceNumber))
	if t := c.ApproximateCreationDateTime; t != nil {
		dst = append(dst, `,"ApproximateCreationDateTime":`...)
		dst = strconv.AppendInt(dst, t.Unix(), 10)
	}
	for _, image := range []struct {
		name string
		item map[string]types.AttributeValue
	}{{"Keys", c.Keys}, {"NewImage", c.NewImage}, {"OldImage", c.OldImage}} {
		if image.item == nil {
			continue
		}
		dst = append(dst, ',', '"')
		dst = append(dst, image.name...)
		dst = append(dst, '"', ':')
		dst = appendItem(dst, image.item)
	}
	return append(dst, '}')
}

func appendItem(dst []byte, item map[string]types.AttributeValue) []byte {
	dst = append(dst, '{')
	first := true
	for name, v := range item {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendText(dst, name)
		dst = append(dst, ':')
		dst = appendValue(dst, v)
	}
	return append(dst, '}')
}

// appendValue appends DynamoDB JSON. A type that this program does not know
// becomes null, which the decoder counts as a bad image.
func appendValue(dst []byte, v types.AttributeValue) []byte {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return append(appendText(append(dst, `{"S":`...), v.Value), '}')
	case *types.AttributeValueMemberN:
		return append(appendText(append(dst, `{"N":`...), v.Value), '}')
	case *types.AttributeValueMemberB:
		return append(appendBinary(append(dst, `{"B":`...), v.Value), '}')
	case *types.AttributeValueMemberBOOL:
		return append(strconv.AppendBool(append(dst, `{"BOOL":`...), v.Value), '}')
	case *types.AttributeValueMemberNULL:
		return append(strconv.AppendBool(append(dst, `{"NULL":`...), v.Value), '}')
	case *types.AttributeValueMemberSS:
		return append(appendList(append(dst, `{"SS":`...), v.Value, appendText), '}')
	case *types.AttributeValueMemberNS:
		return append(appendList(append(dst, `{"NS":`...), v.Value, appendText), '}')
	case *types.AttributeValueMemberBS:
		return append(appendList(append(dst, `{"BS":`...), v.Value, appendBinary), '}')
	case *types.AttributeValueMemberL:
		return append(appendList(append(dst, `{"L":`...), v.Value, appendValue), '}')
	case *types.AttributeValueMemberM:
		return append(appendItem(append(dst, `{"M":`...), v.Value), '}')
	}
	return append(dst, "null"...)
}

func appendList[T any](dst []byte, all []T, one func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, v)
	}
	return append(dst, ']')
}

func appendBinary(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// appendText appends a JSON string; most of them need no escape.
func appendText(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			escaped, err := json.Marshal(s)
			if err != nil { // never of a string
				return append(dst, `""`...)
			}
			return append(dst, escaped...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
