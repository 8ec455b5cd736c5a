package sample_test

import (
	"math"
	"strings"
	"testing"

	"github.com/keyheat/keyheat/sample"
)

// TestCheckOfForeignRecords checks records that a decoder of another format might make.
func TestCheckOfForeignRecords(t *testing.T) {
	t.Parallel()
	sound := sample.Record{Time: 1763692032185, Table: "orders", PK: sample.KeyString("a"), Op: sample.GetItem, Rate: 1, N: 1}
	if reason := sound.Check(); reason != "" {
		t.Fatalf("a sound record is %s", reason)
	}
	read := sound
	read.Op, read.WCU = sample.Query, 1
	if reason := read.Check(); reason != sample.RejectBadUnits {
		t.Errorf("a query with write units is %q", reason)
	}
	again := sound // a retried transaction reads the items that it wrote
	again.Op, again.WCU, again.RCU = sample.TransactWriteItems, 0, 2000
	if reason := again.Check(); reason != "" {
		t.Errorf("a transaction that was sent again is %q", reason)
	}
	for want, spoil := range map[sample.RejectReason]func(r *sample.Record){
		sample.RejectBadTime:     func(r *sample.Record) { r.Time = 0 },
		sample.RejectBadRead:     func(r *sample.Record) { r.Read = 3 },
		sample.RejectBadRate:     func(r *sample.Record) { r.Rate = math.NaN() },
		sample.RejectBadN:        func(r *sample.Record) { r.N = 0 },
		sample.RejectBadCalls:    func(r *sample.Record) { r.Calls = math.NaN() },
		sample.RejectBadRetries:  func(r *sample.Record) { r.Attempts, r.Waited = 2, math.NaN() },
		sample.RejectBadLost:     func(r *sample.Record) { r.Op, r.Conflicts = sample.PutItem, 2 },
		sample.RejectBadUnits:    func(r *sample.Record) { r.WCU = math.MinInt64 },
		sample.RejectBadText:     func(r *sample.Record) { r.Region = strings.Repeat("r", 256) },
		sample.RejectBadThrottle: func(r *sample.Record) { r.Throttle = "false" },
		sample.RejectBadKey:      func(r *sample.Record) { r.SK = sample.Key{Type: "SN", Text: "a|"} },
	} {
		r := sound
		spoil(&r)
		if reason := r.Check(); reason != want {
			t.Errorf("%+v is %q, want %s", r, reason, want)
		}
	}
}
