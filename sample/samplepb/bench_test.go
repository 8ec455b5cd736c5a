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

func (c *counter) Record(r *sample.Record)   { c.records++; c.load += r.WCU }
func (c *counter) Bad(sample.Reason, []byte) { c.bad++ }

// BenchmarkDecode reads batches of a thousand samples, of so many keys.
func BenchmarkDecode(b *testing.B) {
	for _, keys := range []int{100, 1000} {
		b.Run(fmt.Sprint(keys, " keys"), func(b *testing.B) {
			records := make([]sample.Record, 1000)
			for i := range records {
				records[i] = sample.Record{
					Time: 1_763_692_032_185 + int64(i), Table: "orders-production", PK: sample.KeyString(fmt.Sprintf("customer#%08d", i%keys)),
					Op: sample.UpdateItem, WCU: 2000, Bytes: 1733, Rate: 0.01, N: 1, Region: "eu-central-1",
				}
			}
			message := samplepb.NewEncoder().Append(nil, records)
			d, c := samplepb.NewDecoder(), new(counter)
			b.SetBytes(int64(len(message)))
			b.ReportAllocs()
			used := cputime.Used() // the clock's time would be that of what else the machine does, too
			for b.Loop() {
				d.Decode(message, 0, c)
			}
			used = cputime.Used() - used
			if c.records != len(records)*b.N || c.bad > 0 {
				b.Fatalf("%d records and %d bad", c.records, c.bad)
			}
			b.ReportMetric(float64(used.Nanoseconds())/float64(c.records), "cpu-ns/sample")
		})
	}
}
