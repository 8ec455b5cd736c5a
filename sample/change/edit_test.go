package change_test

import (
	"reflect"
	"testing"

	"github.com/keyheat/keyheat/sample"
)

// TestEdits checks the names and bytes of changed attributes.
func TestEdits(t *testing.T) {
	t.Parallel()
	const keys = `{"id":{"S":"1"}}`
	for _, c := range []struct {
		story, event, before, after string
		want                        *sample.Edit
	}{
		{"a counter beside a document", "MODIFY", `{"id":{"S":"1"},"n":{"N":"9"},"doc":{"S":"long"}}`, `{"id":{"S":"1"},"n":{"N":"1000"},"doc":{"S":"long"}}`,
			&sample.Edit{Changed: 3, Attributes: []string{"n"}}},
		{"an attribute more and one less", "MODIFY", `{"id":{"S":"1"},"old":{"S":"xx"}}`, `{"id":{"S":"1"},"new":{"S":"x"}}`,
			&sample.Edit{Changed: 9, Grown: -1, Attributes: []string{"new", "old"}}},
		{"a new item is all change", "INSERT", "", `{"id":{"S":"1"},"n":{"N":"9"}}`,
			&sample.Edit{Changed: 6, Grown: 6, Attributes: []string{"id", "n"}}},
		{"so is a deleted one", "REMOVE", `{"id":{"S":"1"}}`, "",
			&sample.Edit{Changed: 3, Grown: -3, Attributes: []string{"id"}}},
		{"without images nothing is told", "MODIFY", "", "", nil},
	} {
		k := decode(nil, record(c.event, keys, c.before, c.after), 0)
		if len(k.records) != 1 {
			t.Fatalf("%s: %s", c.story, k.reports())
		}
		if got := k.records[0].Edit; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.story, got, c.want)
		}
	}
}
