package change_test

import (
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
)

// TestIndexes checks the price of a write on each index, by the cases of the Developer Guide,
// "Using global secondary indexes", write capacity units. The item is {id, s, n, big}: "big" is
// an attribute of 2,000 bytes.
func TestIndexes(t *testing.T) {
	t.Parallel()
	const id = `"id":{"S":"1"}`
	big := `"big":{"S":"` + strings.Repeat("x", 2000) + `"}`
	image := func(attributes ...string) string { return "{" + strings.Join(attributes, ",") + "}" }
	const open, closed, seven, eight = `"s":{"S":"open"}`, `"s":{"S":"closed"}`, `"n":{"N":"7"}`, `"n":{"N":"8"}`
	index := sample.IndexSchema{KeySchema: sample.Keys("s")}
	sorted := sample.IndexSchema{KeySchema: sample.Keys("s", "n")}
	keysOnly, include := index, index
	keysOnly.Projection = sample.ProjectKeysOnly
	include.Projection, include.Include = sample.ProjectInclude, []string{"n", "absent"}
	for _, c := range []struct {
		story, event, before, after string
		index                       sample.IndexSchema
		want                        string
	}{
		{"an entry appears with its item", "INSERT", "", image(id, open, big), index, "by-date open/ PutItem 2"},
		{"only what is projected is priced", "INSERT", "", image(id, open, big), keysOnly, "by-date open/ PutItem 1"},
		{"an entry disappears with its item", "REMOVE", image(id, open, big), "", index, "by-date open/ DeleteItem 2"},
		{"an item that lacks the key is in no index", "INSERT", "", image(id, big), index, ""},
		{"nor is one that lacks the sort key", "INSERT", "", image(id, open, big), sorted, ""},
		{"nor is one whose attribute can be no key", "INSERT", "", image(id, `"s":{"BOOL":true}`), index, ""},
		{"an update brings it in", "MODIFY", image(id, big), image(id, open, big), index, "by-date open/ PutItem 2"},
		{"an update takes it out", "MODIFY", image(id, open, big), image(id, big), index, "by-date open/ DeleteItem 2"},
		{"an update of what never was in it", "MODIFY", image(id), image(id, big), index, ""},
		{"a projected attribute changes: the larger entry", "MODIFY", image(id, open, big), image(id, open, seven), index, "by-date open/ UpdateItem 2"},
		{"nothing projected changes", "MODIFY", image(id, open, big), image(id, open), keysOnly, ""},
		{"an attribute beside the included changes", "MODIFY", image(id, open, seven), image(id, open, seven, big), include, ""},
		{"an included attribute changes", "MODIFY", image(id, open, seven, big), image(id, open, eight), include, "by-date open/ UpdateItem 1"},
		{"the key changes: a delete and a put, each on its own", "MODIFY", image(id, open, big), image(id, closed), index,
			"by-date open/ DeleteItem 2; by-date closed/ PutItem 1"},
		{"the sort key changes: both on one partition", "MODIFY", image(id, open, seven), image(id, open, eight), sorted,
			"by-date open/7 DeleteItem 1; by-date open/8 PutItem 1"},
		{"a number in another spelling is no change", "MODIFY", image(id, open, seven), image(id, open, `"n":{"N":"7.0"}`), sorted, ""},
		{"keys of many attributes", "INSERT", "", image(id, open, seven, `"a":{"S":"x|y"}`, `"b":{"B":"AAE="}`),
			sample.IndexSchema{KeySchema: sample.KeySchema{PartitionKey: []string{"s", "n", "a", "b"}, SortKey: []string{"id", "b"}}},
			`by-date open|7|x\|y|AAE=/1|AAE= PutItem 1`},
	} {
		tables := sample.Schemas{"orders": {Indexes: map[string]sample.IndexSchema{"by-date": c.index, "local": {KeySchema: c.index.KeySchema, Local: true}}}}
		got := decode(tables, record(c.event, image(id), c.before, c.after), 0).reports()
		_, got, _ = strings.Cut(got, "; ") // the table's own record
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.story, got, c.want)
		}
	}
}

// TestIndexesNeedImages checks that the load on an index is never guessed.
func TestIndexesNeedImages(t *testing.T) {
	t.Parallel()
	tables := sample.Schemas{"orders": {Indexes: map[string]sample.IndexSchema{"by-date": {KeySchema: sample.Keys("id")}}}}
	keys := `{"id":{"S":"1"}}`
	for _, c := range []struct{ story, record, want string }{
		{"keys only", record("MODIFY", keys, "", ""), " 1/ UpdateItem 1; bad no_images_for_indexes"},
		{"the new image only", record("MODIFY", keys, "", keys), " 1/ UpdateItem 1; bad no_images_for_indexes"},
		{"a put needs no old one", record("INSERT", keys, "", keys), " 1/ PutItem 1; by-date 1/ PutItem 1"},
		{"a delete no new one", record("REMOVE", keys, keys, ""), " 1/ DeleteItem 1; by-date 1/ DeleteItem 1"},
	} {
		if got := decode(tables, c.record, 0).reports(); got != c.want {
			t.Errorf("%s: %q, want %q", c.story, got, c.want)
		}
	}
}
