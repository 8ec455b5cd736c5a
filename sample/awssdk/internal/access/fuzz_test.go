package access_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/keyheat/keyheat/sample/awssdk/internal/access"
)

// FuzzStatement holds that no statement makes the reader panic, or find more
// equalities than there are signs for them.
func FuzzStatement(f *testing.F) {
	for _, text := range []string{
		`SELECT * FROM "orders"."by-status" WHERE status = 'it''s' AND n = -1.5e3`,
		`INSERT INTO orders VALUE {'pk': ?, 'm': {'a': [1, 2]}}`,
		`UPDATE "orders" SET a = ? REMOVE b WHERE pk = ? AND sk >= 7`,
		`DELETE FROM orders WHERE pk='x`, `=`, `"`, `FROM`, `WHERE = ?`, `x <> y`, `{:`,
	} {
		f.Add(text)
	}
	parameters := []types.AttributeValue{text("one"), number("2")}
	f.Fuzz(func(t *testing.T, text string) {
		if _, n := access.StatementKeys(text, parameters); n > strings.Count(text, "=")+strings.Count(text, ":") {
			t.Errorf("%q has %d equalities", text, n)
		}
	})
}

// FuzzKeyCondition holds the same for the condition of a Query.
func FuzzKeyCondition(f *testing.F) {
	for _, text := range []string{`pk = :p`, `(#p=:p)AND(sk<=:p)`, `begins_with(sk,:p) AND #p = :p`, `=`, `<`, `a<=`, `=:p`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, condition string) {
		n := access.Equalities(&dynamodb.QueryInput{
			KeyConditionExpression: &condition, ExpressionAttributeNames: map[string]string{"#p": "pk"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":p": text("v")},
		})
		if n > strings.Count(condition, "=") {
			t.Errorf("%q has %d equalities", condition, n)
		}
	})
}

// TestItemSizes holds the Guide's rules, a type each.
func TestItemSizes(t *testing.T) {
	t.Parallel()
	for _, s := range []struct {
		what  string
		value types.AttributeValue
		want  int64
	}{
		{"a string's UTF-8 bytes", text("é!"), 3},
		{"a number of two digits", number("42"), 2},
		{"a number of three digits, with its sign", number("-123"), 3},
		{"zeros at either end cost nothing", number("001200"), 2},
		{"a fraction", number("3.14159"), 4},
		{"an exponent is no digit", number("12E40"), 2},
		{"zero", number("0"), 1},
		{"a binary", &types.AttributeValueMemberB{Value: make([]byte, 7)}, 7},
		{"true", &types.AttributeValueMemberBOOL{Value: true}, 1},
		{"null", &types.AttributeValueMemberNULL{Value: true}, 1},
		{"a set of strings", &types.AttributeValueMemberSS{Value: []string{"a", "bc"}}, 3},
		{"a set of numbers", &types.AttributeValueMemberNS{Value: []string{"1", "22"}}, 4},
		{"a set of binaries", &types.AttributeValueMemberBS{Value: [][]byte{{1}, {2, 3}}}, 3},
		{"an empty list", &types.AttributeValueMemberL{}, 3},
		{"a list: three and one an element", &types.AttributeValueMemberL{Value: []types.AttributeValue{text("ab"), text("c")}}, 8},
		{"a map: the names too", &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"ab": text("c")}}, 7},
	} {
		if got := access.ItemSize(map[string]types.AttributeValue{"n": s.value}); got != s.want+1 {
			t.Errorf("%s: %d bytes, want %d", s.what, got-1, s.want)
		}
	}
}

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
