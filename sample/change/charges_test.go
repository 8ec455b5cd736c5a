package change_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/keyheat/keyheat/internal/testsupport/streamstest"
	"github.com/keyheat/keyheat/internal/testsupport/streamstest/model"
	"github.com/keyheat/keyheat/sample"
)

// indexed is a table with every kind of index, as the fake of DynamoDB has it.
var indexed = model.Schema{
	Name: "orders", Key: model.Key{Partition: []string{"id"}, Sort: []string{"n"}}, Types: map[string]string{"n": "N"},
	Indexes: []model.Index{
		{Name: "all", Key: model.Key{Partition: []string{"a"}}},
		{Name: "keys", Key: model.Key{Partition: []string{"a", "b"}, Sort: []string{"c"}}, Projection: "KEYS_ONLY"},
		{Name: "some", Key: model.Key{Partition: []string{"c"}, Sort: []string{"n"}}, Projection: "INCLUDE", Include: []string{"x"}},
	},
}

// schemaOf returns the same table as a Decoder knows it.
func schemaOf(s model.Schema) sample.Schema {
	out := sample.Schema{
		KeySchema: sample.KeySchema{PartitionKey: s.Key.Partition, SortKey: s.Key.Sort}, Indexes: make(map[string]sample.IndexSchema),
	}
	for _, x := range s.Indexes {
		out.Indexes[x.Name] = sample.IndexSchema{
			KeySchema:  sample.KeySchema{PartitionKey: x.Key.Partition, SortKey: x.Key.Sort},
			Projection: sample.Projection(x.Projection), Include: x.Include,
		}
	}
	return out
}

// TestLoadEqualsASecondComputation draws writes, and compares the charges of their records, on
// the table and on every index, with the fake's own prices. The fake shares no code with this
// package.
func TestLoadEqualsASecondComputation(t *testing.T) {
	t.Parallel()
	tables := sample.Schemas{"orders": schemaOf(indexed)}
	rapid.Check(t, func(r *rapid.T) {
		table := streamstest.New(streamstest.Options{Seed: 1}).CreateTable(indexed)
		for range rapid.IntRange(1, 8).Draw(r, "writes") {
			key := model.Item{"id": model.S("1"), "n": model.N(rapid.SampledFrom([]string{"1", "1.0", "2"}).Draw(r, "n"))}
			var err error
			switch rapid.SampledFrom([]string{"update", "update", "update", "delete", "expire"}).Draw(r, "write") {
			case "delete":
				err = table.Delete(key)
			case "expire":
				err = table.Expire(key)
			default:
				set, remove := drawn(r)
				err = table.Update(key, set, remove...)
			}
			if err != nil {
				r.Fatal(err)
			}
		}
		for _, w := range table.Written() {
			k := decode(tables, recordOf(r, w), 0)
			var got []string
			for _, one := range k.records {
				got = append(got, fmt.Sprintf("%s[%s] %g", one.Index, one.PK, float64(one.WCU)/1000))
			}
			if want := charged(indexed.Charges(w)); !slices.Equal(got, want) || len(k.bad) > 0 {
				r.Fatalf("%+v costs %q, by the second computation %q; bad %v", w, got, want, k.bad)
			}
		}
	})
}

// drawn returns attributes to set and to remove. Key attributes are short texts; the others may
// be anything.
func drawn(r *rapid.T) (set model.Item, remove []string) {
	set = model.Item{}
	for _, name := range []string{"a", "b", "c", "x", "y"} {
		switch rapid.SampledFrom([]string{"set", "leave", "set", "leave", "remove"}).Draw(r, name) {
		case "remove":
			remove = append(remove, name)
		case "set":
			set[name] = model.S(rapid.SampledFrom([]string{"p", "q"}).Draw(r, "text"))
			if name == "x" || name == "y" {
				set[name] = anything(r, 2)
			}
		}
	}
	return set, remove
}

func anything(r *rapid.T, depth int) model.Value {
	kinds := []string{"S", "S", "N", "B", "BOOL", "NULL", "SS", "NS"}
	if depth > 0 {
		kinds = append(kinds, "L", "M")
	}
	yes := true
	switch rapid.SampledFrom(kinds).Draw(r, "kind") {
	case "N":
		return model.N(rapid.SampledFrom([]string{"0", "-1.50", "12345678901234567890", "1e-7", "100000"}).Draw(r, "number"))
	case "B":
		return model.B(rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(r, "binary"))
	case "BOOL":
		return model.Value{BOOL: &yes}
	case "NULL":
		return model.Value{NULL: &yes}
	case "SS":
		return model.Value{SS: rapid.SliceOfNDistinct(rapid.StringN(1, 5, -1), 1, 3, rapid.ID).Draw(r, "set")}
	case "NS":
		return model.Value{NS: []string{"1", "2.5"}}
	case "L":
		return model.Value{L: []model.Value{anything(r, depth-1), anything(r, depth-1)}}
	case "M":
		return model.Value{M: map[string]model.Value{"é": anything(r, depth-1), "k": anything(r, depth-1)}}
	}
	return model.S(strings.Repeat("é", rapid.SampledFrom([]int{0, 1, 300, 500, 600, 2000}).Draw(r, "length")))
}

// recordOf returns a write as a stream shows it.
func recordOf(r *rapid.T, w model.Write) string {
	text := func(i model.Item) string {
		if i == nil {
			return ""
		}
		raw, err := json.Marshal(i)
		if err != nil {
			r.Fatal(err)
		}
		return string(raw)
	}
	event := "MODIFY"
	if w.Old == nil {
		event = "INSERT"
	} else if w.New == nil {
		event = "REMOVE"
	}
	out := record(event, text(w.Key), text(w.Old), text(w.New))
	if w.Expired {
		out = strings.Replace(out, "{", `{"userIdentity":{"type":"Service","principalId":"dynamodb.amazonaws.com"},`, 1)
	}
	return out
}

// charged formats the fake's charges, one a line.
func charged(charges []model.Charge) (all []string) {
	for _, c := range charges {
		names := []string{"id"}
		for _, x := range indexed.Indexes {
			if x.Name == c.Index {
				names = x.Key.Partition
			}
		}
		var key []string
		for _, name := range names {
			key = append(key, *c.Key[name].S)
		}
		all = append(all, fmt.Sprintf("%s[%s] %g", c.Index, strings.Join(key, "|"), c.Units))
	}
	return all
}
