package access

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// StatementKeys returns how many attributes a statement sets equal to a value, and
// its table.
func StatementKeys(text string, parameters []types.AttributeValue) (table string, n int) {
	s := readStatement(text, parameters)
	return s.table, len(s.equal)
}

// Equalities returns how many attributes a Query's condition sets equal to a value.
func Equalities(in *dynamodb.QueryInput) int { return len(equalities(in)) }

// ItemSize returns an item's size as DynamoDB counts it.
func ItemSize(it map[string]types.AttributeValue) int64 { return itemSize(it) }
