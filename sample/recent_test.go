package sample_test

import (
	"strconv"
	"testing"

	"github.com/keyheat/keyheat/sample"
)

func TestRepeatedSamples(t *testing.T) {
	t.Parallel()
	recent := sample.NewRecent(1024)
	put := sample.Record{ID: "r-1", Table: "orders", PK: sample.KeyString("a"), SK: sample.KeyString("1"), Op: sample.PutItem, N: 1, Rate: 1}
	if recent.Repeats(&put) || !recent.Repeats(&put) {
		t.Error("the second delivery of a sample is its repetition, not the first")
	}
	for name, change := range map[string]func(*sample.Record){
		"another item of the call":                func(r *sample.Record) { r.SK = sample.KeyString("2") },
		"another key of the call":                 func(r *sample.Record) { r.PK = sample.KeyString("b") },
		"the change on an index":                  func(r *sample.Record) { r.Index = "by-date" },
		"the throttled attempt before the served": func(r *sample.Record) { r.Throttle = "TableWriteKeyRangeThroughputExceeded" },
		"a later call":                            func(r *sample.Record) { r.ID = "r-2" },
	} {
		other := put
		change(&other)
		if recent.Repeats(&other) {
			t.Errorf("%s is taken for a repetition", name)
		}
	}
	unnamed := put
	unnamed.ID = ""
	if first := recent.Repeats(&unnamed); first || recent.Repeats(&unnamed) {
		t.Error("samples without an ID are taken for repetitions")
	}
	known := 0
	for i := range 100_000 {
		r := put
		r.ID = strconv.Itoa(i)
		if recent.Repeats(&r) {
			t.Fatal("a new ID is taken for a repetition")
		}
		if r.ID = strconv.Itoa(i - 250); i >= 250 && recent.Repeats(&r) {
			known++
		}
	}
	if known < 98_000 { // the sets fill unevenly
		t.Errorf("%d of 99,750 repetitions after 250 samples are known", known)
	}
}

func BenchmarkRecent(b *testing.B) {
	recent := sample.NewRecent(1 << 14)
	r := sample.Record{Table: "orders", PK: sample.KeyString("user#1234567"), SK: sample.KeyString("2026-11-24T12:00:00Z"), Op: sample.PutItem}
	ids := make([]string, 1<<16)
	for i := range ids {
		ids[i] = "6f1c2a7e-0d0b-4a58-9a52-" + strconv.Itoa(100_000_000_000+i)
	}
	for i := 0; b.Loop(); i++ {
		r.ID = ids[i&(len(ids)-1)]
		recent.Repeats(&r)
	}
}
