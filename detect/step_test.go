package detect_test

import (
	"reflect"
	"testing"

	"github.com/keyheat/keyheat/detect"
)

// TestPrewarmPaysForWhatIsMissing: warm throughput is paid for once, above what the table has.
func TestPrewarmPaysForWhatIsMissing(t *testing.T) {
	t.Parallel()
	priced := detect.Policy{WarmWritePrice: 0.01, WarmReadPrice: 0.002}
	onDemand := &detect.TableFacts{Billing: detect.BillingOnDemand}
	warm := &detect.TableFacts{Billing: detect.BillingOnDemand, WarmWCU: 6000}
	provisioned := &detect.TableFacts{Billing: detect.BillingProvisioned, WCU: 1000, RCU: 2000}
	for name, c := range map[string]struct {
		kind   detect.Subject
		units  float64
		facts  *detect.TableFacts
		policy detect.Policy
		want   *detect.Cost
	}{
		"a new table has the initial 4,000": {detect.KeyWrites, 7000, onDemand, priced, &detect.Cost{WarmWCU: 3000, WarmUSD: new(30.0)}},
		"reads have 12,000":                 {detect.KeyReads, 15000, onDemand, priced, &detect.Cost{WarmRCU: 3000, WarmUSD: new(6.0)}},
		"DescribeTable knows more":          {detect.KeyWrites, 7000, warm, priced, &detect.Cost{WarmWCU: 1000, WarmUSD: new(10.0)}},
		"a table that has it pays nothing":  {detect.KeyWrites, 6000, warm, priced, nil},
		"provisioned units are warm":        {detect.KeyWrites, 7000, provisioned, priced, &detect.Cost{WarmWCU: 6000, WarmUSD: new(60.0)}},
		"nothing is known of the table":     {detect.KeyWrites, 7000, nil, priced, &detect.Cost{WarmWCU: 7000, WarmUSD: new(70.0)}},
		"no price is given":                 {detect.KeyWrites, 7000, onDemand, detect.Policy{}, &detect.Cost{WarmWCU: 3000}},
	} {
		if got := detect.Prewarm(c.kind, c.units, "", c.facts, c.policy); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestFanOutPaysForEachShardMore: a query of all key shards is one request more for each.
func TestFanOutPaysForEachShardMore(t *testing.T) {
	t.Parallel()
	if got, want := detect.FanOut(40, 2, detect.Policy{ReadPrice: 0.125}), (&detect.Cost{RCU: 40, DayUSD: new(0.432)}); !reflect.DeepEqual(got, want) {
		t.Errorf("40 queries of 2 shards more: %+v", got)
	}
	if got := detect.FanOut(0, 2, detect.Policy{}); got != nil {
		t.Errorf("a key that nobody queries: %+v", got)
	}
}
