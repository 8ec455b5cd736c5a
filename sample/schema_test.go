package sample_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
)

func TestSchemaValidate(t *testing.T) {
	t.Parallel()
	index := func(pk, sk string, p sample.Projection, include ...string) sample.Schema {
		return sample.Schema{Indexes: map[string]sample.IndexSchema{"by-date": {
			KeySchema:  sample.KeySchema{PartitionKey: strings.Fields(pk), SortKey: strings.Fields(sk)},
			Projection: p, Include: include,
		}}}
	}
	local := func(k sample.KeySchema) sample.Schema {
		return sample.Schema{Indexes: map[string]sample.IndexSchema{"by-date": {KeySchema: k, Local: true}}}
	}
	for _, c := range []struct {
		schema sample.Schema
		want   string
	}{
		{sample.Schema{}, ""},
		{sample.Schema{KeySchema: sample.Keys("a")}, ""},
		{sample.Schema{KeySchema: sample.Keys("a", "b")}, ""},
		{index("a b c d", "e f g h", sample.ProjectInclude, "i"), ""},
		{local(sample.KeySchema{SortKey: []string{"b"}}), ""},
		{local(sample.KeySchema{}), ""},
		{sample.Schema{KeySchema: sample.KeySchema{SortKey: []string{"b"}}}, "a sort key without a partition key: name both"},
		{sample.Schema{KeySchema: sample.Keys("a", "a")}, `the key names an attribute twice (["a" "a"])`},
		{sample.Schema{KeySchema: sample.Keys("a", "b", "c")}, "2 attributes in the sort key: name one, only an index may have more"},
		{sample.Schema{KeySchema: sample.KeySchema{PartitionKey: []string{"a", "b"}}}, "2 attributes in the partition key: name one"},
		{sample.Schema{KeySchema: sample.Keys("")}, "a key attribute without a name"},
		{sample.Schema{Indexes: map[string]sample.IndexSchema{"": {KeySchema: sample.Keys("a")}}}, "an index without a name"},
		{sample.Schema{Indexes: map[string]sample.IndexSchema{"ab": {KeySchema: sample.Keys("a")}}}, `index "ab": an index's name has 3 to 255 letters`},
		{index("", "", ""), "index by-date: no partition key: name 1 to 4"},
		{index("", "a", ""), "index by-date: a sort key without a partition key"},
		{index("a b c d e", "", ""), "5 attributes in the partition key"},
		{index("z", "a b c d e", ""), "5 attributes in the sort key"},
		{index("a b", "b", ""), "twice"},
		{index("a", "b", "all"), `projection "all": write ALL, KEYS_ONLY or INCLUDE`},
		{index("a", "b", sample.ProjectInclude), "give both or neither"},
		{index("a", "b", sample.ProjectAll, "c"), "give both or neither"},
		{sample.Schema{Indexes: map[string]sample.IndexSchema{"by-date": {KeySchema: sample.Keys("")}}}, "without a name"},
	} {
		err := c.schema.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.schema, err, c.want)
		}
	}
}
