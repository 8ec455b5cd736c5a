package detect_test

import (
	"reflect"
	"testing"

	"github.com/keyheat/keyheat/detect"
	"github.com/keyheat/keyheat/sample"
)

func TestFactsOverOthers(t *testing.T) {
	t.Parallel()
	described := detect.TableFacts{
		Billing: detect.BillingProvisioned, WCU: 100, RCU: 200, LSIs: []string{"by-date"}, KeySchema: sample.Keys("pk", "sk"),
		Stream: "KEYS_ONLY", Indexes: map[string]detect.IndexFacts{"a": {KeySchema: sample.Keys("x"), WCU: 1}, "b": {}},
	}
	unchanged := described
	for _, c := range []struct {
		story           string
		written, stored *detect.TableFacts
		want            *detect.TableFacts
	}{
		{"nothing known", nil, nil, nil},
		{"nothing written", nil, &described, &described},
		{"nothing stored", &described, nil, &described},
		{"what is written stands before", &detect.TableFacts{
			Billing: detect.BillingOnDemand, WCU: 1, LSIs: []string{}, KeySchema: sample.Keys("id"), Stream: "NEW_IMAGE",
		}, &described, &detect.TableFacts{
			Billing: detect.BillingOnDemand, WCU: 1, LSIs: []string{}, KeySchema: sample.Keys("id"), Stream: "NEW_IMAGE", Indexes: described.Indexes,
		}},
		{"what is not is taken from what is stored", &detect.TableFacts{
			KeySchema: sample.KeySchema{PartitionKey: []string{"id"}},
			Indexes:   map[string]detect.IndexFacts{"a": {WCU: 5}, "c": {KeySchema: sample.Keys("z")}},
		}, &described, &detect.TableFacts{
			Billing: detect.BillingProvisioned, WCU: 100, RCU: 200, LSIs: []string{"by-date"}, KeySchema: sample.Keys("id", "sk"), Stream: "KEYS_ONLY",
			Indexes: map[string]detect.IndexFacts{"a": {KeySchema: sample.Keys("x"), WCU: 5}, "b": {}, "c": {KeySchema: sample.Keys("z")}},
		}},
	} {
		if got := c.written.Merge(c.stored); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.story, got, c.want)
		}
	}
	if !reflect.DeepEqual(described, unchanged) {
		t.Errorf("the stored facts were changed: %+v", described)
	}
}

// TestFactsByTable finds the facts of a table, also if one of the two lacks an account or
// Region, but not if several tables match.
func TestFactsByTable(t *testing.T) {
	t.Parallel()
	here := detect.Target{Account: "123456789012", Region: "eu-west-1", Table: "orders"}
	there := detect.Target{Account: "123456789012", Region: "us-west-2", Table: "orders"}
	facts := map[detect.Target]*detect.TableFacts{
		here: {WCU: 1}, there: {WCU: 2}, {Table: "users"}: {WCU: 3}, {Region: "eu-west-1", Table: "carts"}: {WCU: 4},
	}
	all := detect.FactsByTable{}
	for target, f := range facts {
		all.Add(target, f)
	}
	index := here
	index.Index = "by-status"
	for _, c := range []struct {
		says string
		of   detect.Target
		wcu  float64
	}{
		{"its own", here, 1},
		{"its own of two Regions", there, 2},
		{"its table's", index, 1},
		{"the Region decides", detect.Target{Region: "us-west-2", Table: "orders"}, 2},
		{"may be either", detect.Target{Table: "orders"}, 0},
		{"may be either of the account's", detect.Target{Account: "123456789012", Table: "orders"}, 0},
		{"another Region's are none", detect.Target{Region: "eu-central-1", Table: "orders"}, 0},
		{"nothing tells where they are from", detect.Target{Account: "1", Region: "eu-west-1", Table: "users"}, 3},
		{"nothing tells where the table is", detect.Target{Table: "carts"}, 4},
		{"unknown table", detect.Target{Table: "absent"}, 0},
	} {
		var wcu float64
		if f := all.Find(c.of); f != nil {
			wcu = f.WCU
		}
		if wcu != c.wcu {
			t.Errorf("%s: %s has the facts %v, want %v", c.says, c.of.Name(), wcu, c.wcu)
		}
	}
	if detect.FactsByTable(nil).Find(here) != nil {
		t.Error("facts of nothing")
	}
}
