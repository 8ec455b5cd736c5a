package sample_test

import (
	"math"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
)

// TestCheckOfForeignRecords holds what a decoder of another form may try.
func TestCheckOfForeignRecords(t *testing.T) {
	t.Parallel()
	sound := sample.Record{Time: 1763692032185, Table: "t", PK: sample.KeyString("a"), Op: sample.GetItem, Rate: 1, N: 1}
	if reason := sound.Check(); reason != "" {
		t.Fatalf("a sound record is %s", reason)
	}
	read := sound
	read.Op, read.WCU = sample.Query, 1
	if reason := read.Check(); reason != sample.ReasonBadUnits {
		t.Errorf("a query with write units is %q", reason)
	}
	again := sound // a transaction that is sent again reads what it wrote
	again.Op, again.WCU, again.RCU = sample.TransactWriteItems, 0, 2000
	if reason := again.Check(); reason != "" {
		t.Errorf("a transaction that was sent again is %q", reason)
	}
	for want, spoil := range map[sample.Reason]func(r *sample.Record){
		sample.ReasonBadTime:     func(r *sample.Record) { r.Time = 0 },
		sample.ReasonBadRead:     func(r *sample.Record) { r.Read = 3 },
		sample.ReasonBadRate:     func(r *sample.Record) { r.Rate = math.NaN() },
		sample.ReasonBadN:        func(r *sample.Record) { r.N = 0 },
		sample.ReasonBadCalls:    func(r *sample.Record) { r.Calls = math.NaN() },
		sample.ReasonBadRetries:  func(r *sample.Record) { r.Attempts, r.Waited = 2, math.NaN() },
		sample.ReasonBadUnits:    func(r *sample.Record) { r.WCU = math.MinInt64 },
		sample.ReasonBadText:     func(r *sample.Record) { r.Region = strings.Repeat("r", 256) },
		sample.ReasonBadThrottle: func(r *sample.Record) { r.Throttle = "false" },
		sample.ReasonBadKey:      func(r *sample.Record) { r.SK = sample.Key{Type: "SN", Text: "a|"} },
	} {
		r := sound
		spoil(&r)
		if reason := r.Check(); reason != want {
			t.Errorf("%+v is %q, want %s", r, reason, want)
		}
	}
}
