package access

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

// itemSize returns the size of an item as DynamoDB counts it in bytes: each attribute's name in
// UTF-8 and its value. Source: Developer Guide, "DynamoDB item sizes and formats". It excludes
// the 100 bytes of overhead that only storage is charged for.
func itemSize(it Item) int64 {
	var size int64
	for name, value := range it {
		size += int64(len(name)) + valueSize(value)
	}
	return size
}

// containerBytes is the size of an empty list or map, and elementBytes the overhead of each
// element.
const (
	containerBytes = 3
	elementBytes   = 1
)

func valueSize(value types.AttributeValue) int64 {
	var size int64
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		return int64(len(v.Value))
	case *types.AttributeValueMemberN:
		return sample.NumberSize(v.Value)
	case *types.AttributeValueMemberB:
		return int64(len(v.Value))
	case *types.AttributeValueMemberBOOL, *types.AttributeValueMemberNULL:
		return 1
	case *types.AttributeValueMemberSS:
		for _, s := range v.Value {
			size += int64(len(s))
		}
	case *types.AttributeValueMemberNS:
		for _, n := range v.Value {
			size += sample.NumberSize(n)
		}
	case *types.AttributeValueMemberBS:
		for _, b := range v.Value {
			size += int64(len(b))
		}
	case *types.AttributeValueMemberL:
		size = containerBytes
		for _, element := range v.Value {
			size += elementBytes + valueSize(element)
		}
	case *types.AttributeValueMemberM:
		size = containerBytes + int64(len(v.Value))*elementBytes + itemSize(v.Value)
	}
	return size
}
