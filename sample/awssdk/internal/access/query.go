package access

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample"
)

// query reads the partition key from the key condition, which compares it by equality. Its
// price is the price of all items read, rounded once. Filtered items are not seen, so an
// estimate is a lower bound.
func (v *Reader) query(in *dynamodb.QueryInput, out *dynamodb.QueryOutput) {
	t := Access{Table: TableName(in.TableName), Consistency: consistency(in.ConsistentRead)}
	t.Index = v.readIndex(t.Table, in.IndexName)
	equal := equalities(in)
	var ok bool
	if t.PK, t.SK, ok = v.fromEqual(t.Table, aws.ToString(in.IndexName), equal); !ok {
		v.NotReadable++
		t.Unreadable = true
	}
	if out != nil && in.ProjectionExpression == nil {
		t.Bytes = itemsSize(out.Items)
	}
	v.add(t)
}

// fromEqual finds the keys among attributes that must equal a value. Without the schema, only a
// single attribute can be the partition key.
func (v *Reader) fromEqual(table, index string, equal Item) (pk, sk sample.Key, ok bool) {
	partition, sort := v.keyNames(table, index)
	if partition == nil {
		if len(equal) != 1 {
			return pk, sk, false
		}
		for _, value := range equal {
			pk, ok = attributeKey(value)
		}
		return pk, sk, ok
	}
	if pk, ok = KeyOf(equal, partition); !ok {
		return sample.Key{}, sk, false
	}
	if sk, ok = KeyOf(equal, sort); !ok {
		sk = sample.Key{}
	}
	return pk, sk, true
}

// keyNames returns the key attributes of a table or index, or nil if unknown. For a local index
// it returns no sort key of the table.
func (v *Reader) keyNames(table, index string) (partition, sort []string) {
	schema := v.Schemas.Schema(table)
	if schema == nil {
		return nil, nil
	}
	x := schema.Indexes[index]
	switch {
	case index == "":
		return schema.PartitionKey, schema.SortKey
	case x.Local:
		return schema.PartitionKey, nil
	}
	return x.PartitionKey, x.SortKey
}

// equalities returns the attributes that a Query's condition compares by equality.
func equalities(in *dynamodb.QueryInput) Item {
	equal := Item{}
	for name, c := range in.KeyConditions {
		if c.ComparisonOperator == types.ComparisonOperatorEq && len(c.AttributeValueList) == 1 {
			equal[name] = c.AttributeValueList[0]
		}
	}
	words := conditionWords(aws.ToString(in.KeyConditionExpression))
	for i := 1; i+1 < len(words); i++ {
		if words[i] != "=" {
			continue
		}
		name, value := words[i-1], in.ExpressionAttributeValues[words[i+1]]
		if strings.HasPrefix(name, "#") {
			name = in.ExpressionAttributeNames[name]
		}
		if name != "" && value != nil {
			equal[name] = value
		}
	}
	return equal
}

// conditionWords splits a key condition into names, values and comparisons.
func conditionWords(expression string) (words []string) {
	for rest := expression; rest != ""; {
		n := strings.IndexAny(rest, " \t\r\n()=<>,")
		if n < 0 {
			return append(words, rest)
		}
		if n > 0 {
			words = append(words, rest[:n])
		}
		end := n + 1
		for strings.IndexByte("<>", rest[n]) >= 0 && end < len(rest) && strings.IndexByte("=>", rest[end]) >= 0 {
			end++ // "<=" is not an equality
		}
		if comparison := strings.Trim(rest[n:end], " \t\r\n(),"); comparison != "" {
			words = append(words, comparison)
		}
		rest = rest[end:]
	}
	return words
}
