//go:build e2e

package e2e_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/keyheat/keyheat/internal/testsupport/must"
	"github.com/keyheat/keyheat/sample"
)

var (
	latencyTrials = flag.Int("latency.trials", 3, "how many keys TestLatency makes hot, one after another")
	latencyRate   = flag.Int64("latency.rate", 3000, "how many write units a second each of these keys needs")
	latencyStrict = flag.Bool("latency.strict", false, "fail TestLatency above 1.5 s in the median or 3 s at most")
)

const (
	// latencySlot is how much traffic one message of TestLatency holds.
	latencySlot = 10 * time.Millisecond
	// latencyUnits is what one request of the hot key costs.
	latencyUnits = 10
	// latencyGiveUp is how long a key stays hot at most.
	latencyGiveUp = time.Minute
)

// TestLatency measures from the start of a key's first second over the limit to the
// message at a receiver. Samples reach Kafka as they happen, amid those of other keys.
// Each hot key has a table of its own, and so an incident.
func TestLatency(t *testing.T) {
	pages := make(chan page, 100)
	receiver := httptest.NewServer(receivePages(pages))
	t.Cleanup(receiver.Close)
	w := newScenario(t, "latency", fmt.Sprintf(`
policy: {for: 0s}
receivers:
  pager: {type: webhook, url: %q, limit: -1}
`, receiver.URL))
	for _, c := range w.collectors {
		c.start(t)
	}
	for _, c := range w.collectors {
		c.ready(t)
	}
	traffic := &liveTraffic{client: w.producer(t, "latency"), random: rand.New(rand.NewPCG(seed, 5))}
	traffic.run(t, 5*time.Second, "") // until the group is settled
	before := w.logPosition(t)
	began := time.Now()
	var trials []latency
	for i := range *latencyTrials {
		trials = append(trials, w.latencyOf(t, traffic, fmt.Sprint("orders-", i), pages))
	}
	t.Logf("%d keys of %d WCU/s, hot from the start of a second until the page; two seconds have to be over the policy's share, the second one is after %s",
		len(trials), *latencyRate, time.Second+time.Duration(800*float64(time.Second)/float64(*latencyRate)).Round(time.Millisecond))
	all := quantilesOf(trials, func(l latency) time.Duration { return l.received })
	t.Logf("%-45s %s", "from the start of the second to the message", all)
	t.Logf("%-45s %s", "of it until what proves it was committed", quantilesOf(trials, func(l latency) time.Duration { return l.committed }))
	t.Logf("%-45s %s", "then until it was judged", quantilesOf(trials, func(l latency) time.Duration { return l.judged - l.committed }))
	t.Logf("%-45s %s", "then until the message was received", quantilesOf(trials, func(l latency) time.Duration { return l.received - l.judged }))
	t.Logf("Postgres in this time: %s", w.written(t, before).over(time.Since(began)))
	if *latencyStrict && (all.median > 1500*time.Millisecond || all.most > 3*time.Second) {
		t.Error("want a median of at most 1.5 s, and 3 s at most")
	}
}

// page is a message that a receiver got.
type page struct {
	id, event, table string
	at               time.Time
	incident         told
	delay, body      string
}

// told is what a message says of its incident.
type told struct {
	ID, Case string
	Revision int
}

// receivePages answers every message of Keyheat, and passes on what it was.
func receivePages(to chan<- page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		at := time.Now()
		var body struct {
			Event, Delay string
			Finding      struct{ Table string }
			Incident     told
		}
		raw, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(raw, &body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		to <- page{r.Header.Get("webhook-id"), body.Event, body.Finding.Table, at, body.Incident, body.Delay, string(raw)}
	}
}

// latency is when what proves that a key is hot was committed, when it was judged and
// when the message was received, from the start of the key's first second.
type latency struct{ committed, judged, received time.Duration }

