package shardkey_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/keyheat/keyheat/shardkey"
)

// TestVectors holds the names to the ones that the clients in other languages make and read.
func TestVectors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../clients/conformance/shards.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Picks []struct {
			Form                  shardkey.Form
			Shards, Shard         int
			Base, Attribute, Name string
		}
		None []struct {
			Form shardkey.Form
			Name string
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors.Picks {
		s, err := shardkey.New(v.Shards, v.Form)
		if err != nil {
			t.Fatal(err)
		}
		name, err := s.Pick(v.Base, v.Attribute)
		if err != nil || name != v.Name {
			t.Errorf("Pick(%q, %q) of %d = %q, %v, want %q", v.Base, v.Attribute, v.Shards, name, err, v.Name)
		}
		if base, shard, ok := v.Form.Parse(v.Name); !ok || shard != v.Shard || !v.Form.Alone && base != v.Base {
			t.Errorf("Parse(%q) = %q, %d, %t, want %q, %d", v.Name, base, shard, ok, v.Base, v.Shard)
		}
	}
	for _, v := range vectors.None {
		if base, shard, ok := v.Form.Parse(v.Name); ok {
			t.Errorf("Parse(%q) = %q, %d, it is no key shard of %q", v.Name, base, shard, v.Form)
		}
	}
	if len(vectors.Picks) != 24 || len(vectors.None) != 13 {
		t.Errorf("%d picks and %d others", len(vectors.Picks), len(vectors.None))
	}
}
