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
		if got := c.written.Over(c.stored); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.story, got, c.want)
		}
	}
	if !reflect.DeepEqual(described, unchanged) {
		t.Errorf("the stored facts were changed: %+v", described)
	}
}
