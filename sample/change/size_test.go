package change_test

import (
	"testing"

	"github.com/keyheat/keyheat/sample/change"
)

// TestSizesOfTheGuide restates the rules of the Developer Guide, "DynamoDB item
// sizes and formats", by example; the first is its own.
func TestSizesOfTheGuide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story, item string
		want        int64
	}{
		{"the guide's shirt", `{"shirt-color":{"S":"R"},"shirt-size":{"S":"M"}}`, 23},
		{"nothing", `{}`, 0},
		{"text is counted in UTF-8, and so are names", `{"ä":{"S":"Zoë 😀"}}`, 2 + 9},
		{"text that was escaped", `{"a":{"S":"\u00e9\n"}}`, 1 + 3},
		{"a number of one digit", `{"n":{"N":"7"}}`, 1 + 2},
		{"of two digits", `{"n":{"N":"42"}}`, 1 + 2},
		{"of three digits", `{"n":{"N":"-421"}}`, 1 + 3},
		{"zeros at either end are not significant", `{"n":{"N":"0.00420"}}`, 1 + 2},
		{"nor are those of a large number", `{"n":{"N":"1.5e20"}}`, 1 + 2},
		{"zeros between are", `{"n":{"N":"1001"}}`, 1 + 3},
		{"zero", `{"n":{"N":"0.0"}}`, 1 + 1},
		{"38 digits", `{"n":{"N":"12345678901234567890123456789012345678"}}`, 1 + 20},
		{"a binary counts raw", `{"b":{"B":"AAECAw=="}}`, 1 + 4},
		{"a boolean and a null", `{"b":{"BOOL":false},"n":{"NULL":true}}`, 2 + 2},
		{"an empty list and an empty map", `{"l":{"L":[]},"m":{"M":{}}}`, 2 + 3 + 3},
		{"a list", `{"l":{"L":[{"S":"ab"},{"BOOL":true}]}}`, 1 + 3 + (1 + 2) + (1 + 1)},
		{"a map", `{"m":{"M":{"key":{"S":"ab"}}}}`, 1 + 3 + (1 + 3 + 2)},
		{"a list in a map", `{"m":{"M":{"l":{"L":[{"N":"5"}]}}}}`, 1 + 3 + (1 + 1 + 3 + 1 + 2)},
		{"sets are the sum of their elements", `{"s":{"SS":["a","bc"]},"n":{"NS":["1","234"]},"b":{"BS":["AAE="]}}`, 3 + 3 + (2 + 3) + 2},
	} {
		if got := item(t, c.item).Size(); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.story, got, c.want)
		}
	}
}

func TestEqualIsDynamoDBs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		story, a, b string
		want        bool
	}{
		{"the order of names", `{"a":{"S":"1"},"b":{"S":"2"}}`, `{"b":{"S":"2"},"a":{"S":"1"}}`, true},
		{"one number in two spellings", `{"a":{"N":"1.0"}}`, `{"a":{"N":"1"}}`, true},
		{"a number and a text", `{"a":{"N":"1"}}`, `{"a":{"S":"1"}}`, false},
		{"a set has no order", `{"a":{"SS":["x","y"]}}`, `{"a":{"SS":["y","x"]}}`, true},
		{"sets that differ", `{"a":{"SS":["x","y"]}}`, `{"a":{"SS":["x","z"]}}`, false},
		{"a list has one", `{"a":{"L":[{"S":"x"},{"S":"y"}]}}`, `{"a":{"L":[{"S":"y"},{"S":"x"}]}}`, false},
		{"a set and a list", `{"a":{"SS":["x"]}}`, `{"a":{"L":[{"S":"x"}]}}`, false},
		{"deep down", `{"a":{"M":{"b":{"BOOL":true}}}}`, `{"a":{"M":{"b":{"BOOL":false}}}}`, false},
		{"one attribute more", `{"a":{"S":"1"}}`, `{"a":{"S":"1"},"b":{"NULL":true}}`, false},
	} {
		if a, b := item(t, c.a), item(t, c.b); a.Equal(b) != c.want || b.Equal(a) != c.want {
			t.Errorf("%s: equal is %v, want %v", c.story, a.Equal(b), c.want)
		}
	}
}

func TestWhatIsNoValueIsRejected(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`null`, `5`, `{}`, `{"S":"a","N":"1"}`, `{"S":null}`, `{"S":5}`, `{"N":"x"}`, `{"N":null}`, `{"N":true}`,
		`{"B":"?"}`, `{"BOOL":"true"}`, `{"BOOL":null}`, `{"SS":null}`, `{"SS":[1]}`, `{"NS":["x"]}`,
		`{"L":null}`, `{"L":[null]}`, `{"M":null}`, `{"M":[]}`, `{"M":{"a":null}}`, `{"X":1}`, `{"s":"a"}`,
	} {
		var v change.Value
		if err := v.UnmarshalJSON([]byte(text)); err == nil {
			t.Errorf("%s was read as %+v", text, v)
		}
	}
}