// latencyOf makes a key of a table hot until the message is received, and then waits
// some seconds, in which only other keys are used.
func (w *scenario) latencyOf(t *testing.T, traffic *liveTraffic, table string, pages <-chan page) latency {
	t.Helper()
	traffic.run(t, time.Duration(1500+traffic.random.IntN(2000))*time.Millisecond, "")
	traffic.runUntil(t, traffic.next.Truncate(time.Second).Add(time.Second), "", nil)
	start := traffic.next
	var got page
	traffic.runUntil(t, start.Add(latencyGiveUp), table, func() bool {
		select {
		case p := <-pages:
			if p.table == table && p.event == "firing" {
				got = p
			}
		default:
		}
		return got.id != ""
	})
	if got.id == "" {
		t.Fatalf("%s: no message in %s", table, latencyGiveUp)
	}
	// A judgement is of the deltas that were committed before it.
	var committed, judged time.Time
	err := w.database.QueryRow(`
		SELECT n.created, (SELECT max(committed) FROM deltas WHERE committed < n.created)
		FROM notifications AS n WHERE id = $1`, got.id).Scan(&judged, &committed)
	must.Succeed(t, err)
	l := latency{committed.Sub(start), judged.Sub(start), got.at.Sub(start)}
	t.Logf("%s: committed %s, judged %s, received %s", table, rounded(l.committed), rounded(l.judged), rounded(l.received))
	return l
}

func rounded(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// producer returns a client that writes to a topic at once.
func (w *scenario) producer(t *testing.T, topic string) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.Addr), kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	must.Succeed(t, err)
	t.Cleanup(client.Close)
	return client
}

// liveTraffic writes samples as they happen, a message each slot.
type liveTraffic struct {
	client *kgo.Client
	random *rand.Rand
	rate   int64     // write units a second of a hot key; latencyRate if 0
	next   time.Time // the slot to write next
	body   []byte
}

// run writes traffic for some time.
func (l *liveTraffic) run(t *testing.T, d time.Duration, hot string) {
	t.Helper()
	l.next = time.Now().Truncate(latencySlot)
	l.runUntil(t, l.next.Add(d), hot, nil)
}

// runUntil writes traffic until a time, or until it is enough. With hot, one key of that
// table is hot; its producers put one key's samples into one partition, as Keyheat's do.
func (l *liveTraffic) runUntil(t *testing.T, end time.Time, hot string, enough func() bool) {
	t.Helper()
	partition := l.random.Int32N(partitions)
	sent, from, rate := int64(0), l.next, cmp.Or(l.rate, *latencyRate)
	for ; l.next.Before(end) && (enough == nil || !enough()); l.next = l.next.Add(latencySlot) {
		over := l.next.Add(latencySlot)
		time.Sleep(time.Until(over))
		l.body = l.body[:0]
		for range 20 {
			l.add("users", fmt.Sprint("user#", l.random.IntN(10_000)), 1)
		}
		l.produce(t, l.random.Int32N(partitions))
		if hot == "" {
			continue
		}
		l.body = l.body[:0]
		for due := int64(over.Sub(from)) * rate / int64(time.Second); sent < due; sent += latencyUnits {
			l.add(hot, hot+"#7", latencyUnits)
		}
		l.produce(t, partition)
	}
}

// add adds a sample to the message.
func (l *liveTraffic) add(table, key string, units sample.Milli) {
	r := sample.Record{
		Time: l.next.UnixMilli(), Table: table, PK: sample.KeyString(key), Op: sample.UpdateItem,
		WCU: units * 1000, Rate: 1, N: 1,
	}
	l.body = append(r.AppendJSON(l.body), '\n')
}

func (l *liveTraffic) produce(t *testing.T, partition int32) {
	if len(l.body) == 0 {
		return
	}
	l.client.Produce(t.Context(), &kgo.Record{Partition: partition, Timestamp: l.next, Value: slices.Clone(l.body)},
		func(_ *kgo.Record, err error) {
			if err != nil && t.Context().Err() == nil {
				t.Error(err)
			}
		})
}

// quantiles are those of some times.
type quantiles struct{ median, high, most time.Duration }

func quantilesOf[T any](trials []T, of func(T) time.Duration) quantiles {
	var all []time.Duration
	for _, l := range trials {
		all = append(all, of(l))
	}
	slices.Sort(all)
	return quantiles{all[len(all)/2], all[len(all)*95/100], all[len(all)-1]}
}

func (q quantiles) String() string {
	return fmt.Sprintf("median %s, 95%% %s, at most %s", rounded(q.median), rounded(q.high), rounded(q.most))
}
