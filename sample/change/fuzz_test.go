package change_test

import (
	"encoding/base64"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/internal/testsupport/reasons"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/change"
)

// FuzzSize holds sizes to a computation of another kind: over the plain JSON
// tree, without a type of the package, numbers by exact arithmetic.
func FuzzSize(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"shirt-color":{"S":"R"}}`, `{"n":{"N":"-0.00420e5"}}`, `{"n":{"N":1e20}}`, `{"b":{"B":"AAE"}}`,
		`{"l":{"L":[{"S":"ab"},{"M":{"k":{"NULL":true}}}]}}`, `{"s":{"SS":["a"]},"n":{"NS":["1",2]},"b":{"BS":[]}}`,
		`{"b":{"BOOL":false}}`, `{"a":null}`, `null`, `{"é":{"S":"\u00e9"}}`, `{"N":{"N":"000"}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<12 || !utf8.Valid(text) {
			return
		}
		var i change.Item
		if json.Unmarshal(text, &i) != nil {
			return
		}
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		var tree any
		must.Succeed(t, decoder.Decode(&tree))
		if got, want := i.Size(), treeSize(tree); got != want {
			t.Fatalf("%s has %d bytes, by the tree %d", text, got, want)
		}
		if !i.Equal(i) {
			t.Fatalf("%s does not equal itself", text)
		}
	})
}

// treeSize returns the size of an item as a tree of encoding/json.
func treeSize(tree any) (size int64) {
	members, _ := tree.(map[string]any)
	for name, v := range members {
		size += int64(len(name))
		for letters, inner := range v.(map[string]any) {
			size += typedSize(letters, inner)
		}
	}
	return size
}

func typedSize(letters string, inner any) (size int64) {
	switch letters {
	case "S":
		return int64(len(inner.(string)))
	case "N":
		return exactSize(inner)
	case "B":
		raw, _ := base64.RawStdEncoding.DecodeString(strings.NewReplacer("=", "", "\r", "", "\n", "").Replace(inner.(string)))
		return int64(len(raw))
	case "BOOL", "NULL":
		return 1
	case "M":
		return 3 + int64(len(inner.(map[string]any))) + treeSize(inner)
	case "L":
		size = 3
		for _, e := range inner.([]any) {
			for of, v := range e.(map[string]any) {
				size += 1 + typedSize(of, v)
			}
		}
		return size
	}
	for _, e := range inner.([]any) {
		size += typedSize(letters[:1], e)
	}
	return size
}

// exactSize returns a number's: the digits of its whole multiple that has no zero
// at the end.
func exactSize(number any) int64 {
	text, ok := number.(string)
	if !ok {
		text = number.(json.Number).String()
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	if strings.Trim(mantissa, "+-0.") == "" {
		return 1 // zero, whose exponent may be larger than a Rat has
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return -1
	}
	scaled := exact.Mul(exact, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(170), nil)))
	digits := strings.TrimRight(new(big.Int).Abs(scaled.Num()).String(), "0")
	return (int64(len(digits))+1)/2 + 1
}

// FuzzDecode checks that every decoded record of any message is sound.
func FuzzDecode(f *testing.F) {
	keys := `{"id":{"S":"1"},"s":{"N":"2"}}`
	for _, message := range []string{
		record("INSERT", keys, "", keys), record("MODIFY", keys, keys, `{"id":{"S":"1"},"s":{"N":"3"},"x":{"L":[{"BOOL":true}]}}`),
		`{"Records":[` + record("REMOVE", keys, keys, "") + `]}`, "[" + record("REMOVE", keys, "", "") + ",{]\n{}", "{\n{\n[", `"\`, "{\"a\":\"\\ud83d\"}",
	} {
		f.Add([]byte(message), int64(1763692032000))
	}
	tables := sample.Schemas{"orders": {KeySchema: sample.Keys("id", "s"), Indexes: map[string]sample.IndexSchema{
		"by-date":   {KeySchema: sample.Keys("s", "x")},
		"by-status": {KeySchema: sample.KeySchema{PartitionKey: []string{"x", "s"}}, Projection: sample.ProjectKeysOnly},
	}}}
	known := make(map[sample.RejectReason]bool)
	for _, r := range append(reasons.OfSample(), reasons.OfChange()...) {
		known[r] = true
	}
	f.Fuzz(func(t *testing.T, message []byte, at int64) {
		before := string(message)
		k := decode(tables, string(message), at)
		if before != string(message) {
			t.Fatal("the message was changed")
		}
		for _, r := range k.records {
			if reason := r.Check(); reason != "" {
				t.Fatalf("a record that is %s: %+v", reason, r)
			}
			if whole := int64(r.WCU) * 1024 / 1000; r.Op == sample.OpUnknown || r.RCU != 0 || r.Bytes > whole && r.WCU > 0 {
				t.Fatalf("%+v costs less than its bytes", r)
			}
		}
		for _, reason := range k.bad {
			if !known[reason] {
				t.Fatalf("reason %q is not listed", reason)
			}
		}
		if json.Valid(message) && len(k.records)+len(k.bad) == 0 && !strings.Contains(before, "[") {
			t.Fatal("a message vanished")
		}
	})
}
