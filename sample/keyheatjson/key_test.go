package keyheatjson_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
)

// keyVector is one entry of ../testdata/keys.json, which describes its format.
type keyVector struct {
	Name string              `json:"name"`
	JSON json.RawMessage     `json:"json"`
	Also []json.RawMessage   `json:"also"`
	Type string              `json:"type"`
	Text string              `json:"text"`
	Bad  sample.RejectReason `json:"bad"`
}

func keyVectors(t *testing.T) []keyVector {
	t.Helper()
	text, err := os.ReadFile("../testdata/keys.json")
	must.Succeed(t, err)
	var file struct{ Keys []keyVector }
	must.Succeed(t, json.Unmarshal(text, &file))
	if len(file.Keys) < 40 {
		t.Fatalf("only %d vectors", len(file.Keys))
	}
	return file.Keys
}

func TestKeyVectors(t *testing.T) {
	t.Parallel()
	owner := map[sample.Key]string{}
	for _, v := range keyVectors(t) {
		want := sample.Key{Type: v.Type, Text: v.Text}
		for _, spelling := range append([]json.RawMessage{v.JSON}, v.Also...) {
			k := decode(`{"ts":1763692032185,"table":"orders","op":"GetItem","pk":`+string(spelling)+`}`, 0)
			switch {
			case v.Bad != "":
				if len(k.bad) != 1 || k.bad[0].Reason != v.Bad || len(k.records) != 0 {
					t.Errorf("%s: %s gave %+v, want %s", v.Name, spelling, *k, v.Bad)
				}
			case len(k.records) != 1 || k.records[0].PK != want:
				t.Errorf("%s: %s gave %+v, want %+v", v.Name, spelling, *k, want)
			}
		}
		if v.Bad != "" {
			continue
		}
		if other, taken := owner[want]; taken {
			t.Errorf("%q and %q are one key", v.Name, other)
		}
		owner[want] = v.Name
		if back := sample.JoinKeys(want.Parts()...); back != want {
			t.Errorf("%s: came back from its parts as %+v", v.Name, back)
		}
	}
}
