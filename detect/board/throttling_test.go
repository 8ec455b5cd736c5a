package board_test

import (
	"testing"

	"github.com/keyheat/keyheat/detect"
)

// TestSampledThrottlingIsProven samples one request in a hundred: the demand on a
// table is then an estimate, and so is that its keys were far from a limit.
func TestSampledThrottlingIsProven(t *testing.T) {
	t.Parallel()
	facts := &detect.TableFacts{Billing: detect.BillingProvisioned, WCU: 600}
	for _, c := range []struct {
		name      string
		workloads []workload
		facts     *detect.TableFacts
		kind      detect.Kind
		found     bool
	}{
		{"seven samples are some 700 units, perhaps", []workload{{key: "a", units: 7, rate: 0.01}}, facts, detect.TableStarvation, false},
		{"forty samples are more than 600", []workload{{key: "a", units: 40, rate: 0.01}}, facts, detect.TableStarvation, true},
		{"a throttling partition may have a hot key, sampled as 600", []workload{{key: "a", units: 6, rate: 0.01, cause: keyRangeCause, throttled: 1}}, nil, detect.HotPartition, false},
		{"no key is near a limit", []workload{{key: "a", units: 30, rate: 0.5, cause: keyRangeCause, throttled: 1}}, nil, detect.HotPartition, true},
	} {
		s := story{workloads: c.workloads, facts: c.facts}
		if f := single(t, s.findings(), c.kind); (f != nil) != c.found {
			t.Errorf("%s: found %+v", c.name, f)
		}
	}
}
