//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keyheat/keyheat/sample"
)

var (
	floodKeys      = flag.Int("flood.keys", 1000, "how many keys TestFloodOfHotKeys makes hot at once")
	floodTables    = flag.Int("flood.tables", 5000, "how many new tables TestFloodOfTables names in each second")
	floodProducers = flag.Int64("flood.producers", 25_000, "how many producers TestFloodOfProducers has")
	floodLasts     = flag.Duration("flood.lasts", 40*time.Second, "how long each flood lasts at least")
)

// floodConnections is how many producers send at once.
const floodConnections = 2000

// TestFloodOfHotKeys: many keys get hot at once and stay hot, a thousand in a table. Each has an
// incident of its own.
func TestFloodOfHotKeys(t *testing.T) {
	eachSiege(t, func(t *testing.T, w *siege) {
		const senders = 4
		var sent [senders]int64
		w.endure(t, "", func(ctx context.Context) {
			var going sync.WaitGroup
			for i := range senders {
				going.Go(func() { sent[i] = w.sendHot(ctx, t, *floodKeys/senders, i) })
			}
			going.Wait()
		})
		all := sent[0] + sent[1] + sent[2] + sent[3]
		w.counted(t, attacker, totals{all, all * 1100})
	})
}

// sendHot makes some keys hot in each second until ctx ends, and returns how many samples it sent.
func (w *siege) sendHot(ctx context.Context, t *testing.T, keys, sender int) (sent int64) {
	sink := w.sink(attacker, &timings{})
	for next := time.Now().Truncate(time.Second); ctx.Err() == nil; {
		var records []sample.Record
		for ; next.Before(time.Now()); next = next.Add(time.Second) {
			for i := range keys {
				table := fmt.Sprint(attacker, "-", i/250)
				records = append(records, sample.Record{Time: next.UnixMilli(), Table: table, PK: sample.KeyString(randomWord(sender, i)), Op: sample.PutItem, WCU: 1_100_000, Rate: 1, N: 1})
			}
		}
		if err := sink.Write(t.Context(), records); err != nil {
			t.Errorf("a batch of the flood was dropped: %v", err)
			return sent
		}
		sent += int64(len(records))
		time.Sleep(time.Until(next))
	}
	return sent
}

// randomWord returns a name that is like no other, so that each key has an incident of its own.
func randomWord(sender, n int) string {
	random := rand.New(rand.NewPCG(uint64(sender), uint64(n)))
	word := make([]byte, 16)
	for i := range word {
		word[i] = 'a' + byte(random.IntN(26))
	}
	return string(word)
}

// TestFloodOfBriefKeys: in one table, 100,000 keys are hot in each second, each once. The key
// that is hot in another table is found. It runs alone, as all floods do, because it holds how
// long that takes.
func TestFloodOfBriefKeys(t *testing.T) {
	const (
		topic     = "flood"
		perSecond = 100_000
		seconds   = 5
		message   = 500
		units     = sample.Milli(1100)
	)
	w := newHostile(t, topic)
	wrong := w.traffic(t, topic, 23)
	w.heat(t, w.traffic(t, topic, 17), 0, func() {
		began := time.Now()
		for n := 0; n < perSecond*seconds; n += message {
			wrong.next = began.Add(time.Duration(n) * time.Second / perSecond)
			time.Sleep(time.Until(wrong.next))
			wrong.body = wrong.body[:0]
			for i := range message {
				wrong.add("flooded", fmt.Sprint("key#", n+i), units)
			}
			wrong.produce(t, wrong.random.Int32N(partitions))
		}
	})
}

// TestFloodOfTables: a user names thousands of new tables in each second, whatever is answered. A
// table that was named before loses no sample, and the collector says what it refuses.
func TestFloodOfTables(t *testing.T) {
	const senders = 10
	eachSiege(t, func(t *testing.T, w *siege) {
		var named, counted atomic.Int64
		w.endure(t, "raise collect.tables", func(ctx context.Context) {
			var going sync.WaitGroup
			for range senders {
				going.Go(func() {
					for next := time.Now(); ctx.Err() == nil; time.Sleep(time.Until(next)) {
						next = next.Add(time.Second)
						last := named.Add(int64(*floodTables / senders))
						var batch strings.Builder
						for n := range *floodTables / senders {
							fmt.Fprintln(&batch, sampleOf(fmt.Sprint(attacker, last-int64(n))))
						}
						answer := w.sendOnce(t, http.DefaultClient, fmt.Sprint("producer-", last), batch.String())
						counted.Add(answer.Counted)
					}
				})
			}
			going.Wait()
		})
		w.counted(t, attacker, totals{counted.Load(), counted.Load()})
		t.Logf("%d tables named, the samples of %d counted", named.Load(), counted.Load())
	})
}

// TestFloodOfProducers: a user sends as many producers, of one batch each. Names beyond the user's
// room are refused, and the status page names the user.
func TestFloodOfProducers(t *testing.T) {
	eachSiege(t, func(t *testing.T, w *siege) {
		var taken, refused atomic.Int64
		w.endure(t, "", func(ctx context.Context) {
			client := &http.Client{Transport: again{&http.Transport{MaxIdleConnsPerHost: floodConnections}}}
			var names atomic.Int64
			var going sync.WaitGroup
			for range floodConnections {
				going.Go(func() {
					for n := names.Add(1); n <= *floodProducers; n = names.Add(1) {
						switch answer := w.sendOnce(t, client, fmt.Sprint("producer-", n), sampleOf(attacker)); answer.status {
						case http.StatusOK:
							taken.Add(answer.Counted)
						case http.StatusTooManyRequests:
							refused.Add(1)
						default:
							t.Errorf("a new producer gets %+v", answer)
						}
					}
				})
			}
			going.Wait()
			for ctx.Err() == nil { // so that it is refused until the end
				if answer := w.sendOnce(t, client, fmt.Sprint("producer-", names.Add(1)), sampleOf(attacker)); answer.status == http.StatusOK {
					taken.Add(answer.Counted)
				}
				time.Sleep(time.Second)
			}
		})
		within(t, time.Minute, "the status page names the user", func() error {
			page, err := w.reporter.get("/status")
			if err == nil && !strings.Contains(string(page), "refuses new producers of the user &#34;"+attacker) {
				err = errors.New("it does not")
			}
			return err
		})
		w.counted(t, attacker, totals{taken.Load(), taken.Load()})
		t.Logf("%d producers taken, %d refused", taken.Load(), refused.Load())
	})
}

func sampleOf(table string) string {
	return fmt.Sprintf(`{"ts":%d,"table":%q,"pk":"a","op":"PutItem","wcu":1}`, time.Now().UnixMilli(), table)
}

// answer is what a collector answers to a batch.
type answer struct {
	status  int
	Counted int64
	Error   string
}

// sendOnce sends the attacker's batch as another producer, once.
func (w *siege) sendOnce(t *testing.T, client *http.Client, producer, batch string) (a answer) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+w.collectors[0].address+"/v1/samples", strings.NewReader(batch))
	if err != nil {
		t.Error(err)
		return a
	}
	r.Header = http.Header{"Content-Type": {"application/x-ndjson"}, "Keyheat-Producer": {producer}, "Keyheat-Sequence": {"1"}, "User": {attacker}}
	response, err := client.Do(r)
	if err != nil {
		t.Error(err)
		return a
	}
	defer response.Body.Close()
	a.status = response.StatusCode
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		t.Errorf("the answer %d is no JSON: %v", a.status, err)
	}
	return a
}
