//go:build e2e

package e2e_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/must"
)

var (
	memoryTables  = flag.Int("memory.tables", 800, "how many tables TestReporterMemory has, with 64 KiB of judge.memory each, and 64 MiB at least; a multiple of 32")
	memorySeconds = flag.Int("memory.seconds", 20, "for how long TestReporterMemory writes")
)

// TestReporterMemory holds the resident size of a reporter to what docs/CONFIGURATION.md
// says of judge.memory, 1.3 times as much and 64 MiB, with many small tables as they are
// used: 10 requests a second of each, for 300 keys.
func TestReporterMemory(t *testing.T) {
	const mib, requests, keys = 1 << 20, 10, 300
	tables, seconds := *memoryTables, *memorySeconds
	set := max(64*mib, tables*64<<10)
	w := newScenario(t, "tables", fmt.Sprintf("judge: {memory: %d}", set))
	w.startCollectors(t)
	client := w.producer(t, "tables")
	from := time.Now()
	random := rand.New(rand.NewPCG(seed, 12))
	for second := range seconds {
		at := from.Add(time.Duration(second) * time.Second)
		time.Sleep(time.Until(at))
		for part := range 32 {
			var body []byte
			for n := range tables / 32 * requests {
				body = fmt.Appendf(body, `{"ts":%d,"table":"table-%04d","pk":"customer#%08d","op":"UpdateItem","wcu":1,"caller":"orders-api"}`+"\n",
					at.UnixMilli()+int64(n%1000), part*tables/32+n/requests, random.IntN(keys))
			}
			client.Produce(t.Context(), &kgo.Record{Partition: int32(part % partitions), Timestamp: at, Value: body}, nil)
		}
	}
	must.Succeed(t, client.Flush(t.Context()))
	began := time.Now()
	within(t, 5*time.Minute, "every second of every table is judged", func() error {
		w.reporter.note()
		var closed int
		if err := w.database.QueryRow(`SELECT count(*) FROM windows`).Scan(&closed); err != nil {
			return err
		}
		if closed < tables*(seconds-5) {
			return fmt.Errorf("%d of %d seconds are stored", closed, tables*seconds)
		}
		return nil
	})
	took := time.Since(began)
	w.reporter.ready(t)
	w.reporter.stop(t)
	most := int64(set*13/10 + 64*mib)
	if took > 15*time.Second {
		// On a busy machine it has a backlog, for which the page says so much.
		t.Logf("the machine was too busy: the reporter had a backlog of %s, and was not held to the page's %d MiB but to twice as much; that this passes is no evidence for the page",
			took.Round(time.Second), most/mib)
		most *= 2
	}
	if w.reporter.peak > most {
		t.Errorf("the reporter was %d MiB large, more than %d", w.reporter.peak/mib, most/mib)
	}
	t.Logf("%d tables, %d seconds in %s: at most %d MiB resident", tables, seconds, took.Round(time.Second), w.reporter.peak/mib)
}
