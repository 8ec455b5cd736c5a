package samplepb_test

import (
	"fmt"
	"testing"

	"github.com/keyheat/keyheat/internal/testsupport/cputime"
	"github.com/keyheat/keyheat/sample"
	"github.com/keyheat/keyheat/sample/samplepb"
)

// counter is a handler that only counts.
type counter struct {
	records, bad int
	load         sample.Milli
}

func (c *counter) Record(r *sample.Record)         { c.records++; c.load += r.WCU }
func (c *counter) Bad(sample.RejectReason, []byte) { c.bad++ }

// BenchmarkDecode reads batches of a thousand samples with various numbers of keys: batches
// with units only, and batches with calls and attempts, as package awssdk sends.
func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct {
		name     string
		keys     int
		calls    float64
		attempts int64
	}{
		{"100 keys", 100, 0, 0},
		{"1000 keys", 1000, 0, 0},
		{"100 keys with calls", 100, 1, 1},
	} {
		b.Run(c.name, func(b *testing.B) {
			records := make([]sample.Record, 1000)
			for i := range records {
				records[i] = sample.Record{
					Time: 1_763_692_032_185 + int64(i), Table: "orders-production", PK: sample.KeyString(fmt.Sprintf("customer#%08d", i%c.keys)),
					Op: sample.UpdateItem, WCU: 2000, Bytes: 1733, Rate: 0.01, N: 1, Region: "eu-central-1",
					Calls: c.calls, Attempts: c.attempts,
				}
			}
			message := samplepb.NewEncoder().Append(nil, records)
			d, k := samplepb.NewDecoder(), new(counter)
			b.SetBytes(int64(len(message)))
			b.ReportAllocs()
			used := cputime.Used() // wall-clock time would include the machine's other work
			for b.Loop() {
				d.Decode(message, 0, k)
			}
			used = cputime.Used() - used
			if k.records != len(records)*b.N || k.bad > 0 {
				b.Fatalf("%d records and %d bad", k.records, k.bad)
			}
			b.ReportMetric(float64(used.Nanoseconds())/float64(k.records), "cpu-ns/sample")
		})
	}
}
